// The same description in OpenAPI 3.0.3, for code generators that cannot read 3.1. The JSON Schema parts differ: 3.0
// has `nullable` instead of the type null, and `example` instead of `examples` in a schema. In 3.0, the body of a
// DELETE has no meaning, so it is left out.

import type { ApiDescription, Part } from "./document.ts";

export function asOpenApi30(description: ApiDescription): ApiDescription {
  const { info, ...rest } = description as ApiDescription & { readonly info: Part };
  const { summary: _summary, license: _license, ...oldInfo } = info;
  const { schemas, ...components } = rest.components;
  return {
    ...(convert(rest, schemas) as ApiDescription),
    openapi: "3.0.3",
    info: { ...oldInfo, license: { name: "MIT", url: "https://opensource.org/license/mit" } },
    components: {
      ...(convert(components, schemas) as Part),
      schemas: Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, schema30(schema, schemas)])),
    },
  };
}

type Schemas = ApiDescription["components"]["schemas"];

/** Converts every schema inside a part of the description. */
function convert(part: unknown, schemas: Schemas): unknown {
  if (Array.isArray(part)) return part.map((member) => convert(member, schemas));
  if (!isPart(part)) return part;
  return Object.fromEntries(Object.entries(part).map(([name, member]) => [name, convertMember(name, member, schemas)]));
}

function convertMember(name: string, member: unknown, schemas: Schemas): unknown {
  if (name === "schema" && isPart(member)) return schema30(member, schemas);
  if (name === "examples" || name === "example") return member;
  if (name === "delete" && isPart(member)) return convert({ ...member, requestBody: undefined }, schemas);
  return convert(member, schemas);
}

function schema30(schema: Part, schemas: Schemas): Part {
  const { examples, const: constant, oneOf, type, properties, items, $ref, ...rest } = schema;
  // In 3.0, a reference must have nothing beside it. So a reference with a description is put into `allOf`.
  const hasMore = Object.keys(rest).length > 0;
  return {
    ...($ref === undefined ? {} : hasMore ? { allOf: [{ $ref }] } : { $ref }),
    ...(Array.isArray(oneOf) ? orNull(oneOf, schemas) : {}),
    ...(Array.isArray(type) ? { type: type[0], nullable: true } : type === undefined ? {} : { type }),
    ...rest,
    ...(constant === undefined ? {} : { enum: [constant] }),
    ...(Array.isArray(examples) ? { example: examples[0] } : {}),
    ...(isPart(items) ? { items: schema30(items, schemas) } : {}),
    ...(isPart(properties)
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, member]) => [
              name,
              isPart(member) ? schema30(member, schemas) : member,
            ]),
          ),
        }
      : {}),
  };
}

/**
 * Converts a schema that allows a reference or null. `nullable` has no effect without a type, so the type is added. The
 * format is added too, because code generators would otherwise lose it.
 */
function orNull(options: readonly unknown[], schemas: Schemas): Part {
  const option = options.filter(isPart).find(({ $ref }) => $ref !== undefined);
  const name = String(option?.["$ref"]).split("/").at(-1) ?? "";
  const { type, format } = schemas[name] ?? {};
  return { type, ...(format === undefined ? {} : { format }), allOf: [option], nullable: true };
}

function isPart(value: unknown): value is Part {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
