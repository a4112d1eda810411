// Noticing that files have changed. They are looked at, not subscribed to: that works on every file
// system, and for a file that is replaced as well as for one that is rewritten.

import { statSync } from "node:fs";

/** Calls `onChange` whenever one of the files is another than before. Does not keep the process alive. */
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
    // Whatever keeps it from being looked at keeps it from being read; that is for the reader to report.
    return error instanceof Error && "code" in error ? String(error.code) : "unknown";
  }
}
