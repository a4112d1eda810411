// What clients rely on, taken from the API description as short sentences. A promise that disappears, or a demand that
// is new, breaks existing clients.

import type { ApiDescription, Operation, Part } from "../../src/description/api-description.ts";
import { responseOf } from "./described-answers.ts";

/** What the API promises, as short sentences. A new version may add promises, but must not remove any. */
export function promisesOf(description: ApiDescription): string[] {
  const ofOperations = operationsOf(description).flatMap(([method, path, operation]) => {
    const { operationId: name, responses } = operation;
    return [
      `${name} is ${method.toUpperCase()} ${path}`,
      ...parametersOf(description, operation).map(
        (parameter) => `${name} accepts ${parameter["in"]} ${parameter["name"]}`,
      ),
      ...contentOf(operation["requestBody"]).map((content) => `${name} accepts ${content}`),
      ...Object.keys(responses).flatMap((status) =>
        responsePromises(`${name} answers ${status}`, responseOf(description, operation, Number(status))),
      ),
    ];
  });
  const ofSchemas = Object.entries(description.components["schemas"] ?? {}).flatMap(([name, schema]) => [
    ...requiredOf(schema).map((field) => `${name} always has ${field}`),
    ...Object.entries((schema["properties"] ?? {}) as Part).flatMap(([field, part]) => [
      `${name}.${field} is ${typeOf(part)}`,
      ...valuesOf(part).map((value) => `${name}.${field} can be ${value}`),
    ]),
  ]);
  return [...ofOperations, ...ofSchemas].sort();
}

/** What a request must have, as short sentences. A new version may remove demands, but must not add any. */
export function demandsOf(description: ApiDescription): string[] {
  const ofOperations = operationsOf(description).flatMap(([, , operation]) => {
    const name = operation.operationId;
    const body = operation["requestBody"] as Part | undefined;
    const needed = parametersOf(description, operation).filter((parameter) => parameter["required"] === true);
    return [
      ...needed.map((parameter) => `${name} needs ${parameter["in"]} ${parameter["name"]}`),
      ...(body?.["required"] === true ? [`${name} needs a body`] : []),
      ...(operation.security?.length ? [`${name} needs credentials`] : []),
    ];
  });
  const sent = ["NewTodoItem", "TodoItem"].flatMap((name) =>
    requiredOf(description.components["schemas"]?.[name]).map((field) => `${name} needs ${field}`),
  );
  return [...ofOperations, ...sent].sort();
}

function operationsOf({ paths }: ApiDescription): [method: string, path: string, operation: Operation][] {
  return Object.entries(paths).flatMap(([path, pathItem]) =>
    Object.entries(pathItem).map(([method, operation]): [string, string, Operation] => [method, path, operation]),
  );
}

function parametersOf({ components }: ApiDescription, operation: Operation): Part[] {
  const refs = (operation["parameters"] ?? []) as { readonly $ref: string }[];
  return refs.map(({ $ref }) => components["parameters"]?.[nameOf($ref)] as Part);
}

function responsePromises(beginning: string, response: Part = {}): string[] {
  const headers = Object.keys((response["headers"] ?? {}) as Part);
  return [beginning, ...[...contentOf(response), ...headers].map((what) => `${beginning} with ${what}`)];
}

function contentOf(part: unknown): string[] {
  const content = ((part as Part | undefined)?.["content"] ?? {}) as Readonly<
    Record<string, { readonly schema: Part }>
  >;
  return Object.entries(content).map(([mediaType, { schema }]) => `${mediaType} ${typeOf(schema)}`);
}

function requiredOf(schema: Part | undefined): readonly string[] {
  return (schema?.["required"] ?? []) as readonly string[];
}

function valuesOf(part: unknown): readonly unknown[] {
  return ((part as Part)["enum"] ?? []) as readonly unknown[];
}

function typeOf(part: unknown): string {
  const { $ref, oneOf, type, items, format } = part as Part;
  if (typeof $ref === "string") return nameOf($ref);
  if (Array.isArray(oneOf)) return oneOf.map(typeOf).join(" or ");
  if (items !== undefined) return `array of ${typeOf(items)}`;
  return [Array.isArray(type) ? type.join(" or ") : type, format].filter((word) => word !== undefined).join(" ");
}

function nameOf(ref: string): string {
  return ref.split("/").at(-1) ?? "";
}
