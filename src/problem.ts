// A caller's mistake, or a state of the service the caller must know of. Thrown anywhere, turned
// into an answer in one place (http/problem.ts). Whatever else is thrown is a defect of ours.

export type ProblemCode =
  | "BodyTooLarge"
  | "InternalError"
  | "InvalidJson"
  | "InvalidRequest"
  | "MethodNotAllowed"
  | "NestingTooDeep"
  | "PreconditionFailed"
  | "RecordNotFound"
  | "RequestTimeout"
  | "RouteNotFound"
  | "StoreUnavailable"
  | "TodoItemIDAmbiguous"
  | "TodoItemIDInUse"
  | "TodoItemIDInvalid"
  | "TodoItemIDMismatch"
  | "TodoItemIDRequired"
  | "UnsupportedMediaType";

export class Problem extends Error {
  override readonly name = "Problem";
  readonly code: ProblemCode;

  /** `detail` tells the caller what was wrong and what to send instead. */
  constructor(code: ProblemCode, detail: string) {
    super(detail);
    this.code = code;
  }
}
