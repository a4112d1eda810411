// The outbox: the order of its edits, which edits replace others, and what it keeps in the browser's storage.

import { describe, expect, test } from "bun:test";
import { type Edit, Outbox, type OutboxEntry } from "../../src/page/outbox.ts";

function open(kept = { text: "[]" }): { outbox: Outbox; kept: { text: string } } {
  return { outbox: new Outbox({ read: () => kept.text, write: (text) => (kept.text = text) }), kept };
}

const create = (id: string, json = `{"ID":"${id}"}`): Edit => ({ kind: "create", id, json });
const update = (id: string, json: string, etag = "1"): Edit => ({ kind: "update", id, json, etag });
const remove = (id: string, etag = "1"): Edit => ({ kind: "delete", id, etag });

function next(outbox: Outbox): OutboxEntry {
  const entry = outbox.next();
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

  test("unsent edits are kept in the browser's storage, and the next outbox finds them there", () => {
    const { outbox, kept } = open();
    outbox.add(create("a"));
    outbox.add(update("b", "1"));
    next(outbox).state = "sending";
    expect(edits(open(kept).outbox)).toEqual([create("a"), update("b", "1")]);
    outbox.stored(next(outbox), "2", 2);
    expect(edits(open(kept).outbox)).toEqual([update("b", "1")]);
  });

  test("an outbox ignores storage that contains something other than edits", () => {
    for (const text of ["{", "{}", '[1,{"kind":"update","id":1}]']) expect(edits(open({ text }).outbox)).toEqual([]);
  });
});

describe("an edit made while another edit of the same item is being sent", () => {
  test("a second edit of an item is sent after the first, with the ETag that the first was stored with", () => {
    const { outbox } = open();
    outbox.add(update("a", "1"));
    next(outbox).state = "sending";
    outbox.add(update("a", "2"));
    expect(outbox.entries).toHaveLength(2);
    outbox.stored(next(outbox), "7", 7);
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

describe("conflicts", () => {
  test("a conflict holds back only the edits of its own item", () => {
    const { outbox } = open();
    outbox.add(update("a", "1"));
    outbox.add(update("b", "2"));
    outbox.conflicted(next(outbox), { json: "theirs", etag: "9" });
    expect(next(outbox).edit.id).toBe("b");
    expect(outbox.unsentCount).toBe(2);
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
    expect(edits(outbox)).toEqual([update("a", "1", "9"), create("b", "2")]);
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
