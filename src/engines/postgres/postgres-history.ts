// How far this engine has followed the store's history, and whether the store still has that history. A store can be
// restored from a backup, or fail over to a standby that had not received everything. Its history is then cut: the
// newest versions are gone, and new commits use the same version numbers again. The lost versions and the new ones can
// be told apart by the names of their batches.
// Why: docs/decisions/0023-split-histories.md

import type { Bookmark, News } from "../../collection/engine.ts";
import type { Sql } from "./postgres-session.ts";
import { type ClockAndChanges, nowhere, type Point, readChanges } from "./postgres-statements.ts";

export class KnownHistory {
  #newest: Point = nowhere;
  /** The epochs that are over. If the store has one of them again, it was rolled back. */
  readonly #left = new Set<string>();
  readonly #canRename: boolean;

  /** `canRename` is false for an engine that cannot give the store a new epoch, because it may not write. */
  constructor(canRename: boolean) {
    this.#canRename = canRename;
  }

  get newest(): Point {
    return this.#newest;
  }

  /**
   * Notes how far the store has come. Ignores a point of the same epoch that is not newer than the newest known point.
   * Also ignores a point of an epoch that is over: the answer to a commit may arrive after another epoch was loaded.
   */
  learn({ epoch, version, batch }: Point): void {
    if (this.#left.has(epoch)) return;
    if (epoch === this.#newest.epoch && version <= this.#newest.version) return;
    this.#newest = { epoch, version, batch };
  }

  /** Makes this the newest known point, even if a later point was known before. */
  restart({ epoch, version, batch }: Point): void {
    this.#newest = { epoch, version, batch };
  }

  isAt({ epoch, version }: Bookmark): boolean {
    return epoch === this.#newest.epoch && version === this.#newest.version;
  }

  /** True if this point has the epoch, the version and the batch of the newest known point. */
  isNewest(point: Point): boolean {
    return this.isAt(point) && point.batch === this.#newest.batch;
  }

  /**
   * Notes that the epoch `old` is over if the store has another one. Returns true if the store was rolled back, so that
   * it needs a new epoch: otherwise clients would take their remembered state to be current. There are two signs. The
   * store has an epoch again that was already over. Or `continues` is false: the store's history lacks the newest known
   * point. An epoch that was rolled back is over, even if the store loses its new epoch again.
   */
  isCut({ epoch, continues }: ClockAndChanges, old: string): boolean {
    if (!this.#canRename) return !continues;
    if (epoch !== old) this.#left.add(old);
    if (!continues) this.#left.add(epoch);
    return this.#left.has(epoch);
  }

  /**
   * The changes since the bookmark. Undefined if the answer does not lead from the bookmark to the current state, so
   * that the whole store must be read.
   */
  newsFrom(answer: ClockAndChanges, since: Bookmark): News | undefined {
    const { epoch, version, prunedThrough, changes } = answer;
    if (this.isCut(answer, since.epoch) || epoch !== since.epoch) return undefined;
    return since.version < prunedThrough || since.version > version ? undefined : { epoch, version, changes };
  }

  /**
   * Reads the changes since a bookmark. The same query checks that the history still contains the newest known point.
   * Another query or commit may replace that point in the meantime. Then the new point is unchecked, so the query is
   * sent again, unless `isUnharmed` says that the answer can be used all the same.
   */
  async read(
    sql: Sql,
    since: Bookmark,
    isUnharmed: (answer: ClockAndChanges) => boolean,
    onFirst?: () => void,
  ): Promise<ClockAndChanges> {
    for (;;) {
      const newest = this.#newest;
      const answer = await readChanges(sql, since, newest, onFirst);
      if (this.#newest === newest || isUnharmed(answer)) return answer;
    }
  }
}
