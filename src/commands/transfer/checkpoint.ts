// How far an import got, in a small file beside its source, so that the same command run again goes on from there.

import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";

const saveEveryMs = 1_000;

export interface ImportCounts {
  created: number;
  /** The same item was there already. */
  present: number;
  replaced: number;
  skipped: number;
}

export class Checkpoint {
  readonly #path: string;
  /** What the numbers are about: another file, or another server, starts from the beginning. */
  readonly #subject: string;
  #savedAt = performance.now();
  /** Items of the source that need not be looked at again. */
  done = 0;
  counts: ImportCounts = { created: 0, present: 0, replaced: 0, skipped: 0 };

  constructor(source: string, server: string) {
    const { size, mtimeMs } = statSync(source);
    this.#path = `${source}.import-progress`;
    this.#subject = `${server} ${size} ${mtimeMs}`;
    const saved = this.#read();
    if (saved?.subject !== this.#subject) return;
    this.done = saved.done;
    this.counts = saved.counts;
  }

  /** Saves now and then; what was done since is recognised when it is met again. */
  saveSometimes(): void {
    if (performance.now() - this.#savedAt >= saveEveryMs) this.save();
  }

  save(): void {
    this.#savedAt = performance.now();
    const { done, counts } = this;
    writeFileSync(this.#path, JSON.stringify({ subject: this.#subject, done, counts }));
  }

  remove(): void {
    rmSync(this.#path, { force: true });
  }

  #read(): { subject: string; done: number; counts: ImportCounts } | undefined {
    try {
      return JSON.parse(readFileSync(this.#path, "utf8"));
    } catch {
      // Not there, or cut off by a crash: starting over is always right, since nothing is stored twice.
      return undefined;
    }
  }
}
