// Explains every problem code, and says which problems an operation can answer with.

import { type ProblemCode, problemStatuses, problemTitle, problemType } from "../http/problem.ts";
import { nestingDepthMax } from "../items/todo-item.ts";
import type { DescribedInstance } from "./described-instance.ts";
import { headerRefs, type Part, schemaRef } from "./document.ts";
import { exampleId, exampleItem, spelled } from "./examples.ts";

interface Explanation {
  /** When a client gets this problem, in a sentence. */
  readonly when: string;
  /** An example of `detail` as the service writes it. It may depend on the instance's limits, and on the operation. */
  readonly detail: string | ((instance: DescribedInstance, operation: ProblemContext) => string);
}

/**
 * Facts about an operation. They decide which problems its description lists, with which headers and which examples.
 */
interface ProblemContext {
  readonly needsCredentials: boolean;
  readonly writes?: boolean;
  readonly isList?: boolean;
  readonly isDelete?: boolean;
}

const explanations: Readonly<Record<ProblemCode, Explanation>> = {
  BodyTooLarge: {
    when: "The body is larger than the instance accepts.",
    detail: ({ bodyBytesMax }) => `The body is larger than ${bodyBytesMax} bytes, the limit of this instance.`,
  },
  CredentialsRequired: {
    when: "The operation needs a user name and password, and none were sent or they are wrong.",
    detail: "This needs a user name and a password, sent as HTTP Basic credentials. None were sent, or they are wrong.",
  },
  FieldRequired: {
    when: "The item lacks a field that this instance requires, or the field is blank.",
    detail: ({ requiredFields: [field = "Name"] }) =>
      `The item lacks "${field}": send this field with a value that is not blank.`,
  },
  HeadersTooLarge: {
    when: "The request line and headers together are larger than the instance accepts.",
    detail: ({ headerBytesMax }) =>
      `The request's head is larger than ${headerBytesMax} bytes, the limit of this instance.`,
  },
  HostNotAllowed: {
    when: "The `Host` header has a name that this instance does not answer to. This protects a service on your own machine from hostile web pages.",
    detail:
      "This instance does not answer to the name app.example. Use localhost or an IP address in the URL, or start the service with --allow-host app.example.",
  },
  HttpVersionNotSupported: {
    when: "The request is neither HTTP/1.0 nor HTTP/1.1.",
    detail: "The HTTP version must be HTTP/1.1 or HTTP/1.0.",
  },
  InternalError: {
    when: "The service has a defect. Its log says more.",
    detail: "The service failed because of a defect. Its log has the details.",
  },
  InvalidJson: {
    when: "The body is not one JSON object in UTF-8.",
    detail: "The body is not valid UTF-8: send JSON encoded in UTF-8.",
  },
  InvalidRequest: {
    when: "The request is not valid HTTP.",
    detail: "A header field must be a name, a colon and a value.",
  },
  MethodNotAllowed: {
    when: "The path does not offer this method. The `Allow` header lists those it offers.",
    detail: "PATCH is not offered here. Offered: GET, POST, PUT.",
  },
  NestingTooDeep: {
    when: "Objects and arrays in the item are nested too deeply.",
    detail: `The document nests objects and arrays deeper than ${nestingDepthMax} levels, the limit of this instance.`,
  },
  Overloaded: {
    when: "The instance has as many connections or unfinished bodies as it accepts.",
    detail: "Too many connections are open. Send the request again shortly.",
  },
  PreconditionFailed: {
    when: "The condition in `If-Match` or `If-None-Match` does not hold. Usually somebody else has changed the item or list, or the ETag is that of something else.",
    detail: (_instance, { isList }) =>
      isList
        ? "The list is not in the state that If-Match names. To read the list as it is now, leave out If-Match."
        : "The item has changed: it is not in the state that If-Match names. Its current state is in `current`. Merge your change into it, and send the request again with the ETag of this answer in If-Match.",
  },
  RecordNotFound: {
    when: "There is no item with this ID.",
    detail: `There is no item with the ID ${exampleId}. GET /api/todoitems/ lists all items.`,
  },
  RequestTimeout: {
    when: "The request did not arrive in time.",
    detail: "The request did not arrive within 30 s, so nothing was changed. Send the request again.",
  },
  RouteNotFound: {
    when: "The service has nothing at this path.",
    detail: "There is nothing at this address. The to-do items are at /api/todoitems/.",
  },
  StoreFull: {
    when: "The item would make the store larger than its limit.",
    detail:
      "The store has reached its size limit, so the change was not saved. Delete items, or ask the operator to raise --store-limit.",
  },
  StoreUnavailable: {
    when: "The store cannot be read or written at the moment. Nothing was changed, unless `detail` says that this is not known.",
    detail: (_instance, { writes }) =>
      writes
        ? "The store could not save the change, so nothing was changed. Send the request again shortly."
        : "The store cannot be read at the moment. Send the request again shortly.",
  },
  TargetTooLong: {
    when: "The path and query are longer than the instance accepts.",
    detail: ({ headerBytesMax }) =>
      `The request's target is longer than ${headerBytesMax} bytes, the limit of this instance.`,
  },
  TodoItemIDAmbiguous: {
    when: "The item has its ID twice, in two spellings such as `ID` and `id`.",
    detail: 'The item names its ID twice, as "ID" and "id": send one of them only.',
  },
  TodoItemIDInUse: {
    when: "An item with this ID exists already.",
    detail: `An item with ID ${exampleId} already exists. Update it with PUT, or create yours with another ID.`,
  },
  TodoItemIDInvalid: {
    when: "The ID is not a UUID.",
    detail: ({ fieldNames }, { writes }) =>
      writes
        ? `The field "${spelled("ID", fieldNames)}" is not a UUID: send a string of 36 hexadecimal digits and hyphens, such as "${exampleId}".`
        : `The ID in the path is not a UUID: send 36 characters of hexadecimal digits and hyphens, such as ${exampleId}.`,
  },
  TodoItemIDMismatch: {
    when: "The ID in the body is not the ID in the path.",
    detail: `The body's ID 11111111-1111-4111-8111-111111111111 is not the path's ID ${exampleId}: send the same ID in both, or leave it out of the body.`,
  },
  TodoItemIDRequired: {
    when: "An update has no ID, neither in the path nor in the body.",
    detail: ({ fieldNames }) =>
      `An update needs the item's ID: send it in the body's field "${spelled("ID", fieldNames)}", or in the path.`,
  },
  TooManyRequests: {
    when: "This address has sent too many requests or wrong passwords lately, or has too many feeds open. Wait as long as `Retry-After` says.",
    detail: "Too many requests came from this address. Send the next one in 1 s.",
  },
  UnsupportedMediaType: {
    when: "The body is not sent as `application/json` in UTF-8, or it is compressed.",
    detail: (_instance, { isDelete }) =>
      isDelete
        ? "The body has Content-Encoding br: send it uncompressed."
        : "The request has Content-Type text/plain: send the item as application/json, encoded in UTF-8.",
  },
};

/** Every operation can answer with these problems. */
const anywhere: readonly ProblemCode[] = [
  "InvalidRequest",
  "RequestTimeout",
  "BodyTooLarge",
  "TargetTooLong",
  "HeadersTooLarge",
  "InternalError",
  "Overloaded",
  "HttpVersionNotSupported",
];

const headersOfStatus: Readonly<Record<number, readonly string[]>> = {
  401: ["WWW-Authenticate"],
  412: ["ETag"],
  429: ["Retry-After"],
  503: ["Retry-After"],
};

/** Every problem code with its status, an explanation, and an example of `detail`. /docs shows this table. */
export function problemTable(instance: DescribedInstance): Part {
  const context = { needsCredentials: true, writes: true };
  return Object.fromEntries(
    Object.keys(problemStatuses)
      .filter(isProblemCode)
      .sort()
      .map((code) => [
        code,
        {
          status: problemStatuses[code],
          when: explanations[code].when,
          detail: detailOf(instance, code, context),
        },
      ]),
  );
}

function isProblemCode(code: string): code is ProblemCode {
  return Object.hasOwn(problemStatuses, code);
}

/** The responses for the problems of one operation, by status. Each response has one example for each problem code. */
export function problemResponses(
  instance: DescribedInstance,
  codes: readonly ProblemCode[],
  context: ProblemContext,
): Record<string, Part> {
  const { needsCredentials } = context;
  const all = new Set<ProblemCode>([...anywhere, ...codes]);
  if (needsCredentials) all.add("CredentialsRequired");
  if (needsCredentials || instance.rateLimitPerSecond !== undefined) all.add("TooManyRequests");
  if (instance.checksHosts) all.add("HostNotAllowed");
  if (instance.requiredFields.length === 0) all.delete("FieldRequired");
  if (instance.storeBytesMax === undefined) all.delete("StoreFull");
  const byStatus = Map.groupBy([...all].sort(), (code) => problemStatuses[code]);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [String(status), problemResponse(instance, status, codes, context)]),
  );
}

function problemResponse(
  instance: DescribedInstance,
  status: number,
  codes: readonly ProblemCode[],
  context: ProblemContext,
): Part {
  const hasCurrent = codes.includes("PreconditionFailed");
  const compressed = hasCurrent ? ["Vary", "Content-Encoding"] : [];
  const id = status >= 500 ? ["X-Request-Id"] : [];
  const headers = [...(headersOfStatus[status] ?? []), ...compressed, ...id];
  return {
    description: codes.map((code) => `\`${code}\`: ${explanations[code].when}`).join("\n\n"),
    ...(headers.length === 0 ? {} : { headers: headerRefs(...headers) }),
    content: {
      "application/problem+json": {
        schema: schemaRef(hasCurrent ? "PreconditionFailedProblem" : "Problem"),
        examples: Object.fromEntries(
          codes.map((code) => [
            code,
            { summary: explanations[code].when, value: exampleProblem(instance, code, context) },
          ]),
        ),
      },
    },
  };
}

function exampleProblem(instance: DescribedInstance, code: ProblemCode, context: ProblemContext): unknown {
  const status = problemStatuses[code];
  const detail = detailOf(instance, code, context);
  const document = { type: problemType(code), title: problemTitle(status), status, detail, code };
  const hasCurrent = code === "PreconditionFailed" && !context.isList;
  return hasCurrent ? { ...document, current: exampleItem(instance.fieldNames, { Done: true }) } : document;
}

function detailOf(instance: DescribedInstance, code: ProblemCode, context: ProblemContext): string {
  const { detail } = explanations[code];
  return typeof detail === "string" ? detail : detail(instance, context);
}
