// Warns the operator when the write-ahead log cannot be copied into the store, or grows too long. A warning is
// repeated only if the trouble has passed and comes back.

import { StoreError } from "../../collection/engine.ts";

/**
 * From this size on, we warn if a reader keeps the log from being emptied. From `longBytes` on, we warn in any case.
 */
const heldUpBytes = 16 * 1024 ** 2;
const longBytes = 64 * 1024 ** 2;

export class LogWatch {
  readonly #path: string;
  readonly #warn: (message: string) => void;
  readonly #given = new Set<string>();

  constructor(path: string, warn: (message: string) => void) {
    this.#path = path;
    this.#warn = warn;
  }

  /**
   * Runs `checkpoint`, which must return whether it has copied the whole log. Then warns if necessary. `bytes` is the
   * size of the log.
   */
  runCheckpoint(bytes: number, checkpoint: () => boolean): void {
    const size = `its log has ${Math.round(bytes / 1024 ** 2)} MiB`;
    let isWhole = false;
    let failure: string | undefined;
    try {
      isWhole = checkpoint();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      failure = error.message;
    }
    this.#tell("failed", failure !== undefined, `the log could not be copied into the store, and ${size}: ${failure}`);
    this.#tell(
      "held-up",
      failure === undefined && !isWhole && bytes >= heldUpBytes,
      `another program reads an old state of the store, so the log cannot be emptied, and ${size}. End long transactions of other programs`,
    );
    this.#tell("long", bytes >= longBytes, `${size}. It is emptied once the disk and all readers permit`);
  }

  #tell(trouble: string, isPresent: boolean, message: string): void {
    if (isPresent && !this.#given.has(trouble)) this.#warn(`${this.#path}: ${message}`);
    if (isPresent) this.#given.add(trouble);
    else this.#given.delete(trouble);
  }
}
