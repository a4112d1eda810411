// Serves the metrics on a port of their own. So a firewall can give access to the items but not to the metrics, or the
// reverse.

import { hostname } from "node:os";
import { AllowedHosts } from "../http/allowed-hosts.ts";
import type { Log } from "../http/log.ts";
import { metricsHandler } from "../metrics/metrics-handler.ts";
import { listen } from "../wire/listen.ts";
import { listenOrExplain } from "./listen-advice.ts";
import { isLoopback } from "./loopback.ts";
import type { RunningService } from "./running-service.ts";
import { listenOptions } from "./servers.ts";
import type { Settings } from "./settings-table.ts";

/** Starts a server that listens until the process ends, and returns its port. Undefined if metrics are switched off. */
export function startMetricsServer(
  settings: Settings,
  { collectMetrics }: Pick<RunningService, "collectMetrics">,
  log: Log,
): number | undefined {
  const { host, metricsPort: port, allowedHosts } = settings;
  if (port === undefined) return undefined;
  const handler = metricsHandler({
    hosts: isLoopback(host) ? new AllowedHosts([hostname(), ...allowedHosts]) : undefined,
    log,
    collect: collectMetrics,
  });
  const options = { ...listenOptions(settings, log), port };
  return listenOrExplain(port, "--metrics-port", () => listen(handler, options)).port;
}
