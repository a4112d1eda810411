// Tests the outbox, which holds the user's unsent edits: their order, which edits replace others, and what is kept in
// the browser's storage.

import { describe, expect, test } from "bun:test";
import type { Edit, KeptEdit } from "../../src/page/edit.ts";
import { Outbox } from "../../src/page/outbox.ts";
import type { OutboxEntry } from "../../src/page/outbox-entry.ts";

/** An outbox for the store with the epoch (ID of its history) "e", and the edits that the outbox keeps. */
function open(): { outbox: Outbox; kept: () => readonly KeptEdit[] } {
  let kept: readonly KeptEdit[] = [];
  const outbox = new Outbox((edits) => {
    kept = edits;
  });
  outbox.connected("e");
  return { outbox, kept: () => kept };
}

const create = (id: string, json = `{"ID":"${id}"}`): Edit => ({ kind: "create", id, json });
const update = (id: string, json: string, etag = "1"): Edit => ({ kind: "update", id, json, etag });
const remove = (id: string, etag = "1"): Edit => ({ kind: "delete", id, etag });

function next(outbox: Outbox): OutboxEntry {
  const entry = outbox.next(0);
  if (!entry) throw new Error("there is no edit to send");
  return entry;
}

const edits = (outbox: Outbox) => outbox.entries.map(({ edit }) => edit);

describe("edits that are not sent yet", () => {
  test("edits keep their order, and a later edit of the same item replaces an earlier one", () => {
    const { outbox } = open();
    outbox.add(update("a", "1"));
    outbox.add(create("b"));
    outbox.add(update("a", "2", "other"));
    outbox.add(update("b", "3"));
    expect(edits(outbox)).toEqual([update("a", "2", "1"), create("b", "3")]);
    outbox.add(remove("b"));
    expect(edits(outbox)).toEqual([update("a", "2", "1")]);
    outbox.add(remove("a"));
    expect(edits(outbox)).toEqual([remove("a", "1")]);
  });

  test("edits that are added together are kept together, once", () => {
    let keptCount = 0;
    const outbox = new Outbox(() => keptCount++);
    outbox.addAll([create("a"), create("b"), remove("c")]);
    expect([keptCount, edits(outbox).length]).toEqual([1, 3]);
  });

  test("unsent edits are kept with their store, and the next outbox sends them at once", () => {
    const { outbox, kept } = open();
    outbox.add(create("a"));
    outbox.add(remove("b"), 9);
    const first = next(outbox);
    outbox.sending(first);
    const both = [
      { edit: create("a"), epoch: "e", maybeStored: true },
      { edit: remove("b"), epoch: "e", maybeStored: false },
    ];
    expect(kept()).toEqual(both);
    outbox.stored(first, "2", 2);
    expect(kept()).toEqual(both.slice(1));
    const later = open();
    later.outbox.restore(kept(), false);
    expect(next(later.outbox).edit).toEqual(remove("b"));
  });

  test("edits that are given up leave the outbox, but not the browser's database", () => {
    const { outbox, kept } = open();
    outbox.add(create("a"));
    const before = kept();
    outbox.giveUp();
    expect([edits(outbox), kept()]).toEqual([[], before]);
  });
});

describe("edits of an earlier visit", () => {
  const kept = (epoch: string | undefined): KeptEdit[] => [{ edit: create("a"), epoch }];

  test("edits made on another store are held until the user confirms them, even if they are restored before the page is connected", () => {
    for (const isConnectedFirst of [true, false]) {
      const outbox = new Outbox(() => {});
      if (isConnectedFirst) outbox.connected("other");
      outbox.restore(kept("e"), false);
      if (!isConnectedFirst) outbox.connected("other");
      expect([outbox.next(0), outbox.held.length, outbox.unsentCount]).toEqual([undefined, 1, 0]);
      outbox.confirmHeld();
      expect([next(outbox).epoch, outbox.held.length]).toEqual(["other", 0]);
    }
  });

  test("edits made on the same store, or before the store was known, are sent", () => {
    for (const epoch of ["e", undefined]) {
      const { outbox } = open();
      outbox.restore(kept(epoch), false);
      outbox.connected("e");
      expect(next(outbox)).toMatchObject({ edit: create("a"), epoch: "e" });
    }
  });

  test("held edits can be discarded, and an edit made now does not touch them", () => {
    const { outbox, kept: now } = open();
    outbox.restore(kept("e"), true);
    outbox.add(remove("a"));
    expect(edits(outbox)).toEqual([create("a"), remove("a")]);
    outbox.discard(outbox.held);
    expect(now().map(({ edit }) => edit)).toEqual([remove("a")]);
  });

  test("a held deletion is dropped if its item is gone, but only from the store that it was made on", () => {
    const { outbox } = open();
    outbox.restore(
      ["e", "another"].map((epoch) => ({ edit: remove(epoch), epoch })),
      true,
    );
    outbox.dropDoneDeletions(() => true);
    expect(outbox.held.length).toBe(2);
    outbox.dropDoneDeletions(() => false);
    expect(edits(outbox)).toEqual([remove("another")]);
  });

  test("a deletion that may have been stored is sent again after a while, unless its item is gone", () => {
    const { outbox } = open();
    outbox.restore([{ edit: remove("a"), epoch: "e", maybeStored: true }], false, 9);
    expect([outbox.next(8), outbox.next(9)?.edit]).toEqual([undefined, remove("a")]);
    outbox.dropDoneDeletions(() => false);
    expect(edits(outbox)).toEqual([]);
    // If the item is not there because it was not created yet, the deletion is still needed.
    outbox.restore(
      [create("b"), remove("b")].map((edit) => ({ edit, epoch: "e" })),
      true,
    );
    outbox.dropDoneDeletions(() => false);
    expect(outbox.held.length).toBe(2);
  });

  test("if the connection is lost and another store answers, edits made before that are held", () => {
    const { outbox } = open();
    outbox.add(create("a"));
    outbox.disconnected();
    outbox.add(create("b"));
    expect(outbox.next(0)).toBeUndefined();
    outbox.connected("other");
    expect([outbox.next(0), outbox.held.length]).toEqual([undefined, 2]);
  });

  test("edits that are held because another store answers are released when their own store is back", () => {
    const { outbox } = open();
    outbox.add(create("a"));
    outbox.connected("other");
    outbox.restore([{ edit: create("b"), epoch: "e" }], false);
    outbox.add(create("c"));
    expect(outbox.held.map(({ edit }) => edit)).toEqual([create("a"), create("b")]);
    outbox.connected("e");
    expect([next(outbox).edit, outbox.held.map(({ edit }) => edit)]).toEqual([create("a"), [create("c")]]);
  });

  test("edits that are held for another reason stay held, whichever store answers", () => {
    const { outbox } = open();
    outbox.restore(kept("e"), true);
    // The user made this edit on a read-only service, and does not expect it to be stored.
    outbox.connected("e", true);
    outbox.add(create("b"));
    for (const epoch of ["other", "e"]) outbox.connected(epoch);
    expect(outbox.held.map(({ edit }) => edit)).toEqual([create("a"), create("b")]);
  });
});

describe("deletions that can be undone", () => {
  test("undoing a deletion brings back an earlier edit that was not sent", () => {
    const { outbox } = open();
    outbox.add(update("a", "typed"));
    outbox.add(remove("a"), 9);
    outbox.drop(outbox.entries[1] ?? next(outbox));
    expect(edits(outbox)).toEqual([update("a", "typed")]);
  });

  test("a deletion that is due replaces the unsent edits before it, refused ones too", () => {
    const { outbox } = open();
    outbox.add(update("a", "1", "7"));
    outbox.add(create("b"));
    const [, refused = next(outbox)] = outbox.entries;
    outbox.refused(refused, "too long");
    outbox.add(remove("a"), 9);
    outbox.add(remove("b"), 9);
    outbox.release(new Set(["a", "b"]));
    expect(next(outbox).edit).toEqual(remove("a", "7"));
    expect(edits(outbox)).toEqual([remove("a", "7")]);
  });

  test("the outbox knows when its next edit is due", () => {
    const { outbox } = open();
    outbox.add(remove("a"), 9);
    outbox.add(remove("b"), 7);
    expect([outbox.nextTime(0), outbox.nextTime(7), outbox.nextTime(9)]).toEqual([7, 9, undefined]);
  });
});

describe("an edit made while another edit of the same item is being sent", () => {
  test("a second edit of an item is sent after the first, with the ETag that the first was stored with", () => {
    const { outbox } = open();
    outbox.add(update("a", "1"));
    const first = next(outbox);
    first.state = "sending";
    outbox.add(update("a", "2"));
    expect(outbox.entries).toHaveLength(2);
    outbox.stored(first, "7", 7);
    expect(next(outbox).edit).toEqual(update("a", "2", "7"));
  });

  test("dropping an edit also drops the second edit of the same item", () => {
    const { outbox } = open();
    outbox.add(update("a", "1"));
    const first = next(outbox);
    first.state = "sending";
    outbox.add(update("a", "2"));
    outbox.add(update("b", "3"));
    outbox.drop(first);
    expect(edits(outbox)).toEqual([update("b", "3")]);
  });
});

describe("an edit that was merged with somebody else's changes", () => {
  const edited = (json: string, base: string, etag = "1"): Edit => ({ kind: "update", id: "a", json, etag, base });

  test("an edit that is not based on the result keeps an outdated ETag, so that it is compared with the result", () => {
    for (const isStored of [true, false]) {
      const { outbox } = open();
      outbox.add(edited("mine", "before"));
      const first = next(outbox);
      outbox.sending(first);
      outbox.rebase(first, "merged", { json: "theirs", etag: "2" });
      if (isStored) outbox.stored(first, "3", 3);
      outbox.add(edited("typed", "mine"));
      if (!isStored) outbox.stored(first, "3", 3);
      expect(next(outbox).edit).toEqual(edited("typed", "mine", "2"));
    }
  });

  test("an edit that is based on the result gets the ETag of the result", () => {
    const { outbox } = open();
    outbox.add(edited("mine", "before"));
    const first = next(outbox);
    outbox.rebase(first, "merged", { json: "theirs", etag: "2" });
    outbox.sending(first);
    outbox.add(edited("typed", "merged"));
    outbox.stored(first, "3", 3);
    expect(next(outbox).edit).toEqual(edited("typed", "merged", "3"));
  });
});

describe("conflicts", () => {
  test("a conflict holds back only the edits of its own item", () => {
    const { outbox } = open();
    outbox.add(update("a", "1"));
    outbox.add(update("b", "2"));
    outbox.conflicted(next(outbox), { json: "theirs", etag: "9" });
    expect(next(outbox).edit.id).toBe("b");
    // The first edit waits for the user's decision, so it is not sent.
    expect([outbox.unsentCount, outbox.sendableCount]).toEqual([2, 1]);
  });

  test("insisting on an edit gives it the ETag of the other version, or makes it create the deleted item again", () => {
    const { outbox } = open();
    outbox.add(update("a", "1"));
    outbox.add(update("b", "2"));
    const [a, b] = outbox.entries;
    if (!a || !b) throw new Error("two were added");
    outbox.conflicted(a, { json: "theirs", etag: "9" });
    outbox.conflicted(b, undefined);
    outbox.insist(a);
    outbox.insist(b);
    expect(edits(outbox)).toMatchObject([update("a", "1", "9"), create("b", "2")]);
  });
});

describe("stored edits", () => {
  test("a stored edit stays until the change feed has reported its version", () => {
    const { outbox } = open();
    outbox.add(update("a", "1"));
    outbox.stored(next(outbox), "5", 5);
    outbox.settle(4, () => true);
    expect(outbox.entries).toHaveLength(1);
    outbox.settle(5, () => true);
    expect(outbox.entries).toHaveLength(0);
  });

  test("a stored deletion stays until the item is gone, or until the item's next creation is reported", () => {
    const { outbox } = open();
    outbox.add(remove("a"));
    outbox.stored(next(outbox), undefined, undefined);
    outbox.settle(9, () => true);
    expect(outbox.entries).toHaveLength(1);
    outbox.add(create("a"));
    outbox.stored(next(outbox), "11", 11);
    outbox.settle(11, () => true);
    expect(outbox.entries).toHaveLength(0);
  });
});
