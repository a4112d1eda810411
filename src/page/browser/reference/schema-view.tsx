// The schemas: what each kind of document contains.

import { type Schema, schemaName, useDocument } from "./api-document.ts";
import { Inline, Prose, schemaAnchor } from "./prose.tsx";

export function Schemas() {
  return Object.entries(useDocument().components.schemas).map(([name, schema]) => (
    <section key={name} class="schema">
      <h3 id={schemaAnchor(name)}>{name}</h3>
      {schema.description !== undefined && <Prose text={schema.description} />}
      {schema.properties ? (
        <table>
          <tbody>
            {Object.entries(schema.properties).map(([field, part]) => (
              <tr key={field}>
                <th scope="row">
                  <code>{field}</code>
                  {schema.required?.includes(field) && <small> required</small>}
                </th>
                <td>
                  <p class="hint">
                    <SchemaType schema={part} />
                  </p>
                  {part.description !== undefined && <Inline text={part.description} />}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      ) : (
        <p class="hint">
          <SchemaType schema={schema} />
        </p>
      )}
    </section>
  ));
}

export function SchemaType({ schema }: { schema: Schema }) {
  const name = schemaName(schema);
  if (name !== undefined) return <a href={`#${schemaAnchor(name)}`}>{name}</a>;
  if (schema.const !== undefined) return <code>{JSON.stringify(schema.const)}</code>;
  if (schema.oneOf)
    return schema.oneOf.map((option, index) => (
      <>
        {index > 0 && " or "}
        <SchemaType schema={option} />
      </>
    ));
  if (schema.items)
    return (
      <>
        array of <SchemaType schema={schema.items} />
      </>
    );
  const types = [schema.type ?? "any"].flat().join(" or ");
  return <>{schema.format === undefined ? types : `${types} (${schema.format})`}</>;
}
