// Turns errors into answers. If a failure with status 5xx is logged, its log line and the answer have the same request
// ID.

import type { Answer, HttpRequest } from "../wire/message.ts";
import { describeError, type Log } from "./log.ts";
import { Problem, problemAnswer, problemFrom } from "./problem.ts";
import { RateLimiter } from "./rate-limiter.ts";
import { loggedIds, requestIds } from "./request-id.ts";

/**
 * Failures with the same code are logged at this rate at most, because every request may fail while the store is
 * unavailable. Defects are always logged.
 */
const loggedFailures = { burst: 100, perSecond: 1 };

export class Failures {
  readonly #log: Log;
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
    if (answer.status < 500 || (known && this.#rate.take(problem.code) > 0)) return answer;
    const named = answer.with((request && requestIds(request.headers)) ?? { "X-Request-Id": crypto.randomUUID() });
    const what = request ? `${request.method} ${request.path}` : "A request that could not be read";
    const ids = loggedIds(named.headers);
    const message = `${what} returned ${answer.status} ${problem.code}${ids.text}`;
    const fields = { status: answer.status, code: problem.code, ...ids.fields };
    if (known) this.#log("warn", message, fields);
    else this.#log("error", `${message}: ${describeError(error)}`, fields);
    return named;
  }
}
