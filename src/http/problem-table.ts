// Every kind of problem, with its status. What each of them means is in openapi.yaml, from which /docs shows it. Tests
// compare that file and docs/reference.md with this table.

import { STATUS_CODES } from "node:http";
import type { ItemErrorCode } from "../items/item-error.ts";
import type { RefusalCode } from "../wire/refusal.ts";

export const problemStatus = {
  BodyTooLarge: 413,
  CredentialsRequired: 401,
  CrossSiteRefused: 403,
  FieldRequired: 400,
  HeadersTooLarge: 431,
  HostNotAllowed: 421,
  HttpVersionNotSupported: 505,
  InternalError: 500,
  InvalidJson: 400,
  InvalidRequest: 400,
  MethodNotAllowed: 405,
  NestingTooDeep: 400,
  Overloaded: 503,
  PreconditionFailed: 412,
  RecordNotFound: 404,
  RequestTimeout: 408,
  RouteNotFound: 404,
  StoreFull: 507,
  StoreUnavailable: 503,
  TargetTooLong: 414,
  TodoItemIDAmbiguous: 400,
  TodoItemIDInUse: 409,
  TodoItemIDInvalid: 400,
  TodoItemIDMismatch: 400,
  TodoItemIDRequired: 400,
  TokensUnavailable: 503,
  TooManyRequests: 429,
  UnsupportedMediaType: 415,
} as const satisfies Record<ItemErrorCode | RefusalCode, number> & Readonly<Record<string, number>>;

export type ProblemCode = keyof typeof problemStatus;

/** The name of the problem's status. For 413, Node.js has the name of an older RFC. */
export function titleOf(code: ProblemCode): string {
  const status = problemStatus[code];
  return (status === 413 ? "Content Too Large" : STATUS_CODES[status]) ?? "";
}
