// What is measured once a second, and how it is kept: as CSV, and as a chart.

import { readdirSync, readFileSync } from "node:fs";
import { lineChart } from "../../bench/chart.ts";

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

export function csvOf(samples: readonly Sample[]): string {
  const [first] = samples;
  if (!first) return "";
  return [Object.keys(first).join(), ...samples.map((sample) => Object.values(sample).join())].join("\n").concat("\n");
}

export function chartOf(samples: readonly Sample[], command: string): string {
  const seconds = samples.map(({ second }) => second);
  const series = (label: string, value: (sample: Sample) => number) => ({ label, values: samples.map(value) });
  return lineChart("Memory, descriptors and latency under load", command, seconds, [
    {
      title: "memory, MB",
      series: [
        series("of the process", ({ residentMegabytes }) => residentMegabytes),
        series("of the kernel for TCP", ({ socketMegabytes }) => socketMegabytes),
      ],
    },
    {
      title: "open",
      series: [
        series("descriptors", ({ descriptors }) => descriptors),
        series("idle connections", ({ idle }) => idle),
        series("feeds", ({ feed }) => feed),
        series("slow readers", ({ slow }) => slow),
      ],
    },
    {
      title: "time to an answer, ms",
      series: [series("slowest", ({ slowestMs }) => slowestMs), series("median", ({ medianMs }) => medianMs)],
    },
  ]);
}
