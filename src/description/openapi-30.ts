// The same description in OpenAPI 3.0.3, for code generators that cannot read 3.1. The JSON Schema parts differ: 3.0
// has `nullable` instead of the type null, and `example` instead of `examples` in a schema. In 3.0, the body of a
// DELETE has no meaning, so it is left out.

import type { ApiDescription, Part } from "./api-description.ts";

export function asOpenApi30(description: ApiDescription): ApiDescription {
  const { schemas = {} } = description.components;
  const license = { name: "MIT", url: "https://opensource.org/license/mit" };
  return JSON.parse(JSON.stringify(description), (name, value) => {
    if (name === "openapi") return "3.0.3";
    if (name === "info") return { ...value, summary: undefined, license };
    if (name === "delete") return { ...value, requestBody: undefined };
    return isPart(value) ? schema30(value, schemas) : value;
  });
}

/** Converts a schema. Other parts of a description have none of its keywords, and stay as they are. */
function schema30(part: Part, schemas: { readonly [name: string]: Part }): Part {
  const { type, examples, oneOf, $ref, ...rest } = part;
  const isReference = typeof $ref === "string";
  return {
    // In 3.0, a reference must have nothing beside it. So a reference with a description is put into `allOf`.
    ...(isReference && Object.keys(rest).length > 0 ? { allOf: [{ $ref }] } : isReference ? { $ref } : {}),
    ...(Array.isArray(oneOf) ? orNull(oneOf, schemas) : {}),
    ...(Array.isArray(type) ? { type: type[0], nullable: true } : type === undefined ? {} : { type }),
    ...rest,
    ...(Array.isArray(examples) ? { example: examples[0] } : examples === undefined ? {} : { examples }),
  };
}

/**
 * Converts a schema that allows a reference or null. `nullable` has no effect without a type, so the type is added. The
 * format is added too, because code generators would otherwise lose it.
 */
function orNull(options: readonly unknown[], schemas: { readonly [name: string]: Part }): Part {
  const option = options.filter(isPart).find(({ $ref }) => $ref !== undefined);
  const name = String(option?.["$ref"]).split("/").at(-1) ?? "";
  const { type, format } = schemas[name] ?? {};
  return { type, ...(format === undefined ? {} : { format }), allOf: [option], nullable: true };
}

function isPart(value: unknown): value is Part {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
