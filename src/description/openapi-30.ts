// The same description in OpenAPI 3.0.3, for code generators that cannot read 3.1. The JSON Schema parts differ: 3.0 has
// `nullable` instead of the type null, and `example` instead of `examples` in a schema. And in 3.0 the body of a DELETE
// has no meaning, so it is left out.

import type { ApiDescription, Part } from "./document.ts";

export function asOpenApi30(description: ApiDescription): ApiDescription {
  const { info, ...rest } = description as ApiDescription & { readonly info: Part };
  const { summary: _summary, license: _license, ...oldInfo } = info;
  const { schemas, ...components } = rest.components;
  return {
    ...(convert(rest) as ApiDescription),
    openapi: "3.0.3",
    info: { ...oldInfo, license: { name: "MIT" } },
    components: {
      ...(convert(components) as Part),
      schemas: Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, schema30(schema)])),
    },
  };
}

/** Converts every schema inside a part of the description. */
function convert(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(convert);
  if (!isPart(part)) return part;
  return Object.fromEntries(Object.entries(part).map(([name, member]) => [name, convertMember(name, member)]));
}

function convertMember(name: string, member: unknown): unknown {
  if (name === "schema" && isPart(member)) return schema30(member);
  if (name === "examples" || name === "example") return member;
  if (name === "delete" && isPart(member)) return convert({ ...member, requestBody: undefined });
  return convert(member);
}

function schema30(schema: Part): Part {
  const { examples, const: constant, oneOf, type, properties, items, $ref, ...rest } = schema;
  // In 3.0 nothing may stand beside a reference, so a description beside one needs `allOf`.
  const hasMore = Object.keys(rest).length > 0;
  const nullOption = Array.isArray(oneOf) && oneOf.find((option) => isPart(option) && option["$ref"] !== undefined);
  return {
    ...($ref === undefined ? {} : hasMore ? { allOf: [{ $ref }] } : { $ref }),
    ...(nullOption ? { allOf: [nullOption], nullable: true } : {}),
    ...(Array.isArray(type) ? { type: type[0], nullable: true } : type === undefined ? {} : { type }),
    ...rest,
    ...(constant === undefined ? {} : { enum: [constant] }),
    ...(Array.isArray(examples) ? { example: examples[0] } : {}),
    ...(isPart(items) ? { items: schema30(items) } : {}),
    ...(isPart(properties)
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, member]) => [name, isPart(member) ? schema30(member) : member]),
          ),
        }
      : {}),
  };
}

function isPart(value: unknown): value is Part {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
