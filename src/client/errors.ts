// What can go wrong, one class for each failure. Every message names the request; `isTodoError` tells the
// classes apart by name, so it also works where two copies of this file are loaded.

import type { TodoItem } from "./codecs.ts";

export interface RequestName {
  readonly method: string;
  readonly url: string;
}

/** Every error of this client. A call that was aborted throws its signal's reason instead. */
export class TodoClientError extends Error {
  override readonly name: string = "TodoClientError";
  readonly method: string;
  readonly url: string;

  constructor({ method, url }: RequestName, what: string, options?: ErrorOptions) {
    super(`${method} ${url}: ${what}`, options);
    this.method = method;
    this.url = url;
  }
}

/** No answer came, or it broke off: the server is not there, or the network is not. */
export class NetworkError extends TodoClientError {
  override readonly name = "NetworkError";
}

/** The server was silent for longer than `timeoutMs`. */
export class TimeoutError extends TodoClientError {
  override readonly name = "TimeoutError";
}

/** The answer is larger than `maxResponseBytes`; reading stopped there. */
export class ResponseTooLargeError extends TodoClientError {
  override readonly name = "ResponseTooLargeError";
}

/** The answer is not what a to-do service sends: a list that is no JSON array, say. */
export class InvalidResponseError extends TodoClientError {
  override readonly name = "InvalidResponseError";
}

/** The server answered with another address. Redirects are not followed: a redirected POST would become a GET. */
export class RedirectError extends TodoClientError {
  override readonly name = "RedirectError";
}

/** What is known of an answer that refuses. */
export interface Refusal {
  readonly status: number;
  /** A stable word for programs, where the server sends one. */
  readonly code: string | undefined;
  /** What the server said, in its words. */
  readonly detail: string;
  /** When to try again, where the server says so. */
  readonly retryAfterMs: number | undefined;
}

/** The server answered, and refused. The subclasses stand for the statuses that have a meaning of their own. */
export class HttpError extends TodoClientError implements Refusal {
  override readonly name: string = "HttpError";
  readonly status: number;
  readonly code: string | undefined;
  readonly detail: string;
  readonly retryAfterMs: number | undefined;

  constructor(request: RequestName, refusal: Refusal) {
    super(request, [String(refusal.status), refusal.detail].filter((part) => part !== "").join(", "));
    this.status = refusal.status;
    this.code = refusal.code;
    this.detail = refusal.detail;
    this.retryAfterMs = refusal.retryAfterMs;
  }
}

/** 400: the server does not understand the request. */
export class BadRequestError extends HttpError {
  override readonly name = "BadRequestError";
}

/** 401: credentials are missing or wrong. */
export class UnauthorizedError extends HttpError {
  override readonly name = "UnauthorizedError";
}

/** 403: the credentials are right, but do not allow this. */
export class ForbiddenError extends HttpError {
  override readonly name = "ForbiddenError";
}

/** 404: there is no such item, or no such address. */
export class NotFoundError extends HttpError {
  override readonly name = "NotFoundError";
}

/** 405: the server does not offer this; perhaps it expects the other `form`. */
export class MethodNotAllowedError extends HttpError {
  override readonly name = "MethodNotAllowedError";
}

/** 409: an item with this ID exists already. */
export class ConflictError extends HttpError {
  override readonly name = "ConflictError";
}

/** 412: the item is not in the state that `ifMatch` names. */
export class PreconditionFailedError<Item = TodoItem> extends HttpError {
  override readonly name = "PreconditionFailedError";
  /** The item as it is now, where the server sends it. */
  readonly current: Item | undefined;
  /** The tag of that state, to send as `ifMatch` after merging. */
  readonly currentEtag: string | undefined;

  constructor(request: RequestName, refusal: Refusal, current: Item | undefined, currentEtag: string | undefined) {
    super(request, refusal);
    this.current = current;
    this.currentEtag = currentEtag;
  }
}

/** 413: the item is larger than the server takes. */
export class ItemTooLargeError extends HttpError {
  override readonly name = "ItemTooLargeError";
}

/** 415: the server does not take JSON in UTF-8. */
export class UnsupportedMediaTypeError extends HttpError {
  override readonly name = "UnsupportedMediaTypeError";
}

/** 429: more requests, or more wrong passwords, than the server takes; see `retryAfterMs`. */
export class TooManyRequestsError extends HttpError {
  override readonly name = "TooManyRequestsError";
}

/** 500 and above: the server failed, or is overloaded. */
export class ServerError extends HttpError {
  override readonly name = "ServerError";
}

const classesByStatus = new Map<number, typeof HttpError>([
  [400, BadRequestError],
  [401, UnauthorizedError],
  [403, ForbiddenError],
  [404, NotFoundError],
  [405, MethodNotAllowedError],
  [409, ConflictError],
  [413, ItemTooLargeError],
  [415, UnsupportedMediaTypeError],
  [429, TooManyRequestsError],
]);

/** The error for any refusal but a 412, which needs the current item. */
export function httpError(request: RequestName, refusal: Refusal): HttpError {
  const ErrorClass = classesByStatus.get(refusal.status) ?? (refusal.status >= 500 ? ServerError : HttpError);
  return new ErrorClass(request, refusal);
}

/** True where the same request may succeed if it is sent again a little later. */
export function isPassing(error: unknown): error is TodoClientError {
  if (error instanceof HttpError) return [408, 429, 502, 503, 504].includes(error.status);
  return error instanceof NetworkError || error instanceof TimeoutError;
}

interface ErrorsByName {
  readonly BadRequestError: BadRequestError;
  readonly ConflictError: ConflictError;
  readonly ForbiddenError: ForbiddenError;
  readonly HttpError: HttpError;
  readonly InvalidResponseError: InvalidResponseError;
  readonly ItemTooLargeError: ItemTooLargeError;
  readonly MethodNotAllowedError: MethodNotAllowedError;
  readonly NetworkError: NetworkError;
  readonly NotFoundError: NotFoundError;
  readonly PreconditionFailedError: PreconditionFailedError;
  readonly RedirectError: RedirectError;
  readonly ResponseTooLargeError: ResponseTooLargeError;
  readonly ServerError: ServerError;
  readonly TimeoutError: TimeoutError;
  readonly TodoClientError: TodoClientError;
  readonly TooManyRequestsError: TooManyRequestsError;
  readonly UnauthorizedError: UnauthorizedError;
  readonly UnsupportedMediaTypeError: UnsupportedMediaTypeError;
}

/** Tells what went wrong: `if (isTodoError(error, "ConflictError")) …`. A class counts as its parents too. */
export function isTodoError<Name extends keyof ErrorsByName = "TodoClientError">(
  error: unknown,
  name?: Name,
): error is ErrorsByName[Name] {
  if (!(error instanceof Error && "method" in error && "url" in error)) return false;
  if (error.name === name) return true;
  return name === undefined || name === "TodoClientError" || (name === "HttpError" && "status" in error);
}
