// Notices that files have changed. It polls instead of subscribing: that works on every file system, and for a file
// that is replaced as well as for one that is rewritten.

import { statSync } from "node:fs";

/** Calls `onChange` whenever one of the files has changed. Does not keep the process alive. */
export function watchFiles(paths: readonly string[], everyMs: number, onChange: () => void): void {
  let known = stamps(paths);
  const look = () => {
    const current = stamps(paths);
    if (current === known) return;
    known = current;
    onChange();
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
    // If the file cannot be examined it cannot be read either, and the reader reports that.
    return error instanceof Error && "code" in error ? String(error.code) : "unknown";
  }
}
