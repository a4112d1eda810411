// Where in the store's history this engine is, and what has happened from there on. A store can be restored from a
// backup or fail over to a standby that had not received everything. Its history was then cut, and another one
// continues under the same versions; batches tell the two apart.

import type { Bookmark, News } from "../../collection/engine.ts";
import type { ClockAndChanges, Point } from "./postgres-statements.ts";

export class KnownHistory {
  #newest: Point = { epoch: "", version: 0, batch: "" };

  /** The newest point that this engine knows. */
  get newest(): Point {
    return this.#newest;
  }

  /** Notes where the store is. Ignores an answer that a newer one has overtaken. */
  learn({ epoch, version, batch }: Point): void {
    if (epoch === this.#newest.epoch && version < this.#newest.version) return;
    this.#newest = { epoch, version, batch };
  }

  /** Starts from here, whatever was known before. */
  restart({ epoch, version, batch }: Point): void {
    this.#newest = { epoch, version, batch };
  }

  isAt({ epoch, version }: Bookmark): boolean {
    return epoch === this.#newest.epoch && version === this.#newest.version;
  }

  /** Only the newest point has a batch that is known. */
  pointAt(bookmark: Bookmark): Point {
    return { ...bookmark, batch: this.isAt(bookmark) ? this.#newest.batch : "" };
  }
}

/** Undefined if the changes do not lead from the bookmark to now, so that everything must be read. */
export function newsFrom(answer: ClockAndChanges, since: Bookmark): News | undefined {
  const { epoch, version, changes } = answer;
  if (epoch !== since.epoch || !answer.continues || since.version < answer.prunedThrough) return undefined;
  return { epoch, version, whole: false, changes };
}

/**
 * True if the store has the bookmark's epoch but not its history: versions were taken back. Such a store gets a new
 * epoch, so that no client mistakes what it remembers for what is stored.
 */
export function isCut(clock: ClockAndChanges, since: Bookmark): boolean {
  return clock.epoch === since.epoch && !clock.continues;
}

/** What the operator is told if the store has another history; undefined if it has the same. */
export function otherHistoryMessage(since: Bookmark, { epoch, version }: Bookmark): string | undefined {
  if (since.epoch === epoch) return undefined;
  return `The store has another history than this instance knew: it was restored from a backup, replaced, or failed over to a standby that had not everything. This instance was at version ${since.version} of ${since.epoch} and has loaded everything anew, at version ${version} of ${epoch}`;
}
