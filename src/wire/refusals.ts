// Why a request is refused before the app has seen it, or while it reads it.

import { Problem, type ProblemCode } from "../items/problem.ts";
import type { ConnectionLimits } from "./served-connection.ts";

/** After a message that could not be read nobody knows where the next one begins. */
export function refusal(detail: string, code: ProblemCode = "InvalidRequest"): Problem {
  return new Problem(code, `${detail}.`, { endsConnection: true });
}

export function headTooLarge(bytesMax: number): Problem {
  return refusal(
    `The request's head is larger than ${bytesMax} bytes, the most this instance takes`,
    "HeadersTooLarge",
  );
}

/** Nobody is left to read this answer, but it tells the app a mistake from a defect. */
export function leftEarly(): Problem {
  return new Problem("InvalidRequest", "The connection was closed before the body was complete.", {
    endsConnection: true,
  });
}

export function bodyTooLarge(bytesMax: number, endsConnection: boolean): Problem {
  const detail = `The body is larger than ${bytesMax} bytes, the most this instance takes.`;
  return new Problem("BodyTooLarge", detail, { endsConnection });
}

export function tooSlow(what: "request" | "body", { requestTimeoutMs }: ConnectionLimits): Problem {
  const detail = `The ${what} did not arrive within ${requestTimeoutMs / 1_000} s; nothing was changed. Send the request again.`;
  return new Problem("RequestTimeout", detail, { endsConnection: true });
}
