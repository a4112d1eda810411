// How far this engine has followed the store's history, and whether the store still has that history. A store can be
// restored from a backup, or fail over to a standby that had not received everything. Its history is then cut: the
// newest versions are gone, and new commits use the same version numbers again. The lost versions and the new ones can
// be told apart by the names of their batches.

import type { Bookmark, News } from "../../collection/engine.ts";
import type { Sql } from "./postgres-session.ts";
import { type ClockAndChanges, type Point, readChanges } from "./postgres-statements.ts";

export class KnownHistory {
  #newest: Point = { epoch: "", version: 0, batch: "" };
  /**
   * The epochs that are over. An epoch is the name of a history. If the store has one of these names again, it was
   * rolled back.
   */
  readonly #left = new Set<string>();

  get newest(): Point {
    return this.#newest;
  }

  /**
   * Notes how far the store has come. Ignores a point of the same epoch that is not newer than the newest known point.
   * Also ignores a point of an epoch that is over: the answer to a commit may arrive after a pull has loaded another
   * epoch.
   */
  learn({ epoch, version, batch }: Point): void {
    if (this.hasLeft(epoch)) return;
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

  /** Notes that this epoch, the name of a history, is over: the store was rolled back, or already has another epoch. */
  leave(epoch: string): void {
    this.#left.add(epoch);
  }

  hasLeft(epoch: string): boolean {
    return this.#left.has(epoch);
  }

  /**
   * True if the store was rolled back. There are two signs. The first sign: the store has an epoch again that was
   * already over. The second sign, `continues` is false: the bookmark or the newest known point has the same epoch as
   * the store, but the store's history lacks that point. A store that was rolled back gets a new epoch, so that no
   * client takes its remembered state to be current.
   *
   * `continues` is about both points, because it is not enough to check the bookmark alone. A commit may start from a
   * bookmark of an older epoch. If a pull has loaded a newer epoch since, only the newest known point shows that this
   * newer epoch was rolled back.
   */
  isCut({ epoch, continues }: ClockAndChanges): boolean {
    return this.hasLeft(epoch) || !continues;
  }

  /**
   * Adds the name of the batch that led to the bookmark. The name is "" (unknown) unless the bookmark is at the newest
   * known point.
   */
  pointAt(bookmark: Bookmark): Point {
    return { ...bookmark, batch: this.isAt(bookmark) ? this.#newest.batch : "" };
  }
}

/**
 * Reads the changes since a point, for a pull. The same query checks that the history still contains the newest known
 * point. Another query or commit may replace that point in the meantime. Then the new point is unchecked, so the query
 * is sent again.
 *
 * There is one exception: the new point has the same epoch as the answer and is at least as new. Then `learn` ignores
 * the answer, and the next pull checks the new point. Without the exception, an instance that commits all the time
 * would send the query forever.
 */
export async function readNews(
  sql: Sql,
  known: KnownHistory,
  since: () => Point,
  onFirst: () => void,
): Promise<ClockAndChanges> {
  for (;;) {
    const { newest } = known;
    const answer = await readChanges(sql, since(), newest, onFirst);
    const isOvertaken = known.newest.epoch !== answer.epoch || known.newest.version < answer.version;
    if (known.newest === newest || !isOvertaken) return answer;
  }
}

/**
 * The changes since the bookmark. Undefined if the answer does not lead from the bookmark to the current state, so
 * that the whole store must be read.
 */
export function newsFrom(answer: ClockAndChanges, since: Bookmark): News | undefined {
  const { epoch, version, changes } = answer;
  if (epoch !== since.epoch || !answer.continues || since.version < answer.prunedThrough) return undefined;
  return { epoch, version, changes };
}

/** The message for the operator if the store has a different history. */
export function otherHistoryMessage(since: Bookmark, { epoch, version }: Bookmark): string {
  return `The store has another history than this instance knew: it was restored from a backup, replaced, or failed over to a standby that lacked the latest changes. This instance was at version ${since.version} of ${since.epoch} and has loaded everything again, at version ${version} of ${epoch}`;
}
