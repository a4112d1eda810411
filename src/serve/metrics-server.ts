// Serves /metrics, and nothing else, on a port of its own. So a firewall can give access to the items but not to the
// metrics, or the reverse.

import { Failures } from "../http/failures.ts";
import { nosniff } from "../http/headers.ts";
import type { Log } from "../http/log.ts";
import { Problem } from "../http/problem.ts";
import { listen } from "../wire/listen.ts";
import { Answer, type Handler } from "../wire/message.ts";
import { SharedLimit } from "../wire/shared-limit.ts";
import type { RunningService } from "./instance.ts";
import { listenOrExplain } from "./listen-advice.ts";
import { checksHosts, isLoopback, knownHosts } from "./loopback.ts";
import { listenOptions } from "./servers.ts";
import type { Settings } from "./settings-table.ts";

const headers = { "Content-Type": "text/plain; version=0.0.4; charset=utf-8", "Cache-Control": "no-store", ...nosniff };

/** How many connections may be open, half of them from one address. */
const scrapersMax = 32;

/** Starts a server that listens until the process ends, and returns its port. Undefined if metrics are switched off. */
export function startMetricsServer(
  settings: Settings,
  { metricsText }: Pick<RunningService, "metricsText">,
  log: Log,
): number | undefined {
  const { host, metricsPort: port } = settings;
  if (port === undefined) return undefined;
  // The metrics never need credentials. So on a loopback address, names are checked even with `--auth all`.
  const hosts = checksHosts(settings) || isLoopback(host) ? knownHosts(settings) : undefined;
  const failures = new Failures(log);
  const handler: Handler = {
    handle(request) {
      try {
        hosts?.check(request.headers.get("host"));
        if (request.path !== "/metrics")
          throw new Problem("RouteNotFound", "There is nothing at this address. The metrics are at /metrics.");
        if (request.method !== "GET")
          throw new Problem("MethodNotAllowed", "The metrics offer only GET.", { headers: { Allow: "GET" } });
        return new Answer(200, headers, metricsText());
      } catch (error) {
        return failures.answer(error, request);
      }
    },
    refuse: (refusal, request) => failures.answer(refusal, request),
  };
  const limits = { connections: new SharedLimit(scrapersMax), surplus: new SharedLimit(0) };
  const options = { ...listenOptions(settings, log), ...limits, port };
  return listenOrExplain(port, "--metrics-port", () => listen(handler, options)).port;
}
