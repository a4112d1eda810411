// One process at a time: whoever makes the lock file may change what it guards. A lock left behind by a
// process that died is broken after a while.

import { closeSync, openSync, rmSync, statSync } from "node:fs";

const waitMs = 10_000;
const staleMs = 30_000;

export async function withFileLock<Result>(path: string, action: () => Result | Promise<Result>): Promise<Result> {
  const lock = `${path}.lock`;
  const giveUpAt = performance.now() + waitMs;
  while (!tryLock(lock)) {
    if (performance.now() > giveUpAt)
      throw new Error(`${lock}: another process is at work here; delete this file if there is none`);
    await Bun.sleep(20);
  }
  try {
    return await action();
  } finally {
    rmSync(lock, { force: true });
  }
}

function tryLock(lock: string): boolean {
  try {
    closeSync(openSync(lock, "wx", 0o600));
    return true;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    const made = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - made > staleMs) rmSync(lock, { force: true });
    return false;
  }
}
