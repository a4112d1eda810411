// The API's description as the reference reads it: the parts of OpenAPI that our descriptions use.

import { createContext } from "preact";
import { useContext } from "preact/hooks";

interface Reference {
  readonly $ref: string;
}

export interface Schema extends Partial<Reference> {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly const?: unknown;
  readonly description?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly oneOf?: readonly Schema[];
}

interface Example {
  readonly summary?: string;
  readonly value: unknown;
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description: string;
  readonly examples?: Readonly<Record<string, Example>>;
}

export interface MediaType {
  readonly schema?: Schema;
  readonly examples?: Readonly<Record<string, Example>>;
}

export interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

interface RequestBody {
  readonly required?: boolean;
  readonly description?: string;
  readonly content: Readonly<Record<string, MediaType>>;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly (Parameter | Reference)[];
  readonly requestBody?: RequestBody | Reference;
  readonly security?: readonly unknown[];
  readonly responses: Readonly<Record<string, Response | Reference>>;
  readonly "x-codeSamples"?: readonly { readonly label: string; readonly source: string }[];
}

export interface ApiDocument {
  readonly info: { readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  readonly "x-problems": Readonly<
    Record<string, { readonly status: number; readonly when: string; readonly detail: string }>
  >;
}

/** An operation with its place in the API. */
export interface PlacedOperation extends Operation {
  readonly path: string;
  readonly method: string;
}

export async function fetchDocument(): Promise<ApiDocument> {
  const response = await fetch("openapi.json");
  if (!response.ok) throw new Error(`the description was answered with status ${response.status}`);
  return (await response.json()) as ApiDocument;
}

export function operationsOf({ paths }: ApiDocument): PlacedOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, path, method: method.toUpperCase() })),
  );
}

export const DocumentContext = createContext<ApiDocument | undefined>(undefined);

export function useDocument(): ApiDocument {
  const document = useContext(DocumentContext);
  if (!document) throw new Error("the view is outside of the document");
  return document;
}

/** If `part` is a reference, returns the part of the document that it leads to. Otherwise returns `part` itself. */
export function resolve<Part extends object>(document: ApiDocument, part: Part | Reference): Part {
  if (!("$ref" in part)) return part;
  const names = part.$ref.slice("#/".length).split("/");
  return names.reduce<unknown>((found, name) => (found as Record<string, unknown>)[name], document) as Part;
}

/** The ID of the item in all examples. */
export function exampleIdOf(document: ApiDocument): string {
  return exampleOf(resolve<Parameter>(document, { $ref: "#/components/parameters/Id" }));
}

export function exampleOf({ examples = {} }: Parameter): string {
  return String(Object.values(examples)[0]?.value ?? "");
}

/** The name of the schema that a reference leads to. */
export function schemaName({ $ref }: Schema): string | undefined {
  return $ref?.slice($ref.lastIndexOf("/") + 1);
}
