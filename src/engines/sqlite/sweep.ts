// Decides which rows of the log of changes can be deleted, and when. Knows versions only: the engine reads and
// deletes the rows.
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
// What a tombstone is for: a process at version 3 pulls rows 4 to 6 and learns that b is gone. Without row 4 it would
// keep b forever. And a start that found row 2 but not row 4 would bring b back to life.
//
// When a sweep starts: after a commit, if enough rows are obsolete (here 3, and as many as are live) or if there are
// enough tombstones too many (here 1). The commit of row 6 starts one, and it chooses the obsolete rows 1, 2 and 5 and
// the oldest tombstone, row 4. Now `prunedThrough` is 4: a bookmark before version 4 gets the whole store, because
// row 4, which tells that b was deleted, will be missing.
//
// What a commit deletes: up to 4 of the chosen rows for each of its changes, oldest first, in the same transaction.
// The commit of row 7 deletes rows 1, 2, 4 and 5; what remains is 3, 6 and 7. Oldest first means that row 2 never
// outlives row 4, whenever the process crashes.
//
// With two processes: another process updates a as row 7, so row 3 is its own to sweep, but it crashes. This process
// deletes a as row 8, which replaces row 7. Row 3 is still there, and this process does not know. If it pruned
// tombstone 8 one day, row 3 would come back to life. So once another process has committed, new tombstones are
// uncertain. They are kept until there are so many that a survey of the whole table is worth its time.

import { firstIndexWhere } from "../../collection/binary-search.ts";
import { type Change, type PlannedChange, tombstonesMax, type Version } from "../../collection/engine.ts";

export interface SweepLimits {
  /** A sweep waits for this many obsolete rows, and for as many as are live. It then finds several on each page. */
  readonly obsoleteMin: number;
  /** How many tombstones are kept, for other processes and clients to learn of the deletion. */
  readonly tombstonesMax: number;
  /** Tombstones are pruned at least this many at a time. */
  readonly prunedMin: number;
}

const defaultLimits: SweepLimits = { obsoleteMin: 10_000, tombstonesMax, prunedMin: 1_000 };

/** Rows deleted for each change committed. More than one, so that a sweep ends however busy the writers are. */
const sweptPerChange = 4;

export type SurveyedRow = Pick<Change, "version" | "position" | "json">;

/** Finds the obsolete rows and the tombstones of the whole table. Note every row, in order of version. */
export class Survey {
  rowCount = 0;
  readonly obsolete: Version[] = [];
  readonly tombstones: Version[] = [];
  // Most rows are the first of their item, so that version and position are equal. An array of those takes a tenth
  // of the memory of a map.
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
  /** Rows that newer rows have replaced, and that no sweep has chosen yet. */
  #obsolete: Version[] = [];
  /** The chosen rows that are not deleted yet, newest first, so that the oldest can be taken off the end. */
  #sweeping: Version[] = [];
  /** Tombstones whose older rows are all known, oldest first. */
  #tombstones: Version[] = [];
  /** True if the whole table was read and no other process has changed it since. */
  #complete = false;
  /** How many tombstones may have older rows that are not known. */
  #uncertainCount = 0;
  #prunedThrough: Version = 0;

  constructor(limits = defaultLimits) {
    this.#limits = limits;
  }

  /** Tombstones up to this version may be missing. Store it before any row is deleted. */
  get prunedThrough(): Version {
    return this.#prunedThrough;
  }

  /** True if so many tombstones are uncertain that it is worth reading the whole table. */
  get wantsSurvey(): boolean {
    return this.#uncertainCount >= this.#limits.tombstonesMax;
  }

  /** Starts from what a survey has found. */
  begin({ rowCount, obsolete, tombstones }: Survey): void {
    this.#rowCount = rowCount;
    this.#obsolete = obsolete;
    this.#sweeping = [];
    this.#tombstones = tombstones;
    this.#complete = true;
    this.#uncertainCount = 0;
  }

  /** Another process has changed the table. It sweeps what it has made obsolete, but new tombstones are uncertain. */
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

  /** Call this once these changes are durable, and with them the deletion of this many rows. */
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

  // A tombstone must not be deleted before the older rows of its item. It is not: they are all obsolete by now, so
  // this sweep or an earlier one has chosen them, and a sweep deletes the oldest first.
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
