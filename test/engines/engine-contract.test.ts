// Tests the contract of src/collection/engine.ts on every engine.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Bookmark, Change, Engine, PlannedChange, Version } from "../../src/collection/engine.ts";
import { batchOf } from "./batch-of.ts";
import { engineKinds, type TestStore } from "./engine-kinds.ts";
import { latest, liveItems, readWhole, stored } from "./latest-changes.ts";

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
    let bookmark: Bookmark;

    beforeEach(async () => {
      store = await kind.createStore();
      engine = await store.open();
      const { epoch, version } = await readWhole(await engine.load());
      bookmark = { epoch, version };
    });

    afterEach(async () => {
      await engine.close();
      await store.dispose();
    });

    async function commit(...changes: PlannedChange[]): Promise<void> {
      expect(await engine.commit(batchOf(bookmark, () => changes))).toBe(true);
      bookmark = { epoch: bookmark.epoch, version: changes.at(-1)?.version ?? bookmark.version };
    }

    test("starts with an epoch, version 0 and no items", async () => {
      const whole = await readWhole(await engine.load());
      expect(whole).toMatchObject({ version: 0, prunedThrough: 0, changes: [] });
      expect(whole.epoch).toMatch(/^[0-9a-f]{16}$/);
    });

    test("gives every store an epoch of its own", async () => {
      const other = await kind.createStore();
      const otherEngine = await other.open();
      expect((await readWhole(await otherEngine.load())).epoch).not.toBe(bookmark.epoch);
      await otherEngine.close();
      await other.dispose();
    });

    test("loads the latest change of each item, tombstones included", async () => {
      const [one, two, three] = [created(1), created(2), created(3)];
      await commit(one, two, three);
      await commit(updated(4, one), deleted(5, two));
      const whole = await readWhole(await engine.load());
      expect(whole.version).toBe(5);
      expect(whole.changes.map(stored)).toEqual([stored(three), stored(updated(4, one)), stored(deleted(5, two))]);
    });

    test("pulls nothing if nobody else has committed, and says if a bookmark is of another history", async () => {
      await commit(created(1), created(2));
      expect(latest(await engine.pull(bookmark))).toEqual([]);
      expect(await engine.pull({ epoch: "another", version: 2 })).toBeUndefined();
    });

    test("decides a batch on the newest state, and tells it what was missed", async () => {
      const before = bookmark;
      await commit(created(1));
      await engine.commit(
        batchOf(bookmark, (news) => {
          expect(news).toBeUndefined();
          return [];
        }),
      );
      // A SQLite file has one owner, so nothing can be missed.
      if (kind.name === "sqlite") return;
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
        batchOf(bookmark, () => {
          throw failure;
        }),
      );
      await expect(attempt).rejects.toBe(failure);
      expect((await readWhole(await engine.load())).version).toBe(1);
      await commit(created(2));
      expect(await liveItems(engine)).toHaveLength(2);
    });

    test("does not count its own commits as news", async () => {
      await commit(created(1));
      expect(await engine.hasNews()).toBe(false);
    });

    test("stores strings exactly as they are", async () => {
      const json = JSON.stringify({ text: "é 👩‍👩‍👧 \u2028 \\u0000", big: "x".repeat(100_000) });
      await commit(created(1, json));
      expect((await liveItems(engine))[0]?.json).toBe(json);
    });

    test("drops old tombstones after a while, keeps the newest, and brings back no deleted item", async () => {
      await deleteMany();
      const { prunedThrough, changes } = await readWhole(await engine.load());
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
        const first = bookmark.version + 1;
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
      const whole = await readWhole(await engine.load());
      expect(whole).toMatchObject({ epoch: bookmark.epoch, version: 5 });
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
      await readWhole(await other.load());
      const item = created(1);
      await commit(item);
      await other.commit(batchOf(bookmark, () => [updated(2, item)]));
      await engine.commit(batchOf(bookmark, () => [deleted(3, updated(2, item))]));
      bookmark = { epoch: bookmark.epoch, version: 3 };
      await deleteMany();
      const survivor = await store.open();
      expect(await liveItems(survivor)).toEqual([]);
      await survivor.close();
      await other.close();
    });

    test("reports the commits of another process as news, and passes them to a batch before it decides", async () => {
      const other = await store.open();
      const start = await readWhole(await other.load());
      await commit(created(1));
      expect(await other.hasNews()).toBe(true);
      expect(latest(await other.pull(start))).toEqual([stored(created(1))]);
      expect(await other.hasNews()).toBe(false);
      await commit(created(2));
      let missed: Change[] | undefined;
      await other.commit(
        batchOf({ epoch: start.epoch, version: 1 }, (news) => {
          missed = news && latest(news);
          return [created((news ?? { version: 1 }).version + 1)];
        }),
      );
      expect(missed).toEqual([stored(created(2))]);
      expect(await engine.hasNews()).toBe(true);
      expect(latest(await engine.pull(bookmark))).toEqual([stored(created(3))]);
      await other.close();
    });
  });
}
