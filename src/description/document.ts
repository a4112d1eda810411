// The types of an API description, as far as this folder uses them, and functions that make references to its shared
// parts.

/** Any part of a description that needs no type of its own. */
export type Part = { readonly [name: string]: unknown };

export interface Operation extends Part {
  readonly operationId: string;
  readonly responses: { readonly [status: string]: Part };
}

export type PathItem = { readonly [method: string]: Operation };

export interface ApiDescription extends Part {
  readonly openapi: string;
  readonly paths: { readonly [path: string]: PathItem };
  readonly components: { readonly schemas: { readonly [name: string]: Part }; readonly [kind: string]: Part };
}

export function schemaRef(name: string): Part {
  return { $ref: `#/components/schemas/${name}` };
}

export function headerRefs(...names: readonly string[]): Part {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

export function parameterRefs(...names: readonly string[]): readonly Part[] {
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}
