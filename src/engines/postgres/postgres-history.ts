// How far this engine has followed the store's history, and whether the store still has that history. A store can be
// restored from a backup, or fail over to a standby that had not received everything. Its history is then cut: the
// newest commits are gone, and new ones raise the clock to the same numbers again. The lost commits and the new ones
// can be told apart by the names of their batches.
// Why: docs/decisions/0023-split-histories.md

import type { News, StoreState } from "../../collection/engine.ts";
import type { Sql } from "./postgres-session.ts";
import {
  type ClockAndChanges,
  isSamePoint,
  type Moment,
  nowhere,
  type Point,
  readChanges,
} from "./postgres-statements.ts";

export class KnownHistory {
  #newest: Point = nowhere;
  /**
   * The points at which lists or names were read, or to which late commits led, unless a later query has found that the
   * history contains them.
   */
  #unchecked: readonly Point[] = [];
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

  /** What a query has to look for. If the history lacks one of these points, it was cut. */
  get points(): readonly Point[] {
    return [this.#newest, ...this.#unchecked];
  }

  /**
   * Notes how far the store has come. Ignores a point of the same epoch that is not newer than the newest known point.
   * Also ignores a point of an epoch that is over: the answer to a commit may arrive after another epoch was loaded.
   */
  learn(point: Point & Partial<Moment>): void {
    const { epoch, clock } = point;
    if (this.#left.has(epoch)) return;
    if (epoch !== this.#newest.epoch || clock > this.#newest.clock) this.restart(point);
    else {
      this.#settle(point);
      // The answer to a commit of this instance came late. The store may have lost the commit since, and with it what the
      // collection is about to show.
      if (!point.checked) this.note(point);
    }
  }

  /** Makes this the newest known point, even if a later point was known before. */
  restart(point: Point & Partial<Moment>): void {
    const { epoch, clock, batch } = point;
    this.#newest = { epoch, clock, batch };
    this.#settle(point);
  }

  #settle(point: Point & Partial<Moment>): void {
    const { checked = [] } = point;
    this.#unchecked = this.#unchecked.filter((other) => !checked.includes(other) && !isSamePoint(other, point));
  }

  /**
   * Notes that a list, or the names of lists, were read at this moment, or that a commit led to it. The collection gets
   * to the same point later, with `pull`. If the store has lost that point by then, everything must be read again.
   */
  note({ epoch, clock, batch, checked = [] }: Point & Partial<Moment>): void {
    const point = { epoch, clock, batch };
    if (![...checked, ...this.points].some((other) => isSamePoint(other, point)))
      this.#unchecked = [...this.#unchecked, point];
  }

  /** True if a batch that was decided on this state can be stored without a look at the history. */
  isAt({ epoch, clock }: StoreState): boolean {
    return epoch === this.#newest.epoch && clock === this.#newest.clock && this.#unchecked.length === 0;
  }

  /** True if this is the newest known point, and if the history is known to contain everything that was read. */
  isNewest(point: Point): boolean {
    return isSamePoint(point, this.#newest) && this.#unchecked.length === 0;
  }

  /**
   * Notes that the epoch `old` is over if the store has another one. Returns true if the store was rolled back, so that
   * it needs a new epoch: otherwise clients would take their remembered state to be current. There are two signs. The
   * store has an epoch again that was already over. Or `continues` is false: the store's history lacks a point that this
   * engine has seen. An epoch that was rolled back is over, even if the store loses its new epoch again.
   */
  isCut({ epoch, continues }: Moment, old: string): boolean {
    if (!this.#canRename) return !continues;
    if (epoch !== old) this.#left.add(old);
    if (!continues) this.#left.add(epoch);
    return this.#left.has(epoch);
  }

  /**
   * The changes since a state. Undefined if the answer does not lead from there to the current state, so that every list
   * must be loaded again.
   */
  newsFrom(answer: ClockAndChanges, since: StoreState): News | undefined {
    const { state, prunedThrough, lists } = answer;
    if (this.isCut(answer, since.epoch) || state.epoch !== since.epoch) return undefined;
    return since.clock < prunedThrough || since.clock > state.clock ? undefined : { state, lists };
  }

  /**
   * Reads the changes since a state. The same query checks that the history still contains the points that are known.
   * Another query or commit may add a point in the meantime. That point is unchecked, so the query is sent again, unless
   * `isUnharmed` says that the answer can be used all the same.
   */
  async read(
    sql: Sql,
    since: Omit<Point, "batch">,
    isUnharmed: (answer: ClockAndChanges, added: Point) => boolean,
    onFirst = () => {},
  ): Promise<ClockAndChanges> {
    for (;;) {
      const { points } = this;
      const answer = await readChanges(sql, since, { points, onFirst });
      if (this.points.every((point) => points.includes(point) || isUnharmed(answer, point))) return answer;
    }
  }
}
