// Compares an answer with the description: its status, headers and body. The test clients call this for every answer,
// so no test can see an answer that the description does not allow.

import type { ApiDescription, Operation, Part, PathItem } from "../../src/description/api-description.ts";
import { mismatches } from "./schema.ts";

export interface SeenAnswer {
  readonly method: string;
  /** The path of the request, without the query. Empty if the request could not be read. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  /** The text of the body. Undefined if the body is not checked, such as a stream or a very large body. */
  readonly body: string | undefined;
}

/** Headers that belong to HTTP, to browsers or to proxies, not to the API. */
const ofEveryAnswer = new Set([
  "access-control-allow-origin",
  "access-control-expose-headers",
  "connection",
  "content-length",
  "content-type",
  "date",
  "traceparent",
  "transfer-encoding",
  "x-accel-buffering",
  "x-content-type-options",
  "x-request-id",
]);

/** What in the answer differs from the description. */
export function differences(description: ApiDescription, answer: SeenAnswer): string[] {
  const { schemas = {} } = description.components;
  const { path, pathItem, operation } = operationOf(description, answer);
  const mediaType = answer.headers.get("content-type")?.split(";")[0] ?? undefined;
  // Preflights of browsers are part of CORS, not of the API.
  if (answer.method === "OPTIONS" && answer.status === 204) return [];
  if (answer.status === 405 && !answer.headers.has("allow")) return ["405 without an Allow header"];
  // The description has the operations of every kind of instance. The instance that answered may offer fewer, so it may
  // answer a described operation with 405, and it may have one list only.
  const hasOneList = /^\/lists(?:\/|$)/i.test(answer.path) && (answer.body?.includes('"RouteNotFound"') ?? false);
  if (!operation || answer.status === 405 || hasOneList) {
    if (pathItem && ![404, 405].includes(answer.status) && !isRefusal(operation, answer))
      return [`${answer.method} ${path} is not described`];
    return mediaType === "application/problem+json" ? bodyDifferences({ $ref: "Problem" }, answer, schemas) : [];
  }
  const response = responseOf(description, operation, answer.status);
  if (!response) return [`${operation.operationId}: status ${answer.status} is not described`];
  const content = response["content"] as Record<string, { schema: Part }> | undefined;
  const found = [
    ...headerDifferences(response["headers"] as Part | undefined, answer.headers),
    ...contentDifferences(content, mediaType, answer, schemas),
  ];
  return found.map((difference) => `${operation.operationId} ${answer.status}: ${difference}`);
}

/** The described response with this status. Most errors are references to shared responses. */
export function responseOf(
  { components }: ApiDescription,
  { responses }: Pick<Operation, "responses">,
  status: number,
): Part | undefined {
  const part = responses[String(status)];
  const name = typeof part?.["$ref"] === "string" ? part["$ref"].replace("#/components/responses/", "") : undefined;
  return name === undefined ? part : components["responses"]?.[name];
}

function operationOf(
  description: ApiDescription,
  answer: SeenAnswer,
): { path: string | undefined; pathItem: PathItem | undefined; operation: Operation | undefined } {
  const path = templateOf(answer);
  const pathItem = path === undefined ? undefined : description.paths[path];
  return { path, pathItem, operation: pathItem?.[answer.method.toLowerCase()] };
}

/**
 * True if a request was refused and its method is not described. The service may have refused the request before it
 * looked at the method.
 */
function isRefusal(operation: Operation | undefined, { status }: SeenAnswer): boolean {
  return operation === undefined && status >= 400;
}

function headerDifferences(described: Part = {}, headers: Headers): string[] {
  const names = new Set(Object.keys(described).map((name) => name.toLowerCase()));
  const unknown = [...headers.keys()].filter((name) => !names.has(name) && !ofEveryAnswer.has(name));
  return unknown
    .filter((name) => name !== "vary" || headers.get(name) !== "Origin")
    .map((name) => `the header ${name} is not described`);
}

function contentDifferences(
  content: Readonly<Record<string, { readonly schema: Part }>> | undefined,
  mediaType: string | undefined,
  answer: SeenAnswer,
  schemas: Part,
): string[] {
  if (!content) return answer.body ? ["a body is not described"] : [];
  if (answer.headers.has("preference-applied")) return answer.body ? ["it has a body"] : [];
  const described = mediaType === undefined ? undefined : content[mediaType];
  if (!described) return [`the media type ${mediaType} is not described`];
  return mediaType === "text/event-stream" ? [] : bodyDifferences(described.schema, answer, schemas);
}

function bodyDifferences(schema: Part, { method, body }: SeenAnswer, schemas: Part): string[] {
  return body === undefined || method === "HEAD" ? [] : mismatches(schema, JSON.parse(body), schemas);
}

/** The path as the description names it. */
function templateOf({ path, headers }: SeenAnswer): string | undefined {
  // The paths of a list are described once, below the address of any list. What is no name of a list is no route.
  const plain = decoded(path)
    .toLowerCase()
    .replace(/\/$/, "")
    .replace(/^\/lists\/(?!api\/)[a-z0-9][a-z0-9._-]{0,63}(?=\/)/, "");
  if (plain === "/api" || plain === "/api/todoitems") return "/api/todoitems";
  if (/^\/api\/todoitems\/[^/]+$/.test(plain)) return "/api/todoitems/{id}";
  if (plain !== "/changes") return plain;
  return headers.get("content-type")?.startsWith("text/event-stream") ? "/changes/events" : "/changes/delta";
}

function decoded(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
