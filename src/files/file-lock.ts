// A lock file beside the file it guards. Only the process that created the lock file may change the guarded file. The
// lock names its holder, so that we can tell a dead holder from a slow one.

import { closeSync, openSync, readFileSync, rmSync, statSync, writeSync } from "node:fs";
import { hostname } from "node:os";
import { isSystemError } from "./system-reason.ts";

const pollMs = 20;
/** A lock that does not name its holder is still being written. If it is older than this, its writer must have died. */
const unnamedStaleMs = 30_000;
/**
 * We cannot check whether a process on another machine is alive. So a lock from another machine counts as abandoned
 * when it is older than this.
 */
const foreignStaleMs = 300_000;

interface Holder {
  readonly pid: number;
  readonly host: string;
  /** Distinguishes the locks of one process. */
  readonly id: string;
}

/** The IDs of the locks that this process holds. */
const heldHere = new Set<string>();

/** The lock was not free in time. The message says which process holds it, if that is known, and what to do. */
export class FileLocked extends Error {
  override readonly name = "FileLocked";
}

export async function withFileLock<Result>(
  path: string,
  action: () => Result | Promise<Result>,
  waitMs = 10_000,
): Promise<Result> {
  const lock = `${path}.lock`;
  const id = crypto.randomUUID();
  const giveUpAt = performance.now() + waitMs;
  while (!create(lock, `${process.pid} ${hostname()} ${id}\n`)) {
    if (isAbandoned(lock)) breakLock(lock);
    else if (performance.now() > giveUpAt) throw new FileLocked(`${lock}: ${advice(readHolder(lock))}`);
    await Bun.sleep(pollMs);
  }
  heldHere.add(id);
  try {
    return await action();
  } finally {
    rmSync(lock, { force: true });
    heldHere.delete(id);
  }
}

/** Returns false if the file already exists. */
function create(path: string, text: string): boolean {
  let file: number;
  try {
    file = openSync(path, "wx", 0o600);
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  }
  try {
    writeSync(file, text);
  } catch (error) {
    // A lock that does not name its holder would block everybody for `unnamedStaleMs`.
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  return true;
}

// Two processes may both find that a lock is abandoned. The faster one removes it and takes a new lock, which the
// slower one must not remove. So a second file lets only one process at a time check the lock again and remove it.
function breakLock(lock: string): void {
  const guard = `${lock}.breaking`;
  if (!create(guard, "")) {
    if (ageMs(guard) > unnamedStaleMs) rmSync(guard, { force: true });
    return;
  }
  try {
    if (isAbandoned(lock)) rmSync(lock, { force: true });
  } finally {
    rmSync(guard, { force: true });
  }
}

function isAbandoned(lock: string): boolean {
  const holder = readHolder(lock);
  if (!holder) return ageMs(lock) > unnamedStaleMs;
  if (holder.host !== hostname()) return ageMs(lock) > foreignStaleMs;
  // After a container restarts, this process often has the same process ID as the one that died. So a lock with our
  // process ID is ours only if `heldHere` contains the lock's ID.
  return holder.pid === process.pid ? !heldHere.has(holder.id) : !isAlive(holder.pid);
}

/** Undefined if the lock is gone or does not name its holder. */
function readHolder(lock: string): Holder | undefined {
  const [, pid, host, id] = /^([1-9][0-9]*) (\S*) (\S+)\n$/.exec(readIfThere(lock)) ?? [];
  if (pid === undefined || host === undefined || id === undefined) return undefined;
  return { pid: Number(pid), host, id };
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return "";
    throw error;
  }
}

/** The age of a file. 0 if the file is gone. */
function ageMs(path: string): number {
  const made = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  return made === undefined ? 0 : Date.now() - made;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Any other error, such as a missing permission, means that the process exists.
    return !hasCode(error, "ESRCH");
  }
}

function hasCode(error: unknown, code: string): boolean {
  return isSystemError(error) && error.code === code;
}

function advice(holder: Holder | undefined): string {
  if (!holder) return "another process is at work here; delete this file if there is none";
  const isHere = holder.host === hostname();
  const who = `process ${holder.pid} on ${isHere ? "this machine" : holder.host}`;
  const otherwise = isHere ? "that process has nothing to do with todoitems" : "it no longer runs";
  return `${who} is at work here; try again when it has ended, or delete this file if ${otherwise}`;
}
