// Writes one log line for each request, even if the request could not be read and was refused.

import type { Answer, Handler, HttpRequest } from "../wire/message.ts";
import { clientAddress } from "./client-address.ts";
import type { Log } from "./log.ts";
import { loggedIds } from "./request-id.ts";

export function withRequestLog(handler: Handler, log: Log, trustProxy = false): Handler {
  const write = (request: HttpRequest, answer: Answer, startedAt: number) => {
    const { method, path, headers, isSecure } = request;
    const { status } = answer;
    const query = request.query === "" ? "" : `?${request.query}`;
    const url = `${isSecure ? "https" : "http"}://${headers.get("host") ?? ""}${path}${query}`;
    const milliseconds = Math.round(performance.now() - startedAt);
    const ids = loggedIds(answer.headers);
    const address = clientAddress(request, trustProxy);
    const fields = { method, url, status, milliseconds, address, ...ids.fields };
    log("info", `${method} ${url} ${status} ${milliseconds}ms from ${address}${ids.text}`, fields);
  };
  return {
    handle: async (request) => {
      const startedAt = performance.now();
      const answer = await handler.handle(request);
      write(request, answer, startedAt);
      return answer;
    },
    refuse: (refusal, request) => {
      const answer = handler.refuse(refusal, request);
      const { status } = answer;
      const reason = refusal.message;
      if (request) write(request, answer, performance.now());
      else log("info", `${status} for a request that could not be read: ${reason}`, { status, reason });
      return answer;
    },
  };
}
