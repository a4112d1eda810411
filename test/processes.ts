// Reads the processes of this machine from Linux's /proc.

import { describe } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";

/**
 * Like `describe`, but skipped on systems other than Linux. It is for tests that look at processes, which only Linux
 * lists as files.
 */
export const onLinux = process.platform === "linux" ? describe : describe.skip;

function childrenOf(pid: number): number[] {
  const numbers = readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name));
  return numbers.map(Number).filter((child) => parentOf(child) === pid);
}

export function descendantsOf(pid: number): number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
}

export function isAlive(pid: number): boolean {
  return parentOf(pid) !== undefined;
}

function parentOf(pid: number): number | undefined {
  try {
    return Number(/^PPid:\s*([0-9]+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  } catch (error) {
    // The process has ended. Its folder is gone or can no longer be read.
    if (error instanceof Error && "code" in error) return undefined;
    throw error;
  }
}
