// The client's errors. Every message names the request. `isTodoError` looks at the properties of an error, not at its
// class, because a program that imports the client and also requires it has two copies of each class.
//
// A mistake in the calling code throws a `TypeError` instead, and nothing on the server changes. Examples are an item
// whose text is not a JSON object, an update without an ID, an address that is not a URL, and a user name with a colon.

import type { TodoItem } from "./codecs.ts";

export type RequestName = Pick<TodoClientError, "method" | "url">;

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
 * No response arrived, or it broke off. Usually the server or the network is down. In a browser, it may also mean
 * that the server refuses web pages of this origin: browsers report both in the same way. Or the function for
 * `credentials` or `token` failed; its error is the `cause`.
 */
export class NetworkError extends TodoClientError {
  override readonly name = "NetworkError";
}

/** The server was silent for longer than `timeoutMs`, or the change feed for a minute. */
export class TimeoutError extends TodoClientError {
  override readonly name = "TimeoutError";
}

/** The response is larger than `maxResponseBytes`, so the client stopped reading it. */
export class ResponseTooLargeError extends TodoClientError {
  override readonly name = "ResponseTooLargeError";
}

/** The response is not what a to-do service sends, such as a list that is not a JSON array. */
export class InvalidResponseError extends TodoClientError {
  override readonly name = "InvalidResponseError";
}

/** What a response with an error status says. */
export type ErrorReply = Pick<HttpError, "status" | "code" | "detail" | "retryAfterMs" | "hadCredentials">;

/**
 * The server answered with an error status. A redirect is an error too, with the code `Redirect`: following it could
 * turn a POST into a GET. Browsers report its status as 0.
 */
export class HttpError extends TodoClientError {
  override readonly name: string = "HttpError";
  readonly status: number;
  /** A stable code for programs, if the server sends one. */
  readonly code: string | undefined;
  /** The server's explanation, in its own words. */
  readonly detail: string;
  /** How long to wait before the next attempt, if the server says so. */
  readonly retryAfterMs: number | undefined;
  /** True if the request had credentials. If the status is 401, they are wrong. */
  readonly hadCredentials: boolean;

  constructor(request: RequestName, reply: ErrorReply) {
    super(request, reply.detail === "" ? String(reply.status) : `${reply.status}, ${reply.detail}`);
    this.status = reply.status;
    this.code = reply.code;
    this.detail = reply.detail;
    this.retryAfterMs = reply.retryAfterMs;
    this.hadCredentials = reply.hadCredentials;
  }
}

/** 412: the item is not in the state that `ifMatch` names. */
export class PreconditionFailedError<Item = TodoItem> extends HttpError {
  override readonly name = "PreconditionFailedError";
  /** The current item, if the server sends it. */
  readonly current: Item | undefined;
  /** The ETag of the current item. Send it as `ifMatch` after merging your change into the current item. */
  readonly currentEtag: string | undefined;
  /**
   * True if your write may have been stored all the same: the response to an earlier attempt was lost, and somebody else
   * may have changed the item after that. Or `change` has found its own result, which it would change again.
   */
  mayBeStored = false;
  /**
   * The exact text of the current item.
   * @internal
   */
  readonly currentText: string | undefined;

  constructor(
    request: RequestName,
    reply: ErrorReply,
    currentEtag: string | undefined,
    currentText?: string,
    current?: Item,
  ) {
    super(request, reply);
    this.current = current;
    this.currentText = currentText;
    this.currentEtag = currentEtag;
  }
}

/** Whether the server refused the request with one of these statuses. */
export function hasStatus(error: unknown, ...statuses: readonly number[]): error is HttpError {
  return isTodoError(error, "HttpError") && statuses.includes(error.status);
}

/** Whether the same request may succeed if it is sent again a little later. */
export function isPassing(error: unknown): error is TodoClientError {
  if (!isTodoError(error, "HttpError")) return isTodoError(error, "NetworkError") || isTodoError(error, "TimeoutError");
  // 507: the store is full, and stays full until somebody makes room.
  return error.status === 408 || error.status === 429 || (error.status >= 500 && error.status !== 507);
}

/**
 * An error's message, followed by the message of its cause. When `fetch` fails in Node, the message is only "fetch
 * failed", and the cause says why. In Jest, these errors are not instances of the `Error` that this file sees.
 */
export function reasonOf(error: unknown): string {
  const messageOf = (value: unknown): unknown => Reflect.get(Object(value), "message");
  const message = messageOf(error) ?? error;
  const why = messageOf(Reflect.get(Object(error), "cause"));
  return why ? `${message} (${why})` : String(message);
}

/** Reads a part of a response. If that fails, the response is invalid. */
export function readResponse<Result>(request: RequestName, read: () => Result): Result {
  try {
    return read();
  } catch (cause) {
    throw new InvalidResponseError(request, `the response cannot be used: ${reasonOf(cause)}`, { cause });
  }
}

interface ErrorsByName {
  readonly HttpError: HttpError;
  readonly InvalidResponseError: InvalidResponseError;
  readonly NetworkError: NetworkError;
  readonly PreconditionFailedError: PreconditionFailedError;
  readonly ResponseTooLargeError: ResponseTooLargeError;
  readonly TimeoutError: TimeoutError;
  readonly TodoClientError: TodoClientError;
}

/**
 * Checks the kind of an error: `if (isTodoError(error, "NetworkError")) …`. An error also matches the names of its base
 * classes.
 */
export function isTodoError<Name extends keyof ErrorsByName = "TodoClientError">(
  error: unknown,
  name?: Name,
): error is ErrorsByName[Name] {
  if (typeof error !== "object" || error === null) return false;
  if (!("name" in error && "message" in error && "method" in error && "url" in error)) return false;
  if (error.name === name) return true;
  return name === undefined || name === "TodoClientError" || (name === "HttpError" && "status" in error);
}
