// Notices when files change. It polls the files instead of using file system events. Polling works on every file
// system, no matter whether a file is replaced or rewritten.

import { statSync } from "node:fs";

/** Calls `onChange` whenever one of the files has changed. The watch does not keep the process alive. */
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
    // If the file cannot be examined, its stamp is the error code. So `onChange` is called, tries to read the file, and
    // reports the error.
    return error instanceof Error && "code" in error ? String(error.code) : "unknown";
  }
}
