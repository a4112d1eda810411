// Tests the contract of src/collection/engine.ts on every engine.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  type Change,
  type Engine,
  type PlannedChange,
  pagesOf,
  type StoreState,
  type Version,
} from "../../src/collection/engine.ts";
import { rootList } from "../../src/collection/list-key.ts";
import { batchOf, stateAfter } from "./batch-of.ts";
import { engineKinds, type TestStore } from "./engine-kinds.ts";
import { latest, latestOf, liveItems, readWhole, stored } from "./latest-changes.ts";

const created = (version: Version, json = `{"n":${version}}`): PlannedChange => ({
  version,
  position: version,
  id: `id-${version}`,
  json,
  replaces: undefined,
});
const updated = (version: Version, older: Change): PlannedChange => ({
  ...older,
  version,
  json: `{"n":${version}}`,
  replaces: older.version,
});
const deleted = (version: Version, older: Change): PlannedChange => ({
  ...older,
  version,
  json: null,
  replaces: older.version,
});

for (const kind of engineKinds) {
  describe(`an engine [${kind.name}]`, () => {
    const { tombstonesMax } = kind.limits;
    let store: TestStore;
    let engine: Engine;
    let state: StoreState;
    /** The version that the root list has reached. */
    let version: Version;

    beforeEach(async () => {
      store = await kind.createStore();
      engine = await store.open();
      state = await engine.state();
      version = 0;
    });

    afterEach(async () => {
      await engine.close();
      await store.dispose();
    });

    async function commit(...changes: PlannedChange[]): Promise<void> {
      expect(await engine.commit(batchOf(state, () => changes))).toBe(true);
      state = stateAfter(state, changes);
      version = changes.at(-1)?.version ?? version;
    }

    test("starts with an epoch, version 0 and no items", async () => {
      expect(state).toMatchObject({ clock: 0, itemCount: 0, byteCount: 0 });
      expect(state.epoch).toMatch(/^[0-9a-f]{16}$/);
      const whole = await readWhole(engine);
      expect(whole).toMatchObject({ storeEpoch: state.epoch, version: 0, prunedThrough: 0, changes: [] });
    });

    test("gives every store an epoch of its own", async () => {
      const other = await kind.createStore();
      const otherEngine = await other.open();
      expect((await otherEngine.state()).epoch).not.toBe(state.epoch);
      await otherEngine.close();
      await other.dispose();
    });

    test("loads the latest change of each item, tombstones included", async () => {
      const [one, two, three] = [created(1), created(2), created(3)];
      await commit(one, two, three);
      await commit(updated(4, one), deleted(5, two));
      const whole = await readWhole(engine);
      expect(whole.version).toBe(5);
      expect(whole.changes.map(stored)).toEqual([stored(three), stored(updated(4, one)), stored(deleted(5, two))]);
    });

    test("pulls nothing if nobody else has committed, and says if a state is of another history", async () => {
      await commit(created(1), created(2));
      expect(latest(await engine.pull(state))).toEqual([]);
      expect(await engine.pull({ ...state, epoch: "another" })).toBeUndefined();
    });

    test("decides a batch on the newest state, and tells it what was missed", async () => {
      const before = state;
      await commit(created(1));
      await engine.commit(
        batchOf(state, (news) => {
          expect(news).toBeUndefined();
          return [];
        }),
      );
      if (!kind.isShared) return;
      let missed: Change[] | undefined;
      await engine.commit(
        batchOf(before, (news) => {
          missed = news && latest(news);
          return [];
        }),
      );
      expect(missed).toEqual([stored(created(1))]);
    });

    test("stores nothing if a batch throws while it decides, and passes the error on", async () => {
      await commit(created(1));
      const failure = new Error("a defect in the batch");
      const attempt = engine.commit(
        batchOf(state, () => {
          throw failure;
        }),
      );
      await expect(attempt).rejects.toBe(failure);
      expect((await readWhole(engine)).version).toBe(1);
      await commit(created(2));
      expect(await liveItems(engine)).toHaveLength(2);
    });

    test("does not count its own commits as news", async () => {
      await commit(created(1));
      expect(await engine.hasNews()).toBe(false);
    });

    test("keeps the lists apart, and says which of them have items", async () => {
      const inList = async (list: string, hasItems: boolean | undefined, ...changes: PlannedChange[]) => {
        const { lists, state: after } = batchOf(state, () => changes, list).decide(undefined);
        const next = { ...after, itemCount: 3, byteCount: 40, listsMark: after.clock };
        const plan = { lists: lists.map((planned) => ({ ...planned, hasItems })), state: next };
        expect(await engine.commit({ since: state, decide: () => plan })).toBe(true);
        state = next;
      };
      await inList("work\nbob", true, created(1), created(2));
      await inList("home\nann", true, created(1, '{"home":1}'));
      await inList("work\nbob", undefined, deleted(3, created(1)));
      const work = await readWhole(engine, "work\nbob");
      expect(work).toMatchObject({ version: 3 });
      expect(work.changes.map(stored)).toEqual([stored(created(2)), stored(deleted(3, created(1)))]);
      expect(await liveItems(engine, "home\nann")).toMatchObject([{ id: "id-1", json: '{"home":1}' }]);
      expect(await readWhole(engine, "Work\nbob")).toMatchObject({ version: 0, changes: [] });
      expect(await liveItems(engine, "\nbob")).toEqual([]);
      expect(await engine.names("bob")).toEqual({ listsMark: state.listsMark, names: ["work"] });
      expect(await engine.names("ann")).toMatchObject({ names: ["home"] });
      await inList("play\nbob", true, created(1, '{"née":"€"}'));
      const bytes = [created(2), created(1, '{"née":"€"}')].map(({ json }) => Buffer.byteLength(json ?? "") + 1);
      expect(await engine.bytesOf("bob")).toBe(bytes.reduce((sum, one) => sum + one, 0));
      await inList("work\nbob", false, deleted(4, created(2)));
      expect(await engine.names("bob")).toMatchObject({ names: ["play"] });
      expect(await engine.bytesOf("bob")).toBe(bytes[1] ?? 0);
      expect(await engine.bytesOf("eve")).toBe(0);
      expect(await engine.state()).toEqual(state);
    });

    test("drops the tombstones of all lists in the order of the deletions, and each list knows it", async () => {
      const count = Math.min(tombstonesMax, 1_000);
      for (const list of ["one", "two"]) {
        const items = Array.from({ length: count }, (_, index) => created(1 + index));
        const gone = items.map((item, index) => deleted(1 + count + index, item));
        for (const changes of [items, gone]) {
          expect(await engine.commit(batchOf(state, () => changes, list))).toBe(true);
          state = stateAfter(state, changes);
        }
      }
      await deleteMany();
      const [one, two] = [await readWhole(engine, "one"), await readWhole(engine, "two")];
      expect(one).toMatchObject({ version: 2 * count, prunedThrough: 2 * count, changes: [] });
      expect(two).toMatchObject({ version: 2 * count, prunedThrough: 2 * count, changes: [] });
    });

    test("knows the version of a list whose newest tombstone is dropped while the list is read", async () => {
      const items = Array.from({ length: 10 }, (_, index) => created(1 + index));
      for (const changes of [items, [deleted(11, created(10))]]) {
        expect(await engine.commit(batchOf(state, () => changes, "long"))).toBe(true);
        state = stateAfter(state, changes);
      }
      expect(await readWhole(engine, "long", deleteMany)).toMatchObject({ version: 11 });
    });

    test("reads few long items at a time, and all of them in the end", async () => {
      const lengths = [100, 1_000, 1_000, 20, 20, 20, 20, 149, 10, 1_000];
      const rows = lengths.map((length, index) => created(index + 1, `"${"é".repeat(length)}"`));
      for (const row of rows) await commit(row);
      await commit(deleted(11, rows[3] as PlannedChange));
      const pages: (readonly Change[])[] = [];
      for await (const page of pagesOf(rootList, (...args) => engine.load(...args))) pages.push(page.rows);
      expect(latestOf(pages.flat()).filter(({ json }) => json !== null)).toEqual(
        rows.filter(({ version }) => version !== 4).map(stored),
      );
      // A page may end with an item of any length.
      const bytesBeforeLast = (page: readonly Change[]) =>
        page.slice(0, -1).reduce((sum, { json }) => sum + (json?.length ?? 0), 0);
      for (const page of pages) expect(bytesBeforeLast(page)).toBeLessThan(kind.limits.bytesInPage);
      expect(pages.length).toBeGreaterThanOrEqual(kind.durable ? 4 : 1);
    });

    test("stores strings exactly as they are", async () => {
      const json = JSON.stringify({ text: "é 👩‍👩‍👧 \u2028 \\u0000", big: "x".repeat(100_000) });
      await commit(created(1, json));
      expect((await liveItems(engine))[0]?.json).toBe(json);
    });

    test("drops old tombstones after a while, keeps the newest, and brings back no deleted item", async () => {
      await deleteMany();
      const { prunedThrough, changes } = await readWhole(engine);
      const kept = changes.length;
      expect(kept).toBeGreaterThanOrEqual(tombstonesMax);
      expect(kept).toBeLessThan(2 * tombstonesMax);
      expect(changes.every(({ version, json }) => json === null && version > prunedThrough)).toBe(true);
      expect(prunedThrough).toBeGreaterThan(0);
    });

    /**
     * Creates and deletes many items: three times as many as the tombstones (rows of deleted items) that a store keeps.
     */
    async function deleteMany(): Promise<void> {
      const count = Math.min(tombstonesMax, 1_000);
      for (let deletedCount = 0; deletedCount < 3 * tombstonesMax; deletedCount += count) {
        const first = version + 1;
        const items = Array.from({ length: count }, (_, index) => created(first + index));
        await commit(...items);
        await commit(...items.map((item, index) => deleted(first + count + index, item)));
      }
    }

    if (!kind.durable) return;

    test("has the same items, order, versions and epoch after it was closed and opened again", async () => {
      const [one, two, three] = [created(1), created(2), created(3)];
      await commit(one, two, three);
      await commit(updated(4, one), deleted(5, two));
      await engine.close();
      engine = await store.open();
      const whole = await readWhole(engine);
      expect(whole).toMatchObject({ storeEpoch: state.epoch, version: 5 });
      expect(whole.changes.map(stored)).toEqual([stored(three), stored(updated(4, one)), stored(deleted(5, two))]);
    });

    if (!kind.isShared) return;

    test("brings back no deleted item after a crash, whatever was swept and pruned before", async () => {
      await deleteMany();
      // The engine is not closed, so another engine finds the store as a crash would leave it.
      const survivor = await store.open();
      expect(await liveItems(survivor)).toEqual([]);
      await survivor.close();
    });

    test("brings back no deleted item if two processes change the same items and prune", async () => {
      const other = await store.open();
      await other.state();
      const item = created(1);
      await commit(item);
      await other.commit(batchOf(state, () => [updated(2, item)]));
      await engine.commit(batchOf(state, () => [deleted(3, updated(2, item))]));
      state = await engine.state();
      version = 3;
      await deleteMany();
      const survivor = await store.open();
      expect(await liveItems(survivor)).toEqual([]);
      await survivor.close();
      await other.close();
    });

    test("reports the commits of another process as news, and passes them to a batch before it decides", async () => {
      const other = await store.open();
      const start = await other.state();
      await commit(created(1));
      expect(await other.hasNews()).toBe(true);
      expect(latest(await other.pull(start))).toEqual([stored(created(1))]);
      expect(await other.hasNews()).toBe(false);
      await commit(created(2));
      let missed: Change[] | undefined;
      await other.commit(
        batchOf({ ...start, clock: 1 }, (news) => {
          missed = news && latest(news);
          return [created(news ? 3 : 2)];
        }),
      );
      expect(missed).toEqual([stored(created(2))]);
      expect(await engine.hasNews()).toBe(true);
      expect(latest(await engine.pull(state))).toEqual([stored(created(3))]);
      await other.close();
    });
  });
}
