// The API's description as the reference reads it: the parts of OpenAPI that openapi.yaml uses. References to shared
// parts are resolved, except those to schemas, which have a place of their own on the page.

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly oneOf?: readonly Schema[];
}

type Examples = Readonly<Record<string, { readonly summary?: string; readonly value: unknown }>>;

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description: string;
  readonly examples?: Examples;
}

export type Content = Readonly<Record<string, { readonly schema?: Schema; readonly examples?: Examples }>>;

export interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Content;
}

export interface ListedOperation {
  readonly path: string;
  readonly method: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly security: readonly object[];
  readonly responses: Readonly<Record<string, Response>>;
  readonly "x-codeSamples": readonly { readonly label: string; readonly source: string }[];
}

export interface ApiDocument {
  readonly info: { readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly operations: readonly ListedOperation[];
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly examples: Readonly<
      Record<string, { readonly summary: string; readonly value: { readonly status: number; readonly detail: string } }>
    >;
  };
}

export async function fetchDocument(): Promise<ApiDocument> {
  const response = await fetch("openapi.json");
  if (!response.ok) throw new Error(`the description returned status ${response.status}`);
  const source = await response.json();
  const { paths, ...document } = resolved(source, source) as ApiDocument & {
    readonly paths: Readonly<Record<string, Readonly<Record<string, ListedOperation>>>>;
  };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, path, method: method.toUpperCase() })),
  );
  return { ...document, operations };
}

/** The part with the parts that it refers to in it. */
function resolved(part: unknown, source: unknown): unknown {
  if (Array.isArray(part)) return part.map((member) => resolved(member, source));
  if (typeof part !== "object" || part === null) return part;
  if ("$ref" in part && !String(part.$ref).includes("/schemas/")) {
    const names = String(part.$ref).slice("#/".length).split("/");
    const found = names.reduce<unknown>((outer, name) => (outer as Record<string, unknown>)[name], source);
    return resolved(found, source);
  }
  return Object.fromEntries(Object.entries(part).map(([name, member]) => [name, resolved(member, source)]));
}

/**
 * True for an error that any request may meet. Liveness does nothing but respond, so its errors are those of every
 * operation.
 */
export function isRare({ operations }: ApiDocument, status: string, { description }: Response): boolean {
  const live = operations.find(({ operationId }) => operationId === "isLive");
  return Number(status) >= 500 || (Number(status) >= 400 && live?.responses[status]?.description === description);
}

/** An example as a reader sees it. */
export function exampleText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value, undefined, 2);
}
