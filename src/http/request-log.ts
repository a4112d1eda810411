// Writes one log line for each request that the handler answers. Requests that are refused earlier are not logged.

import type { Handler } from "../wire/message.ts";
import { clientAddress } from "./client-address.ts";
import type { Log } from "./log.ts";
import { loggedIds } from "./request-id.ts";

/** Wraps a handler so that it also logs each request that it answers. */
export function withRequestLog(handler: Handler, log: Log, trustProxy = false): Handler {
  return {
    handle: async (request) => {
      const startedAt = performance.now();
      const answer = await handler.handle(request);
      const { method, path, headers, isSecure } = request;
      const { status } = answer;
      const query = request.query === "" ? "" : `?${request.query}`;
      const url = `${isSecure ? "https" : "http"}://${headers.get("host") ?? ""}${path}${query}`;
      const milliseconds = Math.round(performance.now() - startedAt);
      const ids = loggedIds(answer.headers);
      const address = clientAddress(request, trustProxy);
      const fields = { method, url, status, milliseconds, address, ...ids.fields };
      log("info", `${method} ${url} ${status} ${milliseconds}ms from ${address}${ids.text}`, fields);
      return answer;
    },
    refuse: (refusal, request) => handler.refuse(refusal, request),
  };
}
