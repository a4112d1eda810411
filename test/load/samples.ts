// What is measured once a second.

import { readdirSync, readFileSync } from "node:fs";

export interface Sample {
  readonly second: number;
  readonly residentMegabytes: number;
  /** The memory that the kernel holds for all TCP connections of this machine. It belongs to no process. */
  readonly socketMegabytes: number;
  readonly descriptors: number;
  readonly idle: number;
  readonly slow: number;
  readonly feed: number;
  /** How many idle, slow and feed connections the service has closed so far. */
  readonly closed: number;
  readonly requests: number;
  readonly medianMs: number;
  readonly slowestMs: number;
}

const pageBytes = 4096;

type ProcessFigures = Pick<Sample, "residentMegabytes" | "socketMegabytes" | "descriptors">;

export function processFigures(pid: number): ProcessFigures {
  const kilobytes = Number(/^VmRSS:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  const socketPages = Number(/^TCP: .* mem (\d+)/m.exec(readFileSync("/proc/net/sockstat", "utf8"))?.[1]);
  return {
    residentMegabytes: Math.round(kilobytes / 1024),
    socketMegabytes: Math.round((socketPages * pageBytes) / 1024 ** 2),
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
  };
}

export function latencyFigures(latencies: readonly number[]): { medianMs: number; slowestMs: number } {
  const sorted = latencies.toSorted((one, other) => one - other);
  const round = (number = 0) => Math.round(number * 10) / 10;
  return { medianMs: round(sorted[Math.floor(sorted.length / 2)]), slowestMs: round(sorted.at(-1)) };
}
