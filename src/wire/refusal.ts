// A request that cannot be read, or that this server will not take. The message tells the client what was
// wrong and what to send instead.

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
  /** True if the rest of the request stays unread, so that the connection cannot be used again. */
  readonly closesConnection: boolean;
  /** When the client should try again, if it should. */
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

/** The message could not be read, so nobody knows where the next one begins: the connection closes. */
export function closingRefusal(message: string, code: RefusalCode = "InvalidRequest"): Refusal {
  return new Refusal(code, `${message}.`, { closesConnection: true });
}

export function headTooLarge(bytesMax: number): Refusal {
  return closingRefusal(
    `The request's head is larger than ${bytesMax} bytes, the most this instance takes`,
    "HeadersTooLarge",
  );
}

/** Nobody is left to read the answer, but the handler can tell this from a defect. */
export function leftEarly(): Refusal {
  return closingRefusal("The connection was closed before the body was complete");
}

export function bodyTooLarge(bytesMax: number, closesConnection: boolean): Refusal {
  const message = `The body is larger than ${bytesMax} bytes, the most this instance takes.`;
  return new Refusal("BodyTooLarge", message, { closesConnection });
}

export function tooSlow(what: "request" | "body", timeoutMs: number): Refusal {
  return closingRefusal(
    `The ${what} did not arrive within ${timeoutMs / 1_000} s; nothing was changed. Send the request again`,
    "RequestTimeout",
  );
}

export function overloaded(): Refusal {
  const message = "More connections are open than this instance takes. Send the request again shortly.";
  return new Refusal("Overloaded", message, { closesConnection: true, retryAfterSeconds: 1 });
}
