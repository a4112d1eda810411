// Turns errors into answers, and logs them: the apps of the tutorial show nothing when they are refused, so the log says
// why. If a failure with status 5xx is logged, its log line and the answer have the same request ID.

import type { Answer, HttpRequest } from "../wire/message.ts";
import { describeError, type Log } from "./log.ts";
import { Problem, problemAnswer, problemFrom } from "./problem.ts";
import type { ProblemCode } from "./problem-table.ts";
import { RateLimiter } from "./rate-limiter.ts";
import { loggedIds, requestIds } from "./request-id.ts";

/**
 * Failures with the same code are logged at this rate at most, because every request may fail while the store is
 * unavailable. Defects are always logged.
 */
const loggedFailures = { burst: 100, perSecond: 1 };

/** Of each code with one of these statuses, only the first is logged: it shows what is wrong with a client or setting. */
const loggedOnce: readonly number[] = [400, 401, 403, 405, 413, 415, 421, 429, 507];

export class Failures {
  readonly #log: Log;
  readonly #logged = new Set<ProblemCode>();
  readonly #rate = new RateLimiter(loggedFailures);

  constructor(log: Log) {
    this.#log = log;
  }

  /** `request` is undefined if the input could not be read as a request. */
  answer(error: unknown, request: HttpRequest | undefined): Answer {
    const known = problemFrom(error);
    const problem =
      known ?? new Problem("InternalError", "The service failed because of a defect. Its log has the details.");
    const answer = problemAnswer(problem);
    if (known && !this.#isLogged(problem.code, answer.status)) return answer;
    const newId = answer.status < 500 ? {} : { "X-Request-Id": crypto.randomUUID() };
    const named = answer.with((request && requestIds(request.headers)) ?? newId);
    const what = request ? `${request.method} ${request.path}` : "A request that could not be read";
    const ids = loggedIds(named.headers);
    const message = `${what} returned ${answer.status} ${problem.code}${ids.text}`;
    const fields = { status: answer.status, code: problem.code, ...ids.fields };
    if (known) this.#log("warn", `${message}: ${problem.message}`, fields);
    else this.#log("error", `${message}: ${describeError(error)}`, fields);
    return named;
  }

  #isLogged(code: ProblemCode, status: number): boolean {
    if (!loggedOnce.includes(status)) return status >= 500 && this.#rate.take(code) === 0;
    const isFirst = !this.#logged.has(code);
    this.#logged.add(code);
    return isFirst;
  }
}
