// The schemas: what each kind of document contains, and the content of one request or response.

import { Copyable } from "../copyable.tsx";
import { type Content, exampleText, type Schema } from "./api-document.ts";
import { Inline, Name, Prose, useDocument } from "./prose.tsx";

export function Schemas() {
  return Object.entries(useDocument().components.schemas).map(([name, schema]) => (
    <section key={name} class="schema">
      <h3 id={`schema-${name}`}>{name}</h3>
      <Prose text={schema.description ?? ""} />
      {schema.properties ? (
        <table>
          <tbody>
            {Object.entries(schema.properties).map(([field, part]) => (
              <tr key={field}>
                <th scope="row">
                  <code>{field}</code>
                  <small>
                    <SchemaType schema={part} />
                    {schema.required?.includes(field) && ", required"}
                  </small>
                </th>
                <td>
                  <Inline text={part.description ?? ""} />
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

/** The media type, the schema and the examples of a body. */
export function ContentView({ content }: { content: Content }) {
  return Object.entries(content).map(([mediaType, { schema, examples = {} }]) => (
    <div key={mediaType}>
      <p class="hint">
        <code>{mediaType}</code> {schema && <SchemaType schema={schema} />}
      </p>
      {Object.entries(examples).map(([name, { summary = "Example", value }]) => (
        <Copyable key={name} label={summary} text={exampleText(value)} />
      ))}
    </div>
  ));
}

function SchemaType({ schema }: { schema: Schema }) {
  const { $ref, oneOf, items, type = "any", format } = schema;
  if ($ref !== undefined) return <Name name={$ref.slice($ref.lastIndexOf("/") + 1)} />;
  if (oneOf)
    return oneOf.map((option, index) => [
      index > 0 && " or ",
      <SchemaType key={option.$ref ?? index} schema={option} />,
    ]);
  if (items) return ["array of ", <SchemaType key="items" schema={items} />];
  return <>{[[type].flat().join(" or "), format && ` (${format})`]}</>;
}
