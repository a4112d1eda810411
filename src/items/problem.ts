// A caller's mistake, or a state of the service the caller must know of. Thrown anywhere, turned
// into an answer in one place (http/problem.ts). Whatever else is thrown is a defect of ours.

export type ProblemCode =
  | "BodyTooLarge"
  | "CredentialsRequired"
  | "HeadersTooLarge"
  | "HttpVersionNotSupported"
  | "InternalError"
  | "InvalidJson"
  | "InvalidRequest"
  | "MethodNotAllowed"
  | "NestingTooDeep"
  | "Overloaded"
  | "PreconditionFailed"
  | "RecordNotFound"
  | "RequestTimeout"
  | "RouteNotFound"
  | "StoreUnavailable"
  | "TargetTooLong"
  | "TodoItemIDAmbiguous"
  | "TodoItemIDInUse"
  | "TodoItemIDInvalid"
  | "TodoItemIDMismatch"
  | "TodoItemIDRequired"
  | "TooManyRequests"
  | "UnsupportedMediaType";

export class Problem extends Error {
  override readonly name = "Problem";
  readonly code: ProblemCode;
  /** When to try again, if the caller should. */
  readonly retryAfterSeconds: number | undefined;
  /** The rest of the request is left unread, so nothing more can come over its connection. */
  readonly endsConnection: boolean;

  /** `detail` tells the caller what was wrong and what to send instead. */
  constructor(code: ProblemCode, detail: string, options: ProblemOptions = {}) {
    super(detail);
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.endsConnection = options.endsConnection ?? false;
  }
}

interface ProblemOptions {
  readonly retryAfterSeconds?: number;
  readonly endsConnection?: boolean;
}
