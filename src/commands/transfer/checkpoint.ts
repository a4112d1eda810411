// Records how far an import got, in a small file next to the imported file. If the same command is run again, it
// continues from there.

import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { isSystemError, systemReason } from "../../files/system-reason.ts";
import { remark } from "../output.ts";

const saveEveryMs = 1_000;

export interface ImportCounts {
  created: number;
  /** Items that were already stored, with the same content. */
  present: number;
  replaced: number;
  skipped: number;
}

/** An item that an import has dealt with. `epoch` names the history of its store; undefined if the server has none. */
export interface ImportedItem {
  readonly id: string;
  readonly epoch: string | undefined;
}

interface Progress {
  readonly done: number;
  readonly counts: ImportCounts;
  readonly last?: ImportedItem;
}

export class Checkpoint {
  readonly #path: string;
  /**
   * Identifies the import: the server, the size of the file, and the time of its last change. Progress that was saved
   * for another server, or before the file was changed, is ignored.
   */
  readonly #subject: string;
  #savedAt = performance.now();
  /** True if the system has refused to save the progress. */
  #isRefused = false;
  /** How many items, from the beginning of the source, are created, replaced, already present or skipped. */
  done = 0;
  counts: ImportCounts = noCounts();
  /** The last of these items. Undefined if there is none. */
  last: ImportedItem | undefined;

  constructor(source: string, server: string) {
    const { size, mtimeMs } = statSync(source);
    this.#path = `${source}.import-progress`;
    this.#subject = `${server} ${size} ${mtimeMs}`;
    const saved = this.#read();
    if (saved?.subject !== this.#subject) return;
    this.done = saved.done;
    this.counts = saved.counts;
    this.last = saved.last;
  }

  /** Forgets the progress of the last run. */
  startOver(): void {
    this.done = 0;
    this.counts = noCounts();
    this.last = undefined;
  }

  /**
   * Saves at most once a second. After a crash, the items that were stored since the last save are sent again, and the
   * import recognises that they are already stored.
   */
  saveSometimes(): void {
    if (performance.now() - this.#savedAt >= saveEveryMs) this.save();
  }

  /**
   * If the progress cannot be saved, for example because the folder is read-only, warns once. The import goes on,
   * because the next run recognises the items that are already stored.
   */
  save(): void {
    this.#savedAt = performance.now();
    if (this.#isRefused) return;
    const { done, counts, last } = this;
    try {
      writeFileSync(this.#path, JSON.stringify({ subject: this.#subject, done, counts, last }));
    } catch (error) {
      if (!isSystemError(error)) throw error;
      this.#isRefused = true;
      remark(
        `warning: The progress of the import cannot be saved: ${systemReason(error)}. If the import is interrupted, the next run begins with the first item, and stores no item twice. The file would be ${this.#path}`,
      );
    }
  }

  remove(): void {
    if (!this.#isRefused) rmSync(this.#path, { force: true });
  }

  #read(): (Progress & { readonly subject: string }) | undefined {
    try {
      return JSON.parse(readFileSync(this.#path, "utf8"));
    } catch {
      // The file does not exist, cannot be read, or was left incomplete by a crash. Starting over is safe, because no
      // item is stored twice.
      return undefined;
    }
  }
}

export function noCounts(): ImportCounts {
  return { created: 0, present: 0, replaced: 0, skipped: 0 };
}
