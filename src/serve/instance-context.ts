// What the parts of an instance have in common.

import type { Limits } from "../collection/limits.ts";
import type { Log } from "../http/log.ts";
import type { InstanceMetrics } from "../http/metrics/instance-metrics.ts";
import type { Environment } from "../terminal/environment.ts";
import type { Settings } from "./settings-table.ts";

export interface InstanceContext {
  readonly settings: Settings;
  readonly environment: Environment;
  readonly log: Log;
  readonly limits: Limits;
  readonly metrics: InstanceMetrics;
}
