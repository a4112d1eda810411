// Problem documents (RFC 9457): errors from every layer get the same shape. Only this file knows which error becomes
// which document. Any error that is not listed here is a defect. problem-table.ts has their statuses.

import { StoreError, WriteError } from "../collection/engine.ts";
import { ItemError } from "../items/item-error.ts";
import { Answer, type AnswerHeaders } from "../wire/message.ts";
import { Refusal } from "../wire/refusal.ts";
import { nosniff } from "./headers.ts";
import { type ProblemCode, problemStatus, titleOf } from "./problem-table.ts";

/** The address of the text that explains this kind of problem. It depends only on the code, not on the request. */
export function problemType(code: ProblemCode): string {
  return `/docs#${code}`;
}

interface ProblemOptions {
  /** How long the client should wait before it tries again. */
  readonly retryAfterSeconds?: number | undefined;
  readonly closesConnection?: boolean;
  /** More headers for the answer. */
  readonly headers?: AnswerHeaders;
}

/** Thrown if a request cannot be carried out. `detail` tells the client what was wrong and what to do instead. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly code: ProblemCode;
  readonly closesConnection: boolean;
  readonly headers: AnswerHeaders;

  constructor(code: ProblemCode, detail: string, options: ProblemOptions = {}) {
    const { retryAfterSeconds, closesConnection = false, headers = {} } = options;
    super(detail);
    this.code = code;
    this.closesConnection = closesConnection;
    this.headers = retryAfterSeconds === undefined ? headers : { ...headers, "Retry-After": String(retryAfterSeconds) };
  }
}

/** For a client that must wait. `reason` is a sentence without its full stop. */
export function tooManyRequests(reason: string, retryAfterSeconds: number): Problem {
  return new Problem("TooManyRequests", `${reason}. Try again in ${retryAfterSeconds} s.`, { retryAfterSeconds });
}

/**
 * Turns an expected error of any layer into a problem. Returns undefined for an unexpected error, which is a defect.
 */
export function problemFrom(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error;
  if (error instanceof ItemError) return new Problem(error.code, error.message);
  if (error instanceof Refusal)
    return new Problem(error.code, `${error.message}${error.code === "BodyTooLarge" ? tooLargeAdvice : ""}`, error);
  if (error instanceof StoreError) {
    const detail = error instanceof WriteError ? writeFailures[error.reason] : readFailure;
    return new Problem("StoreUnavailable", detail, { retryAfterSeconds: 1 });
  }
  return undefined;
}

/** Added to the refusal, because the room that refuses knows no settings. */
const tooLargeAdvice = " Send a smaller item, or ask the operator to raise --body-limit.";

const readFailure =
  "The store cannot be read at the moment. Send the request again shortly. If this goes on, the operator finds the reason in the log.";

const writeFailures = {
  "queue-full": "Too many writes are waiting, so nothing was changed. Send the request again shortly.",
  "not-stored": "The store could not save the change, so nothing was changed. Send the request again shortly.",
  "needs-restart":
    "The service has lost its store, so nothing was changed. Writes fail until the operator restarts the service. Its log says what happened.",
  unknown:
    "The store became unavailable while it saved the change, so it is not known whether the change was saved. Read the item before you send the request again.",
} as const satisfies Record<WriteError["reason"], string>;

/** `current` is an item's JSON. It is added to the document unchanged, as the member `current`. */
export function problemAnswer(problem: Problem, current?: string): Answer {
  const { code, message: detail, closesConnection, headers } = problem;
  const [status, title] = [problemStatus[code], titleOf(code)];
  const document = JSON.stringify({ type: problemType(code), title, status, detail, code });
  const body = current === undefined ? document : `${document.slice(0, -1)},"current":${current}}`;
  const allHeaders = {
    "Content-Type": "application/problem+json",
    "Cache-Control": "no-store",
    ...nosniff,
    ...headers,
  };
  return new Answer(status, allHeaders, body, { closesConnection });
}
