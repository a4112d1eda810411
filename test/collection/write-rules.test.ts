import { describe, expect, test } from "bun:test";
import type { PlannedChange, StoreState } from "../../src/collection/engine.ts";
import { ItemList } from "../../src/collection/item-list.ts";
import { listBytes } from "../../src/collection/list-key.ts";
import {
  bytesLeft,
  type Condition,
  outcomeOf,
  planWrites,
  type Room,
  type Write,
  type WriteOutcome,
  type WriteTarget,
} from "../../src/collection/write-rules.ts";
import { ids, item } from "../service.ts";
import { listText } from "./list-text.ts";

const bookmark = { epoch: "e", version: 10 };
const state = (byteCount = 0): StoreState => ({ epoch: "s", clock: 20, itemCount: 1, byteCount, listsMark: 5 });
const unlimited = Number.POSITIVE_INFINITY;
const roomIn = (of: StoreState, bytesMax: number, ofOwner = unlimited): Room => ({
  inStore: bytesLeft(of, bytesMax),
  ofOwner: () => ofOwner,
});
const done = (version: number) => ({ kind: "done", version, kept: true }) as const;
const holds: Condition = () => true;
const fails: Condition = () => false;

const create = (id: string, json = item(id)): Write => ({ kind: "create", item: { id, json } });
const update = (id: string, condition?: Condition): Write => ({
  kind: "update",
  item: { id, json: item(id, '"n":2') },
  condition,
});
const remove = (id: string, condition?: Condition): Write => ({ kind: "delete", id, condition });

/**
 * A list at version 10. Item one was created as version 3 and updated as version 7. Item three was created as version
 * 8 and deleted as version 9. Item two never existed.
 */
function listAtTen(): ItemList {
  const list = new ItemList("as-sent");
  list.apply({ id: ids.one, position: 3, version: 3, json: item(ids.one, '"n":0') });
  list.apply({ id: ids.one, position: 3, version: 7, json: item(ids.one, '"n":1') });
  list.apply({ id: ids.three, position: 8, version: 8, json: item(ids.three) });
  list.apply({ id: ids.three, position: 8, version: 9, json: null });
  return list;
}

const targetOf = (list: ItemList, key = ""): WriteTarget => ({ key, bookmark, list });
/** A list of which the store has nothing yet. */
const newTarget = (key: string): WriteTarget => ({
  key,
  bookmark: { epoch: "e", version: 0 },
  list: new ItemList("as-sent"),
});

/** The plan for writes to one list: its changes, and the outcomes without their epoch. */
function planFor(target: WriteTarget, writes: readonly Write[], byteCount = 0, bytesMax = unlimited) {
  const plan = planWrites(
    writes.map((write) => ({ target, write })),
    state(byteCount),
    roomIn(state(byteCount), bytesMax),
  );
  const outcomes = plan.outcomes.map(({ epoch: _, ...outcome }) => outcome as WriteOutcome);
  return { ...plan, outcomes, changes: plan.lists.flatMap(({ changes }) => changes) };
}

const plan = (...writes: Write[]) => planFor(targetOf(listAtTen()), writes);
const outcomeFor = (write: Write, list: ItemList): WriteOutcome => {
  const { epoch: _, ...outcome } = outcomeOf(write, targetOf(list), roomIn(state(), unlimited));
  return outcome as WriteOutcome;
};

describe("a store with a limit on its size", () => {
  const onlyItem = item(ids.one, '"n":1');
  const list = new ItemList("as-sent");
  list.apply({ id: ids.one, position: 3, version: 3, json: onlyItem });
  const outcomes = (bytesMax: number, ...writes: Write[]) =>
    planFor(targetOf(list), writes, onlyItem.length + 1, bytesMax).outcomes.map(({ kind }) => kind);

  test("refuses a create for which there is no room, and an update that makes an item longer", () => {
    const longer = { ...update(ids.one), item: { id: ids.one, json: item(ids.one, '"n":100') } } as Write;
    expect(outcomes(0, create(ids.two), longer)).toEqual(["store-full", "store-full"]);
  });

  test("accepts an update that does not make the item longer, and a delete, even if there is no room", () => {
    expect(outcomes(0, update(ids.one), remove(ids.one))).toEqual(["done", "done"]);
  });

  test("counts the room that earlier writes of the batch take and free", () => {
    const room = list.byteLength + 1 + item(ids.two).length;
    expect(outcomes(room - 1, create(ids.two))).toEqual(["store-full"]);
    expect(outcomes(room, create(ids.two), create(ids.three))).toEqual(["done", "store-full"]);
    expect(outcomes(room, create(ids.two), remove(ids.two), create(ids.three))).toEqual(["done", "done", "done"]);
  });

  test("reports a taken ID before it reports that the store is full", () => {
    expect(outcomes(0, create(ids.one))).toEqual(["id-in-use"]);
  });
});

describe("a single write", () => {
  const failed: WriteOutcome = { kind: "condition-failed", current: { version: 7, json: item(ids.one, '"n":1') } };
  const row = { id: ids.one, position: 3, version: 11, replaces: 7 };
  const updated = { ...row, json: item(ids.one, '"n":2') };
  const deleted = { ...row, json: null };
  const created = (id: string) => ({ id, position: 11, version: 11, json: item(id), replaces: undefined });
  const cases: [title: string, write: Write, outcome: WriteOutcome, change: PlannedChange | undefined][] = [
    ["create of a new ID is done", create(ids.two), done(11), created(ids.two)],
    ["create of an ID that was deleted is done, at a new position", create(ids.three), done(11), created(ids.three)],
    ["create of an ID in use is refused", create(ids.one), { kind: "id-in-use" }, undefined],
    ["update of an item is done in its place", update(ids.one), done(11), updated],
    ["update of an item is done if its condition holds", update(ids.one, holds), done(11), updated],
    ["update of an item is refused if its condition fails", update(ids.one, fails), failed, undefined],
    ["update of an unknown ID finds nothing", update(ids.two), { kind: "not-found" }, undefined],
    ["update of an unknown ID ignores its condition", update(ids.two, fails), { kind: "not-found" }, undefined],
    ["update of a deleted item finds nothing", update(ids.three), { kind: "not-found" }, undefined],
    ["delete of an item is done, and leaves a tombstone in its place", remove(ids.one), done(11), deleted],
    ["delete of an item is done if its condition holds", remove(ids.one, holds), done(11), deleted],
    ["delete of an item is refused if its condition fails", remove(ids.one, fails), failed, undefined],
    ["delete of an unknown ID finds nothing", remove(ids.two), { kind: "not-found" }, undefined],
    ["delete of a deleted item finds nothing", remove(ids.three), { kind: "not-found" }, undefined],
  ];
  for (const [title, write, outcome, change] of cases) {
    test(title, () => {
      const { outcomes, changes } = plan(write);
      expect(outcomes).toEqual([outcome]);
      expect(changes).toEqual(change === undefined ? [] : [change]);
      expect(outcomeFor(write, listAtTen())).toEqual(outcome);
    });
  }

  test("checks its condition against the version of the item", () => {
    const asked: number[] = [];
    plan(update(ids.one, (version) => asked.push(version) > 0));
    expect(asked).toEqual([7]);
  });

  test("finds its item whatever the case of the ID", () => {
    const list = new ItemList("as-sent");
    list.apply({ id: ids.mixedCase.toLowerCase(), position: 1, version: 1, json: item(ids.mixedCase) });
    expect(outcomeFor(create(ids.mixedCase.toUpperCase()), list)).toEqual({ kind: "id-in-use" });
    expect(outcomeFor(remove(ids.mixedCase.toUpperCase()), list)).toEqual(done(11));
  });

  test("returns the current item, with names as this instance spells them, if its condition fails", () => {
    const list = new ItemList("camel");
    list.apply({ id: ids.one, position: 1, version: 1, json: item(ids.one) });
    const failed = (version: number, id: string): WriteOutcome => ({
      kind: "condition-failed",
      current: { version, json: `{"id":"${id}","name":"x"}` },
    });
    expect(outcomeFor(update(ids.one, fails), list)).toEqual(failed(1, ids.one));
    const { outcomes } = planFor(targetOf(list), [create(ids.two), update(ids.two, fails)]);
    expect(outcomes[1]).toEqual(failed(11, ids.two));
  });
});

describe("a batch of writes", () => {
  test("gives each change the next version, and refused writes none", () => {
    const { outcomes, changes } = plan(create(ids.two), create(ids.one), update(ids.one), create(ids.three));
    expect(outcomes).toEqual([done(11), { kind: "id-in-use" }, done(12), done(13)]);
    expect(changes.map(({ version }) => version)).toEqual([11, 12, 13]);
  });

  test("refuses the second of two creates of one ID", () => {
    const { outcomes, changes } = plan(create(ids.two), create(ids.two.toUpperCase()));
    expect(outcomes).toEqual([done(11), { kind: "id-in-use" }]);
    expect(changes).toHaveLength(1);
  });

  test("finds nothing to update or delete after a delete of the same item", () => {
    const { outcomes, changes } = plan(remove(ids.one), update(ids.one), remove(ids.one));
    expect(outcomes).toEqual([done(11), { kind: "not-found" }, { kind: "not-found" }]);
    expect(changes).toMatchObject([{ version: 11, position: 3, json: null, replaces: 7 }]);
  });

  test("stores only the last of several changes to one item, in place of the row from before the batch", () => {
    const { outcomes, changes } = plan(update(ids.one), create(ids.two), update(ids.one), remove(ids.one));
    expect(outcomes).toEqual([done(11), done(12), done(13), done(14)]);
    expect(changes).toMatchObject([
      { version: 12, position: 12, replaces: undefined },
      { version: 14, position: 3, json: null, replaces: 7 },
    ]);
  });

  test("replaces no stored row when it changes an item that it has created itself", () => {
    const { changes } = plan(create(ids.two), update(ids.two));
    expect(changes).toMatchObject([{ version: 12, position: 11, json: item(ids.two, '"n":2'), replaces: undefined }]);
  });

  test("stores a tombstone and a new item if an ID is deleted and created again", () => {
    const { changes } = plan(remove(ids.one), create(ids.one));
    expect(changes).toMatchObject([
      { version: 11, position: 3, json: null, replaces: 7 },
      { version: 12, position: 12, json: item(ids.one), replaces: undefined },
    ]);
  });

  test("leaves the list as it is", () => {
    const list = listAtTen();
    const before = listText(list.pieces());
    planFor(targetOf(list), [create(ids.two), remove(ids.one)]);
    expect(listText(list.pieces())).toBe(before);
  });
});

describe("a batch of writes to several lists", () => {
  const [one, two] = [targetOf(listAtTen()), newTarget("work")];
  const planBoth = (bytesMax = unlimited) =>
    planWrites(
      [
        { target: one, write: remove(ids.one) },
        { target: two, write: create(ids.one) },
        { target: two, write: create(ids.two) },
        { target: two, write: remove(ids.one) },
      ],
      state(item(ids.one, '"n":1').length + 1),
      roomIn(state(item(ids.one, '"n":1').length + 1), bytesMax),
    );

  test("decides each list by itself, and counts for the store", () => {
    const { lists, outcomes, state: after } = planBoth();
    expect(outcomes.map(({ kind }) => kind)).toEqual(["done", "done", "done", "done"]);
    expect(lists.map(({ list, changes }) => [list, changes.map(({ version }) => version)])).toEqual([
      ["", [11]],
      ["work", [2, 3]],
    ]);
    const byteCount = item(ids.two).length + 1 + listBytes("work");
    expect(after).toEqual({ epoch: "s", clock: 23, itemCount: 1, byteCount, listsMark: 23 });
  });

  test("says which lists get their first item or lose their last one, and leaves the mark if none does", () => {
    expect(planBoth().lists.map(({ hasItems }) => hasItems)).toEqual([false, true]);
    const { lists, state: after } = plan(update(ids.one));
    expect(lists.map(({ hasItems }) => hasItems)).toEqual([undefined]);
    expect(after.listsMark).toBe(5);
  });

  test("needs room for the row of a new list", () => {
    const room = item(ids.one).length + listBytes("work");
    const kinds = (bytesMax: number) =>
      planWrites([{ target: two, write: create(ids.one) }], state(), roomIn(state(), bytesMax)).outcomes.map(
        ({ kind }) => kind,
      );
    expect(kinds(room + 2)).toEqual(["done"]);
    expect(kinds(room + 1)).toEqual(["store-full"]);
    expect(bytesLeft(state(), 10)).toBe(9);
  });

  test("counts for their owner, whose room may be less than that of the store", () => {
    const [first, second, others] = ["one\nann", "two\nann", "one\nbob"].map((key) =>
      targetOf(new ItemList("as-sent"), key),
    ) as [WriteTarget, WriteTarget, WriteTarget];
    const writes = [first, second, others].map((target) => ({ target, write: create(ids.one) }));
    const room = { ...roomIn(state(), unlimited), ofOwner: () => item(ids.one).length + 1 };
    const { outcomes, lists } = planWrites(writes, state(), room);
    expect(outcomes.map(({ kind }) => kind)).toEqual(["done", "owner-full", "done"]);
    const size = item(ids.one).length + 1;
    expect(lists.map(({ itemBytes }) => itemBytes)).toEqual([size, size]);
  });

  test("are refused because of the limit that they reach", () => {
    const target = newTarget("one\nann");
    const size = item(ids.one).length + 1;
    const kind = (inStore: number, ofOwner: number) =>
      planWrites([{ target, write: create(ids.one) }], state(), { inStore, ofOwner: () => ofOwner }).outcomes[0]?.kind;
    expect(kind(size + listBytes(target.key), size)).toBe("done");
    expect(kind(size + listBytes(target.key), size - 1)).toBe("owner-full");
    expect(kind(size + listBytes(target.key) - 1, size)).toBe("store-full");
  });
});
