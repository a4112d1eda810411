// All parts of `npm run torture`, in the order in which they run.

import { breaksPart } from "../breaks/breaks-part.ts";
import { changedFilesPart, undisturbedPart } from "../faults/changed-files.ts";
import { corruptionPart } from "../faults/corruption.ts";
import { everyCallPart } from "../faults/every-call.ts";
import { failedSyncPart } from "../faults/failed-sync.ts";
import { failoverPart } from "../faults/failover.ts";
import { fullDiskPart } from "../faults/full-disk.ts";
import { hostileProxyPart } from "../faults/hostile-proxy.ts";
import { killPart, slowDiskKillPart } from "../faults/kill.ts";
import { manyListsPart } from "../faults/many-lists.ts";
import { ordinaryLifePart } from "../faults/ordinary-life.ts";
import { lyingSyncPart, powerCutPart } from "../faults/power-cut.ts";
import { syncOrderPart } from "../faults/sync-order.ts";
import { streamsPart } from "../fuzz/connections.ts";
import { requestsPart } from "../fuzz/requests.ts";
import { loadPart } from "../load/load.ts";
import type { Part } from "./part.ts";
import { offlinePart, simulationPart } from "./simulations.ts";

export const parts: readonly Part[] = [
  ordinaryLifePart,
  manyListsPart,
  killPart,
  slowDiskKillPart,
  syncOrderPart,
  failedSyncPart,
  everyCallPart,
  powerCutPart,
  lyingSyncPart,
  fullDiskPart,
  corruptionPart,
  changedFilesPart,
  undisturbedPart,
  failoverPart,
  simulationPart,
  offlinePart,
  hostileProxyPart,
  requestsPart,
  streamsPart,
  loadPart,
  breaksPart,
];
