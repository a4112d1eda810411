// Decides which rows of the log of changes can be deleted, and when. This module works with versions only; the engine
// reads and deletes the rows.
//
// An example, with limits of 3 obsolete rows (`obsoleteMin`) and 1 tombstone (`tombstonesMax`, `prunedMin`). Six
// commits of one change each have left this log:
//
//   version  position  id  json
//         1         1  a   {"n":1}   obsolete: row 3 has replaced it
//         2         2  b   {"n":2}   obsolete: row 4 has replaced it
//         3         1  a   {"n":3}   live
//         4         2  b   null      tombstone: b was deleted
//         5         5  c   {"n":5}   obsolete: row 6 has replaced it
//         6         5  c   null      tombstone: c was deleted
//
// What a tombstone is for: a process at version 3 reads rows 4 to 6 and learns that b is gone. Without row 4 it would
// keep b forever. And a process that starts and finds row 2 but not row 4 would bring b back to life.
//
// When a sweep starts: after a commit, if enough rows are obsolete (here at least 3, and at least as many as are live),
// or if the limit of tombstones is exceeded by enough (here 1). The commit of row 6 starts a sweep. It chooses the
// obsolete rows 1, 2 and 5 and the oldest tombstone, row 4. Now `prunedThrough` is 4: whoever asks for the changes
// since a version before 4 gets the whole store, because row 4, which says that b was deleted, will be missing.
//
// What a commit deletes: up to 4 of the chosen rows for each of its changes, oldest first, in the same transaction.
// The commit of row 7 deletes rows 1, 2, 4 and 5, so rows 3, 6 and 7 remain. Because the oldest rows go first, row 2
// never outlives row 4, no matter when the process crashes.
//
// With two processes: suppose that another process updates item a, as row 7. Row 3 is now obsolete. The other process
// should delete row 3, but it crashes. This process then deletes item a, as row 8. It knows that row 8 replaces row 7,
// but not that row 3 is still there. If it later pruned tombstone 8, row 3 would bring item a back to life. So once
// another process has committed, new tombstones are uncertain. They are kept until there are so many that it is worth
// reading the whole table in a survey.

import { firstIndexWhere } from "../../collection/binary-search.ts";
import { type Change, type PlannedChange, tombstonesMax, type Version } from "../../collection/engine.ts";

export interface SweepLimits {
  /**
   * A sweep deletes obsolete rows. It starts once there are at least this many obsolete rows, and at least as many
   * obsolete rows as live rows. By then each page contains several obsolete rows, so deleting them touches fewer pages.
   * If tombstones must be pruned, the sweep starts earlier.
   */
  readonly obsoleteMin: number;
  /**
   * How many tombstones (rows that mark deleted items) are kept, so that other processes and clients learn of
   * deletions.
   */
  readonly tombstonesMax: number;
  /** Tombstones are deleted only once there are at least this many more than `tombstonesMax`. */
  readonly prunedMin: number;
}

const defaultLimits: SweepLimits = { obsoleteMin: 10_000, tombstonesMax, prunedMin: 1_000 };

/**
 * How many of the chosen rows are deleted per committed change. More than one, so that all of them are deleted soon,
 * even if writers are busy.
 */
const sweptPerChange = 4;

type SurveyedRow = Pick<Change, "version" | "position" | "json">;

/**
 * Finds the obsolete rows and the tombstones (rows that mark deleted items) of the whole table. Call `note` for every
 * row, in order of version.
 */
export class Survey {
  rowCount = 0;
  readonly obsolete: Version[] = [];
  readonly tombstones: Version[] = [];
  // Most rows are the first of their item, so their version equals their position. An array of these versions takes
  // a tenth of the memory that a map would take.
  readonly #firsts: Version[] = [];
  readonly #latest = new Map<Version, Version>();

  note({ version, position, json }: SurveyedRow): void {
    this.rowCount++;
    if (version === position) {
      this.#firsts.push(version);
      return;
    }
    const older = this.#latest.get(position) ?? (this.#hasFirst(position) ? position : undefined);
    if (older !== undefined) this.obsolete.push(older);
    if (json === null) this.tombstones.push(version);
    this.#latest.set(position, version);
  }

  #hasFirst(position: Version): boolean {
    return this.#firsts[firstIndexWhere(this.#firsts, (version) => version >= position)] === position;
  }
}

export class Sweep {
  readonly #limits: SweepLimits;
  #rowCount = 0;
  /** Rows that newer rows have replaced, and that have not been chosen for deletion yet. */
  #obsolete: Version[] = [];
  /**
   * The rows that were chosen for deletion but are not deleted yet. Newest first, so that the oldest can be taken off
   * the end.
   */
  #sweeping: Version[] = [];
  /** Tombstones of items whose older rows are all known, oldest first. */
  #tombstones: Version[] = [];
  /** True if the whole table was read and no other process has changed it since. */
  #complete = false;
  /** The number of uncertain tombstones: their items might still have older rows that this process does not know. */
  #uncertainCount = 0;
  #prunedThrough: Version = 0;

  constructor(limits = defaultLimits) {
    this.#limits = limits;
  }

  /** Tombstones up to this version may be missing. Store this version before you delete any row. */
  get prunedThrough(): Version {
    return this.#prunedThrough;
  }

  /**
   * True if it is worth reading the whole table, because very many tombstones are uncertain: their items might still
   * have older rows that this process does not know.
   */
  get wantsSurvey(): boolean {
    return this.#uncertainCount >= this.#limits.tombstonesMax;
  }

  /** Starts again from the findings of a survey, which has read the whole table. */
  begin({ rowCount, obsolete, tombstones }: Survey): void {
    this.#rowCount = rowCount;
    this.#obsolete = obsolete;
    this.#sweeping = [];
    this.#tombstones = tombstones;
    this.#complete = true;
    this.#uncertainCount = 0;
  }

  /**
   * Call this if another process has changed the table. From then on, an item that this process deletes might still
   * have older rows that this process does not know. So its tombstone counts as uncertain.
   */
  missed(): void {
    this.#complete = false;
  }

  /** The rows to delete in a commit of this many changes. */
  next(changeCount: number): Version[] {
    return changeCount === 0 ? [] : this.#sweeping.slice(-changeCount * sweptPerChange);
  }

  /** All rows that may be deleted, oldest first. */
  rest(): Version[] {
    return [...this.#obsolete, ...this.#sweeping].sort((a, b) => a - b);
  }

  /** Call this when the commit that stored these changes and deleted `sweptCount` rows is durable. */
  committed(changes: readonly PlannedChange[], sweptCount: number): void {
    for (const { version, json, replaces } of changes) {
      if (json === null && this.#complete) this.#tombstones.push(version);
      else if (json === null) this.#uncertainCount++;
      if (replaces !== undefined) this.#obsolete.push(replaces);
    }
    this.#rowCount += changes.length - sweptCount;
    this.#sweeping.length -= sweptCount;
    if (this.#sweeping.length === 0) this.#start();
  }

  // Chooses rows for deletion. A tombstone must not be deleted before the older rows of its item. Earlier sweeps have
  // deleted these rows, or they are obsolete and are chosen here too. Chosen rows are deleted oldest first.
  #start(): void {
    const { obsoleteMin, tombstonesMax, prunedMin } = this.#limits;
    const excess = this.#tombstones.length - tombstonesMax;
    const canPrune = excess >= prunedMin;
    const liveCount = this.#rowCount - this.#obsolete.length - this.#tombstones.length - this.#uncertainCount;
    if (!canPrune && this.#obsolete.length < Math.max(obsoleteMin, liveCount)) return;
    const pruned = canPrune ? this.#tombstones.splice(0, excess) : [];
    this.#prunedThrough = pruned.at(-1) ?? this.#prunedThrough;
    this.#sweeping = [...this.#obsolete, ...pruned].sort((a, b) => b - a);
    this.#obsolete = [];
  }
}
