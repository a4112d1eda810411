// Problems as answers: application/problem+json (RFC 9457), the same shape for every error.

import type { Problem, ProblemCode } from "../items/problem.ts";
import { Answer } from "../wire/message.ts";

export const problemStatuses = {
  BodyTooLarge: 413,
  CredentialsRequired: 401,
  HeadersTooLarge: 431,
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
  StoreUnavailable: 503,
  TargetTooLong: 414,
  TodoItemIDAmbiguous: 400,
  TodoItemIDInUse: 409,
  TodoItemIDInvalid: 400,
  TodoItemIDMismatch: 400,
  TodoItemIDRequired: 400,
  TooManyRequests: 429,
  UnsupportedMediaType: 415,
} as const satisfies Record<ProblemCode, number>;

// A problem type of "about:blank" has its status's phrase for a title; what is particular stands in
// `code` and `detail`.
const titles = {
  400: "Bad Request",
  401: "Unauthorized",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  409: "Conflict",
  412: "Precondition Failed",
  413: "Content Too Large",
  414: "URI Too Long",
  415: "Unsupported Media Type",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  503: "Service Unavailable",
  505: "HTTP Version Not Supported",
} as const satisfies Record<(typeof problemStatuses)[ProblemCode], string>;

/** Browsers must not guess a type of their own: an item that looks like HTML is still JSON. */
export const nosniff = { "X-Content-Type-Options": "nosniff" };

const standingHeaders: Partial<Record<ProblemCode, Record<string, string>>> = {
  CredentialsRequired: { "WWW-Authenticate": 'Basic realm="todoitems", charset="UTF-8"' },
  StoreUnavailable: { "Retry-After": "1" },
};

/** `current` is an item's JSON, passed through as it is. */
export function problemAnswer(problem: Problem, headers: Record<string, string> = {}, current?: string): Answer {
  const { code, message: detail, retryAfterSeconds, endsConnection } = problem;
  const status = problemStatuses[code];
  const document = JSON.stringify({ type: "about:blank", title: titles[status], status, detail, code });
  const body = current === undefined ? document : `${document.slice(0, -1)},"current":${current}}`;
  const allHeaders = {
    "Content-Type": "application/problem+json",
    ...nosniff,
    ...standingHeaders[code],
    ...(retryAfterSeconds === undefined ? {} : { "Retry-After": String(retryAfterSeconds) }),
    ...(endsConnection ? { Connection: "close" } : {}),
    ...headers,
  };
  return new Answer(status, allHeaders, body);
}
