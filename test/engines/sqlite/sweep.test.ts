import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Change, PlannedChange, Version } from "../../../src/collection/engine.ts";
import { Survey, Sweep, type SweepLimits } from "../../../src/engines/sqlite/sweep.ts";

const limits: SweepLimits = { obsoleteMin: 4, tombstonesMax: 3, prunedMin: 2 };

/** A log of changes with one writer. `rows` is what a crash at this moment would leave. */
class Log {
  readonly rows = new Map<Version, Change>();
  readonly live = new Map<string, Change>();
  readonly deletions: Version[] = [];
  readonly #limits: SweepLimits;
  sweep: Sweep;
  version = 0;
  /** The value in the store: tombstones (rows of deleted items) up to this version may be missing. */
  prunedThrough = 0;

  constructor(sweepLimits = limits) {
    this.#limits = sweepLimits;
    this.sweep = this.surveyed();
  }

  /** For each step, creates the item if there is none with its ID. Otherwise updates or deletes it. */
  commit(steps: readonly { id: string; remove: boolean }[]): void {
    const changes = steps.map(({ id, remove }) => this.#plan(id, remove));
    const swept = this.sweep.next(changes.length);
    for (const { version, position, id, json } of changes) this.rows.set(version, { version, position, id, json });
    if (swept.length > 0) this.prunedThrough = Math.max(this.prunedThrough, this.sweep.prunedThrough);
    for (const version of swept) this.rows.delete(version);
    this.sweep.committed(changes, swept.length);
  }

  surveyed(): Sweep {
    const survey = new Survey();
    for (const row of this.rows.values()) survey.note(row);
    const sweep = new Sweep(this.#limits);
    sweep.begin(survey);
    return sweep;
  }

  /** What the next start would find: the newest row of each item. */
  read(): Change[] {
    const newest = new Map<Version, Change>();
    for (const row of this.rows.values()) newest.set(row.position, row);
    return [...newest.values()];
  }

  #plan(id: string, remove: boolean): PlannedChange {
    const older = this.live.get(id);
    const version = ++this.version;
    const json = older && remove ? null : `{"n":${version}}`;
    const change = { version, position: older?.position ?? version, id, json, replaces: older?.version };
    if (json === null) {
      this.live.delete(id);
      this.deletions.push(version);
    } else this.live.set(id, change);
    return change;
  }
}

const commit = fc.array(fc.record({ id: fc.constantFrom("a", "b", "c", "d", "e"), remove: fc.boolean() }), {
  minLength: 1,
  maxLength: 3,
});
const step = fc.oneof({ weight: 12, arbitrary: commit }, { weight: 1, arbitrary: fc.constant("restart" as const) });

test("whenever the writer crashes, live items survive, deleted ones stay deleted, and prunedThrough covers every missing tombstone", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80, size: "max" }), (steps) => {
      const log = new Log();
      for (const step of steps) {
        if (step === "restart") log.sweep = log.surveyed();
        else log.commit(step);
        const found = log.read();
        const alive = found.filter(({ json }) => json !== null).map(({ id, version }) => [id, version]);
        expect(alive.sort()).toEqual([...log.live.values()].map(({ id, version }) => [id, version]).sort());
        const missing = log.deletions.filter((version) => !log.rows.has(version));
        expect(missing.filter((version) => version > log.prunedThrough)).toEqual([]);
      }
    }),
    { numRuns: 500 },
  );
});

test("the log has at most a few times as many rows as there are live items, however many changes are written", () => {
  const log = new Log();
  for (let round = 0; round < 1_000; round++)
    log.commit([{ id: "abcdefgh".charAt(round % 8), remove: round % 5 === 0 }]);
  expect(log.rows.size).toBeLessThan(60);
});

test("the example at the top of sweep.ts is correct", () => {
  const log = new Log({ obsoleteMin: 3, tombstonesMax: 1, prunedMin: 1 });
  const commit = (id: string, remove = false) => log.commit([{ id, remove }]);
  commit("a");
  commit("b");
  commit("a");
  commit("b", true);
  commit("c");
  expect(log.sweep.next(1)).toEqual([]);
  commit("c", true);
  expect([...log.rows.keys()]).toEqual([1, 2, 3, 4, 5, 6]);
  expect(log.rows.get(4)).toEqual({ version: 4, position: 2, id: "b", json: null });
  expect(log.sweep.next(1).toSorted()).toEqual([1, 2, 4, 5]);
  expect(log.sweep.prunedThrough).toBe(4);
  commit("d");
  expect([...log.rows.keys()]).toEqual([3, 6, 7]);
  expect(log.prunedThrough).toBe(4);
});

test("a tombstone is kept if another process may have left an older row of its item", () => {
  const sweep = new Sweep({ obsoleteMin: 1, tombstonesMax: 1, prunedMin: 1 });
  sweep.begin(new Survey());
  sweep.missed();
  const deletion = (version: Version, replaces: Version) => ({ version, position: 1, id: "a", json: null, replaces });
  expect(sweep.wantsSurvey).toBe(false);
  sweep.committed([deletion(8, 7)], 0);
  sweep.committed([deletion(10, 9)], 0);
  expect(sweep.rest()).toEqual([7, 9]);
  expect(sweep.prunedThrough).toBe(0);
  expect(sweep.wantsSurvey).toBe(true);
});
