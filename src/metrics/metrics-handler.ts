// Serves /metrics, and nothing else.

import type { AllowedHosts } from "../http/allowed-hosts.ts";
import { Failures } from "../http/failures.ts";
import { nosniff } from "../http/headers.ts";
import type { Log } from "../http/log.ts";
import { Problem, problemAnswer } from "../http/problem.ts";
import { Answer, type Handler } from "../wire/message.ts";
import type { ProcessMetrics } from "./metric.ts";
import { metricsContentType, renderMetrics } from "./render.ts";

export interface MetricsHandlerOptions {
  /** The host names that requests may have in `Host`. Undefined if any name is allowed. */
  readonly hosts: AllowedHosts | undefined;
  readonly log: Log;
  readonly collect: () => Promise<readonly ProcessMetrics[]>;
}

export function metricsHandler({ hosts, log, collect }: MetricsHandlerOptions): Handler {
  const failures = new Failures(log);
  const headers = { "Content-Type": metricsContentType, "Cache-Control": "no-store", ...nosniff };
  return {
    async handle(request) {
      try {
        hosts?.check(request.headers.get("host"));
        if (request.path !== "/metrics")
          throw new Problem("RouteNotFound", "There is nothing at this address. The metrics are at /metrics.");
        if (request.method !== "GET")
          return problemAnswer(new Problem("MethodNotAllowed", "The metrics offer only GET."), { Allow: "GET" });
        return new Answer(200, headers, await renderMetrics(await collect()));
      } catch (error) {
        return failures.answer(error, request);
      }
    },
    refuse: (refusal, request) => failures.answer(refusal, request),
  };
}
