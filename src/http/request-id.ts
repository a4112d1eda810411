// The headers with which a client or a proxy names a request, so that the request can be found in several logs. The
// service echoes and logs them. It makes IDs itself only for answers with status 5xx (failures.ts). Many other answers
// are prepared once and sent to many requests, so they cannot have an ID for each request.

import type { AnswerHeaders, HeaderFields } from "../wire/message.ts";

const requestIdPattern = /^[\w.:~+/=@-]{1,128}$/;
/** The format of W3C Trace Context. An ID that consists only of zeros is invalid. The version ff is invalid too. */
const traceparentPattern = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Returns the valid ID headers of a request, to be sent back in the answer. Undefined if there are none. */
export function requestIds(headers: HeaderFields): AnswerHeaders | undefined {
  const requestId = headers.get("x-request-id");
  const traceparent = headers.get("traceparent");
  if (requestId === undefined && traceparent === undefined) return undefined;
  const ids = {
    ...(requestId !== undefined && requestIdPattern.test(requestId) && { "X-Request-Id": requestId }),
    ...(traceparent !== undefined && traceparentPattern.test(traceparent) && { traceparent }),
  };
  return Object.keys(ids).length === 0 ? undefined : ids;
}

interface LoggedIds {
  /** The IDs in parentheses, to append to a message. Empty if the answer has no ID. */
  readonly text: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** Returns the IDs for the log line about a request whose answer has these headers. */
export function loggedIds({ "X-Request-Id": requestId, traceparent }: AnswerHeaders): LoggedIds {
  const fields = { ...(requestId !== undefined && { requestId }), ...(traceparent !== undefined && { traceparent }) };
  const names = Object.entries(fields).map(([name, value]) => `${name} ${value}`);
  return { text: names.length === 0 ? "" : ` (${names.join(", ")})`, fields };
}
