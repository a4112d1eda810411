// Which rows of a log of changes can go, and when. Rows that newer ones have replaced are obsolete;
// tombstones are kept for a while, so that others can learn of the deletion. Knows versions only: the
// engine reads and deletes the rows.

import { type Change, type PlannedChange, tombstonesMax, type Version } from "../../collection/engine.ts";
import { firstIndex } from "../../collection/first-index.ts";

export interface SweepLimits {
  /** A sweep waits for this many obsolete rows, and for as many as are live: it then finds several on each page it touches. */
  readonly obsoleteMin: number;
  /** Tombstones kept for others to learn of. */
  readonly tombstonesMax: number;
  /** Tombstones are pruned at least this many at a time. */
  readonly prunedMin: number;
}

const defaultLimits: SweepLimits = { obsoleteMin: 10_000, tombstonesMax, prunedMin: 1_000 };

/** Rows swept for each change committed: more than one, so that a sweep ends however busy the writers are. */
const sweptPerChange = 4;

export type SurveyedRow = Pick<Change, "version" | "position" | "json">;

/** What a reading of the whole table tells, row by row in order of version. */
export class Survey {
  rowCount = 0;
  readonly obsolete: Version[] = [];
  readonly tombstones: Version[] = [];
  // Most rows are the first of their item, at its own position; an array of those costs a tenth of a map.
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
    return this.#firsts[firstIndex(this.#firsts, (version) => version >= position)] === position;
  }
}

export class Sweep {
  readonly #limits: SweepLimits;
  #rowCount = 0;
  /** Rows that newer rows have replaced. */
  #obsolete: Version[] = [];
  /** The rows of the sweep under way, newest first, so that the oldest can be taken off the end. */
  #sweeping: Version[] = [];
  /** Tombstones whose older rows are all known here, oldest first. */
  #tombstones: Version[] = [];
  /** Whether the whole table was read and every change since was accounted for here. */
  #complete = false;
  /** Tombstones that may have older rows unknown here. */
  #uncertainCount = 0;
  #prunedThrough: Version = 0;

  constructor(limits = defaultLimits) {
    this.#limits = limits;
  }

  /** Changes up to here may be missing a tombstone. To be stored before any row of a sweep is deleted. */
  get prunedThrough(): Version {
    return this.#prunedThrough;
  }

  /** True when so many tombstones cannot be pruned that it is worth reading the table anew. */
  get wantsSurvey(): boolean {
    return this.#uncertainCount >= this.#limits.tombstonesMax;
  }

  /** Starts anew from a reading of the whole table. */
  begin({ rowCount, obsolete, tombstones }: Survey): void {
    this.#rowCount = rowCount;
    this.#obsolete = obsolete;
    this.#sweeping = [];
    this.#tombstones = tombstones;
    this.#complete = true;
    this.#uncertainCount = 0;
  }

  /** Another process has changed the table. What it made obsolete is its own to sweep, but from now on a tombstone may have older rows unknown here. */
  missed(): void {
    this.#complete = false;
  }

  /** The rows to delete together with this many changes. */
  next(changeCount: number): Version[] {
    return changeCount === 0 ? [] : this.#sweeping.slice(-changeCount * sweptPerChange);
  }

  /** All rows that may be deleted, oldest first. */
  rest(): Version[] {
    return [...this.#obsolete, ...this.#sweeping].sort((a, b) => a - b);
  }

  /** These changes are durable now, and so is the deletion of this many rows. */
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

  // A tombstone keeps its item's older rows from coming back to life at the next start, so it must go
  // after them. It does: all of them are obsolete by now, and a sweep goes from old to new.
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
