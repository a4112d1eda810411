// Every kind of problem, in one table. The answers, the API's description and docs/reference.md are made from it, or
// compared with it.

import type { ItemErrorCode } from "../items/item-error.ts";
import { nestingDepthMax } from "../items/todo-item.ts";
import type { RefusalCode } from "../wire/refusal.ts";

export type ProblemCode =
  | ItemErrorCode
  | RefusalCode
  | "CredentialsRequired"
  | "CrossSiteRefused"
  | "HostNotAllowed"
  | "InternalError"
  | "MethodNotAllowed"
  | "PreconditionFailed"
  | "RecordNotFound"
  | "RouteNotFound"
  | "StoreFull"
  | "StoreUnavailable"
  | "TodoItemIDInUse"
  | "TooManyRequests"
  | "UnsupportedMediaType";

/** What the text of a problem may mention. The description fills in an example of each. */
export interface ProblemFacts {
  readonly id: string;
  readonly host: string;
  readonly method: string;
  readonly allowed: readonly string[];
  readonly waitSeconds: number;
  readonly bodyBytesMax: number;
  readonly headerBytesMax: number;
  /** A field that the instance requires. */
  readonly requiredField: string;
  /** How the instance spells the name of the field `ID`. */
  readonly idField: string;
  /** True if the operation changes an item. */
  readonly writes: boolean;
  /** True if the operation is about the list, not about one item. */
  readonly isList: boolean;
  readonly isDelete: boolean;
}

interface ProblemKind {
  readonly status: number;
  /** The phrase of the status. The specifics are in the code and in `detail`. */
  readonly title: string;
  /** When a client gets this problem, in a sentence. */
  readonly when: string;
  /**
   * What was wrong, and what to do instead. Errors of `items/` and `wire/` have a text of their own, and so have a few
   * problems of `http/`. Here is an example of it then; a test compares it with what the service writes.
   */
  readonly detail: string | ((facts: ProblemFacts) => string);
}

const badRequest = { status: 400, title: "Bad Request" } as const;
const notFound = { status: 404, title: "Not Found" } as const;
const unavailable = { status: 503, title: "Service Unavailable" } as const;

export const problems = {
  BodyTooLarge: {
    status: 413,
    title: "Content Too Large",
    when: "The body is larger than the instance accepts.",
    detail: ({ bodyBytesMax }) => `The body is larger than ${bodyBytesMax} bytes, the limit of this instance.`,
  },
  CredentialsRequired: {
    status: 401,
    title: "Unauthorized",
    when: "The operation needs a user name and password, and none were sent or they are wrong.",
    detail: "This needs a user name and a password, sent as HTTP Basic credentials. None were sent, or they are wrong.",
  },
  CrossSiteRefused: {
    status: 403,
    title: "Forbidden",
    when: "A page of another site asked for the change feed, and its origin has no access.",
    detail:
      "A page of another site cannot open the change feed. To give it access, start the service with --cors and the origin of the page.",
  },
  FieldRequired: {
    ...badRequest,
    when: "The item lacks a field that this instance requires, or the field is blank.",
    detail: ({ requiredField }) => `The item lacks "${requiredField}": send this field with a value that is not blank.`,
  },
  HeadersTooLarge: {
    status: 431,
    title: "Request Header Fields Too Large",
    when: "The request line and headers together are larger than the instance accepts.",
    detail: ({ headerBytesMax }) =>
      `The request's head is larger than ${headerBytesMax} bytes, the limit of this instance.`,
  },
  HostNotAllowed: {
    status: 421,
    title: "Misdirected Request",
    when: "The `Host` header has a name that this instance does not answer to. This protects the service from hostile web pages.",
    detail: ({ host }: Pick<ProblemFacts, "host">) =>
      `This instance does not answer to the name ${host}. Use localhost or an IP address in the URL, or start the service with --allow-host ${host}.`,
  },
  HttpVersionNotSupported: {
    status: 505,
    title: "HTTP Version Not Supported",
    when: "The request is neither HTTP/1.0 nor HTTP/1.1.",
    detail: "The HTTP version must be HTTP/1.1 or HTTP/1.0.",
  },
  InternalError: {
    status: 500,
    title: "Internal Server Error",
    when: "The service has a defect. Its log says more.",
    detail: "The service failed because of a defect. Its log has the details.",
  },
  InvalidJson: {
    ...badRequest,
    when: "The body is not one JSON object in UTF-8.",
    detail: "The body is not valid UTF-8: send JSON encoded in UTF-8.",
  },
  InvalidRequest: {
    ...badRequest,
    when: "The request is not valid HTTP, or its `If-Match` is empty.",
    detail: "A header field must be a name, a colon and a value.",
  },
  MethodNotAllowed: {
    status: 405,
    title: "Method Not Allowed",
    when: "The path does not offer this method. The `Allow` header lists those it offers.",
    detail: ({ method, allowed }: Pick<ProblemFacts, "method" | "allowed">) =>
      `${method} is not offered here. Offered: ${allowed.join(", ")}.${method === "PATCH" ? insteadOfPatch(allowed) : ""}`,
  },
  NestingTooDeep: {
    ...badRequest,
    when: "Objects and arrays in the item are nested too deeply.",
    detail: `The document nests objects and arrays deeper than ${nestingDepthMax} levels, the limit of this instance.`,
  },
  Overloaded: {
    ...unavailable,
    when: "The instance has as many connections or unfinished bodies as it accepts.",
    detail: "Too many connections are open. Send the request again shortly.",
  },
  PreconditionFailed: {
    status: 412,
    title: "Precondition Failed",
    when: "The condition in `If-Match` or `If-None-Match` does not hold. Usually somebody else has changed the item or list, or the ETag is that of something else.",
    detail: ({ isList }: Pick<ProblemFacts, "isList">) =>
      isList
        ? "The list is not in the state that If-Match names. To read the list as it is now, leave out If-Match."
        : "The item has changed: it is not in the state that If-Match names. Its current state is in `current`. Merge your change into it, and send the request again with the ETag of this answer in If-Match.",
  },
  RecordNotFound: {
    ...notFound,
    when: "There is no item with this ID.",
    detail: ({ id }: Pick<ProblemFacts, "id">) =>
      `There is no item with the ID ${id}. GET /api/todoitems/ lists all items.`,
  },
  RequestTimeout: {
    status: 408,
    title: "Request Timeout",
    when: "The request did not arrive in time.",
    detail: "The request did not arrive within 30 s, so nothing was changed. Send the request again.",
  },
  RouteNotFound: {
    ...notFound,
    when: "The service has nothing at this path.",
    detail: "There is nothing at this address. The to-do items are at /api/todoitems/.",
  },
  StoreFull: {
    status: 507,
    title: "Insufficient Storage",
    when: "The item would make the store larger than its limit.",
    detail:
      "The store has reached its size limit, so the change was not saved. Delete items, or ask the operator to raise --store-limit.",
  },
  StoreUnavailable: {
    ...unavailable,
    when: "The store cannot be read or written at the moment. Nothing was changed, unless `detail` says that this is not known.",
    detail: ({ writes }: Pick<ProblemFacts, "writes">) =>
      writes
        ? "The store could not save the change, so nothing was changed. Send the request again shortly."
        : "The store cannot be read at the moment. Send the request again shortly.",
  },
  TargetTooLong: {
    status: 414,
    title: "URI Too Long",
    when: "The path and query are longer than the instance accepts.",
    detail: ({ headerBytesMax }) =>
      `The request's target is longer than ${headerBytesMax} bytes, the limit of this instance.`,
  },
  TodoItemIDAmbiguous: {
    ...badRequest,
    when: "The item has its ID twice, in two spellings such as `ID` and `id`.",
    detail: 'The item names its ID twice, as "ID" and "id": send one of them only.',
  },
  TodoItemIDInUse: {
    status: 409,
    title: "Conflict",
    when: "An item with this ID exists already.",
    detail: ({ id }: Pick<ProblemFacts, "id">) =>
      `An item with ID ${id} already exists. Update it with PUT, or create yours with another ID.`,
  },
  TodoItemIDInvalid: {
    ...badRequest,
    when: "The ID is not a UUID.",
    detail: ({ id, idField, writes }) =>
      writes
        ? `The field "${idField}" is not a UUID: send a string of 36 hexadecimal digits and hyphens, such as "${id}".`
        : `The ID in the path is not a UUID: send 36 characters of hexadecimal digits and hyphens, such as ${id}.`,
  },
  TodoItemIDMismatch: {
    ...badRequest,
    when: "The ID in the body is not the ID in the path.",
    detail: ({ id }) =>
      `The body's ID 11111111-1111-4111-8111-111111111111 is not the path's ID ${id}: send the same ID in both, or leave it out of the body.`,
  },
  TodoItemIDRequired: {
    ...badRequest,
    when: "An update has no ID, neither in the path nor in the body.",
    detail: ({ idField }) => `An update needs the item's ID: send it in the body's field "${idField}", or in the path.`,
  },
  TooManyRequests: {
    status: 429,
    title: "Too Many Requests",
    when: "This address has sent too many requests or wrong passwords lately, or has too many feeds open. Wait as long as `Retry-After` says.",
    detail: ({ waitSeconds }: Pick<ProblemFacts, "waitSeconds">) =>
      `Too many requests came from this address. Send the next one in ${waitSeconds} s.`,
  },
  UnsupportedMediaType: {
    status: 415,
    title: "Unsupported Media Type",
    when: "The body is not sent as `application/json` in UTF-8, or it is compressed.",
    detail: ({ isDelete }) =>
      isDelete
        ? "The body has Content-Encoding br: send it uncompressed."
        : "The request has Content-Type text/plain: send the item as application/json, encoded in UTF-8.",
  },
} as const satisfies Record<ProblemCode, ProblemKind>;

/** With URL form B only, an item is changed at the address of the list. Empty if nothing can be changed here. */
function insteadOfPatch(allowed: readonly string[]): string {
  if (allowed.length === 1) return "";
  const place = allowed.includes("PUT") ? "" : " to /api/todoitems/";
  return ` Read the item, and PUT all of it${place} with your change, with its ETag in If-Match.`;
}

/** All codes, in alphabetical order. */
export const problemCodes: readonly ProblemCode[] = Object.keys(problems).filter(isProblemCode).sort();

function isProblemCode(code: string): code is ProblemCode {
  return Object.hasOwn(problems, code);
}
