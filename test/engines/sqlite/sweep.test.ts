import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Change, PlannedChange, Version } from "../../../src/collection/engine.ts";
import { Survey, Sweep } from "../../../src/engines/sqlite/sweep.ts";

const limits = { obsoleteMin: 4, tombstonesMax: 3, prunedMin: 2 };

/** A log of changes with one writer, cut short at every commit as a crash would. */
class Log {
  readonly rows = new Map<Version, Change>();
  readonly live = new Map<string, Change>();
  readonly deletions: Version[] = [];
  sweep = this.surveyed();
  version = 0;
  /** As stored: up to here tombstones may be missing. */
  prunedThrough = 0;

  /** Each ID is toggled: created if it is not there, else updated or deleted. */
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
    const sweep = new Sweep(limits);
    sweep.begin(survey);
    return sweep;
  }

  /** What a start would find: the newest row of each item. */
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

test("whenever the writer crashes, what is live is there, what was deleted stays deleted, and what is missing is admitted", () => {
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

test("the log stays within a few times what is live, however long it is written to", () => {
  const log = new Log();
  for (let round = 0; round < 1_000; round++)
    log.commit([{ id: "abcdefgh".charAt(round % 8), remove: round % 5 === 0 }]);
  expect(log.rows.size).toBeLessThan(60);
});
