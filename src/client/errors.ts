// The client's errors, one class for each kind of failure. Every message names the request. `isTodoError` compares
// class names, so it also works if two copies of this file are loaded.
//
// A mistake in the calling code throws a `TypeError` instead, and nothing on the server changes. Examples are an item
// whose text is not a JSON object, an update without an ID, an address that is not a URL, and a user name with a colon.

import type { TodoItem } from "./codecs.ts";

export interface RequestName {
  readonly method: string;
  readonly url: string;
}

/**
 * The base class of all errors about a request. If the caller aborts a call, the call throws the reason of the
 * `AbortSignal` instead.
 */
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

/**
 * No answer arrived, or the answer broke off. Usually the server or the network is down. In a browser, it may also mean
 * that the server refuses web pages of this origin: browsers report both in the same way.
 */
export class NetworkError extends TodoClientError {
  override readonly name = "NetworkError";
}

/** The error for a request that got no answer. */
export function noAnswer(request: RequestName, cause: unknown): NetworkError {
  return new NetworkError(request, `no answer: ${reasonOf(cause)}${originHint(request)}`, { cause });
}

/**
 * The error for an answer that broke off. It has no advice about origins, because a browser that refuses an answer
 * reveals no part of it.
 */
export function brokenAnswer(request: RequestName, cause: unknown): NetworkError {
  return new NetworkError(request, `the connection broke off while the answer was read: ${reasonOf(cause)}`, { cause });
}

/**
 * Advice in case the browser refused the request because of the page's origin. Empty outside a browser, or if the page
 * and the server have the same origin.
 */
function originHint(request: RequestName): string {
  const origin = otherOrigin(request);
  if (origin === undefined) return "";
  // A page that was opened from a file has the origin `null`. `--cors` cannot allow this origin alone, so it has to
  // allow all origins.
  const allowed = origin === "null" ? '"*"' : origin;
  return `. If the server is running, it may refuse web pages of other origins: start todoitems with --cors ${allowed}`;
}

/**
 * The origin of the web page that sends a request. Undefined outside a browser, or if the server has the same origin.
 */
export function otherOrigin({ url }: RequestName): string | undefined {
  const location: unknown = Reflect.get(globalThis, "location");
  if (location === undefined) return undefined;
  const { origin } = new URL(String(location));
  return origin === new URL(url).origin ? undefined : origin;
}

/** The server was silent for longer than `timeoutMs`, or the change feed for longer than `feedSilenceMsMax`. */
export class TimeoutError extends TodoClientError {
  override readonly name = "TimeoutError";
}

/** The answer is larger than `maxResponseBytes`, so the client stopped reading it. */
export class ResponseTooLargeError extends TodoClientError {
  override readonly name = "ResponseTooLargeError";
}

/** The answer is not what a to-do service sends, such as a list that is not a JSON array. */
export class InvalidResponseError extends TodoClientError {
  override readonly name = "InvalidResponseError";
}

/**
 * The server redirects to another address. The client does not follow a redirect, because that could turn a POST into a
 * GET.
 */
export class RedirectError extends TodoClientError {
  override readonly name = "RedirectError";
}

export interface ErrorReply {
  readonly status: number;
  /** A stable code for programs, if the server sends one. */
  readonly code: string | undefined;
  /** The server's explanation, in its own words. */
  readonly detail: string;
  /** How long to wait before the next attempt, if the server says so. */
  readonly retryAfterMs: number | undefined;
}

/** The server answered with an error status. The common error statuses have subclasses. */
export class HttpError extends TodoClientError implements ErrorReply {
  override readonly name: string = "HttpError";
  readonly status: number;
  readonly code: string | undefined;
  readonly detail: string;
  readonly retryAfterMs: number | undefined;

  constructor(request: RequestName, refusal: ErrorReply) {
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
  /** True if the request had credentials. In that case they are wrong. */
  readonly hadCredentials: boolean;

  constructor(request: RequestName, refusal: ErrorReply, hadCredentials: boolean) {
    super(request, refusal);
    this.hadCredentials = hadCredentials;
  }
}

/** 403: the credentials are correct but do not allow this request. */
export class ForbiddenError extends HttpError {
  override readonly name = "ForbiddenError";
}

/** 404: there is no such item, or no such address. */
export class NotFoundError extends HttpError {
  override readonly name = "NotFoundError";
}

/**
 * 405: the server does not offer this method at this address. Perhaps the client's `form` option is wrong for this
 * server.
 */
export class MethodNotAllowedError extends HttpError {
  override readonly name = "MethodNotAllowedError";
}

/** 409: an item with this ID already exists. */
export class ConflictError extends HttpError {
  override readonly name = "ConflictError";
}

/** 412: the item is not in the state that `ifMatch` names. */
export class PreconditionFailedError<Item = TodoItem> extends HttpError {
  override readonly name = "PreconditionFailedError";
  /** The current item, if the server sends it. */
  readonly current: Item | undefined;
  /** The ETag of the current item. Send it as `ifMatch` after merging your change into the current item. */
  readonly currentEtag: string | undefined;
  /**
   * True if the answer to an earlier attempt was lost. So your write may have been stored, and somebody else may have
   * changed the item after that.
   */
  readonly mayBeStored: boolean;

  constructor(
    request: RequestName,
    refusal: ErrorReply,
    current: Item | undefined,
    currentEtag: string | undefined,
    mayBeStored = false,
  ) {
    super(request, refusal);
    this.current = current;
    this.currentEtag = currentEtag;
    this.mayBeStored = mayBeStored;
  }
}

/**
 * `change` gave up, because somebody else changed the item first each time. `cause` is the last
 * `PreconditionFailedError`.
 */
export class TooManyConflictsError extends TodoClientError {
  override readonly name = "TooManyConflictsError";
  readonly attempts: number;

  constructor(cause: PreconditionFailedError<unknown>, attempts: number) {
    super(
      cause,
      `the change was not stored, because somebody else changed the item before each of ${attempts} attempts; call change() again later, or with more attempts`,
      { cause },
    );
    this.attempts = attempts;
  }
}

/** 413: the item is larger than the server accepts. */
export class ItemTooLargeError extends HttpError {
  override readonly name = "ItemTooLargeError";
}

/** 415: the server does not accept JSON in UTF-8. */
export class UnsupportedMediaTypeError extends HttpError {
  override readonly name = "UnsupportedMediaTypeError";
}

/** 429: too many requests, wrong passwords or open feeds; see `retryAfterMs`. */
export class TooManyRequestsError extends HttpError {
  override readonly name = "TooManyRequestsError";
}

/** 500 and above: the server failed or is overloaded. */
export class ServerError extends HttpError {
  override readonly name = "ServerError";
}

const classesByStatus = new Map<number, typeof HttpError>([
  [400, BadRequestError],
  [403, ForbiddenError],
  [404, NotFoundError],
  [405, MethodNotAllowedError],
  [409, ConflictError],
  [413, ItemTooLargeError],
  [415, UnsupportedMediaTypeError],
  [429, TooManyRequestsError],
]);

/** The error for any status except 401 and 412, whose errors contain more information. */
export function httpError(request: RequestName, refusal: ErrorReply): HttpError {
  const ErrorClass = classesByStatus.get(refusal.status) ?? (refusal.status >= 500 ? ServerError : HttpError);
  return new ErrorClass(request, refusal);
}

/** Whether the same request may succeed if it is sent again a little later. */
export function isPassing(error: unknown): error is TodoClientError {
  if (error instanceof HttpError) return [408, 429, 502, 503, 504].includes(error.status);
  return error instanceof NetworkError || error instanceof TimeoutError;
}

/**
 * An error's message, followed by the message of its cause. When `fetch` fails in Node, the message is only "fetch
 * failed", and the cause says why.
 */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error && cause.message !== "" ? `${error.message} (${cause.message})` : error.message;
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
  readonly TooManyConflictsError: TooManyConflictsError;
  readonly TooManyRequestsError: TooManyRequestsError;
  readonly UnauthorizedError: UnauthorizedError;
  readonly UnsupportedMediaTypeError: UnsupportedMediaTypeError;
}

/**
 * Checks the kind of an error: `if (isTodoError(error, "ConflictError")) …`. An error also matches the names of its
 * base classes.
 */
export function isTodoError<Name extends keyof ErrorsByName = "TodoClientError">(
  error: unknown,
  name?: Name,
): error is ErrorsByName[Name] {
  if (!(error instanceof Error && "method" in error && "url" in error)) return false;
  if (error.name === name) return true;
  return name === undefined || name === "TodoClientError" || (name === "HttpError" && "status" in error);
}
