// How many connections may be open. The runtime does not count them, so the process's open files are
// counted, of which a connection is one, once a second. Over the limit, idle connections are closed and
// requests are refused until there is room again; connections that have not sent a whole head are closed
// by the runtime after 12 s.

import { readdirSync } from "node:fs";

/** Lists this process's open files on Linux and macOS; elsewhere there is no limit but the system's. */
const openFilesFolder = "/dev/fd";
const lookEveryMs = 1_000;

export class ConnectionLimit {
  readonly #max: number;
  readonly #closeIdle: () => void;
  readonly #filesAtStart = countOpenFiles();
  readonly #timer: ReturnType<typeof setInterval>;
  #exceeded = false;

  constructor(max: number, closeIdle: () => void) {
    this.#max = max;
    this.#closeIdle = closeIdle;
    this.#timer = setInterval(() => this.#look(), lookEveryMs);
    this.#timer.unref();
  }

  get exceeded(): boolean {
    return this.#exceeded;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    this.#exceeded = countOpenFiles() - this.#filesAtStart > this.#max;
    if (this.#exceeded) this.#closeIdle();
  }
}

function countOpenFiles(): number {
  return process.platform === "win32" ? 0 : readdirSync(openFilesFolder).length;
}
