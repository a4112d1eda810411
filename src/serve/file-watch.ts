// Reads files again when they change. It polls the files instead of using file system events. Polling works on every file
// system, no matter whether a file is replaced or rewritten.

import { statSync } from "node:fs";
import type { Log } from "../http/log.ts";
import { explainFixable } from "./advice.ts";

const everyMs = 1_000;

/**
 * Calls `read` whenever one of the files has changed. If it throws an error that the operator can fix, logs it: what was
 * read before stays in use. The watch does not keep the process alive.
 */
export function readOnChange(what: string, paths: readonly string[], read: () => void, log: Log): void {
  let known = stamps(paths);
  const look = () => {
    const current = stamps(paths);
    if (current === known) return;
    known = current;
    try {
      read();
      log("info", `${paths[0]}: the ${what} was read again`);
    } catch (error) {
      const reason = explainFixable(error);
      if (reason === undefined) throw error;
      log("error", `The old ${what} stays in use: ${reason}`);
    }
  };
  setInterval(look, everyMs).unref();
}

function stamps(paths: readonly string[]): string {
  return paths.map(stampOf).join("; ");
}

function stampOf(path: string): string {
  try {
    const { ino, mtimeMs, size } = statSync(path);
    return `${ino} ${mtimeMs} ${size}`;
  } catch (error) {
    // If the file cannot be examined, its stamp is the error code. So `read` is called, tries to read the file, and
    // reports the error.
    return error instanceof Error && "code" in error ? String(error.code) : "unknown";
  }
}
