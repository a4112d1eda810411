// Says why a request was refused: it could not be read, it exceeds a limit, or the server is overloaded. The message
// tells the client what was wrong and what to send instead.

export type RefusalCode =
  | "BodyTooLarge"
  | "HeadersTooLarge"
  | "HttpVersionNotSupported"
  | "InvalidRequest"
  | "Overloaded"
  | "RequestTimeout"
  | "TargetTooLong";

export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly code: RefusalCode;
  /** True if the connection closes after this refusal, for example because the rest of the request stays unread. */
  readonly closesConnection: boolean;
  /** How long the client should wait before it tries again. Undefined if waiting would not help. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: RefusalCode,
    message: string,
    { closesConnection, retryAfterSeconds }: { closesConnection: boolean; retryAfterSeconds?: number },
  ) {
    super(message);
    this.code = code;
    this.closesConnection = closesConnection;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The connection closes after this refusal: if a request is not read to its end, we cannot find the next request. */
export function closingRefusal(message: string, code: RefusalCode = "InvalidRequest"): Refusal {
  return new Refusal(code, `${message}.`, { closesConnection: true });
}

/**
 * For a client that left before it had sent its whole body. The client will probably not read this refusal. But the
 * refusal tells the handler that the failure is not a defect of the server.
 */
export function leftEarly(): Refusal {
  return closingRefusal("The connection closed before the body was complete");
}

export function bodyTooLarge(bytesMax: number, closesConnection: boolean): Refusal {
  const message = `The body is larger than ${bytesMax} bytes, the limit of this instance.`;
  return new Refusal("BodyTooLarge", message, { closesConnection });
}

export function tooSlow(what: "request" | "body", timeoutMs: number): Refusal {
  return closingRefusal(
    `The ${what} did not arrive within ${timeoutMs / 1_000} s, so nothing was changed. Send the request again`,
    "RequestTimeout",
  );
}

export function overloaded(cause: string): Refusal {
  const message = `${cause}. Send the request again shortly.`;
  return new Refusal("Overloaded", message, { closesConnection: true, retryAfterSeconds: 1 });
}
