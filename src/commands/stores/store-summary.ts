// How the commands for stores print sizes, counts and their summary.

import { countOf } from "../output.ts";
import type { StoreSummary } from "./store-writer.ts";

const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];

export function formatBytes(bytes: number): string {
  const power = bytes < 1024 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  return `${Number((bytes / 1024 ** power).toFixed(1))} ${units[power]}`;
}

export function formatCount(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

export function describeSummary({ items, bytes, hash }: StoreSummary, startedAt: number): string {
  const size = bytes === undefined ? [] : [formatBytes(bytes)];
  const seconds = `${Math.max(0.1, (performance.now() - startedAt) / 1_000).toFixed(1)} s`;
  return `${[countOf(items), ...size, seconds].join(", ")}, read back and compared\nHash ${hash}`;
}
