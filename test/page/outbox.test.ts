// Changes waiting to be sent: their order, how they replace and follow each other, and what is kept.

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
  if (!entry) throw new Error("nothing is to be sent");
  return entry;
}

const edits = (outbox: Outbox) => outbox.entries.map(({ edit }) => edit);

describe("changes not yet sent", () => {
  test("keep their order, and a later one of the same item replaces an earlier one", () => {
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

  test("are kept, and found again by the next one who opens it", () => {
    const { outbox, kept } = open();
    outbox.add(create("a"));
    outbox.add(update("b", "1"));
    next(outbox).state = "sending";
    expect(edits(open(kept).outbox)).toEqual([create("a"), update("b", "1")]);
    outbox.stored(next(outbox), "2", 2);
    expect(edits(open(kept).outbox)).toEqual([update("b", "1")]);
  });

  test("that somebody garbled are none", () => {
    for (const text of ["{", "{}", '[1,{"kind":"update","id":1}]']) expect(edits(open({ text }).outbox)).toEqual([]);
  });
});

describe("a change made while another of its item is under way", () => {
  test("follows it, on the state that one was stored as", () => {
    const { outbox } = open();
    outbox.add(update("a", "1"));
    next(outbox).state = "sending";
    outbox.add(update("a", "2"));
    expect(outbox.entries).toHaveLength(2);
    outbox.stored(next(outbox), "7", 7);
    expect(next(outbox).edit).toEqual(update("a", "2", "7"));
  });

  test("is forgotten with it, if it is refused", () => {
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

describe("a conflict", () => {
  test("holds back its item only", () => {
    const { outbox } = open();
    outbox.add(update("a", "1"));
    outbox.add(update("b", "2"));
    outbox.conflicted(next(outbox), { json: "theirs", etag: "9" });
    expect(next(outbox).edit.id).toBe("b");
    expect(outbox.unsentCount).toBe(2);
  });

  test("is overruled on the state it met, or by creating anew what is gone", () => {
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

describe("what is stored", () => {
  test("stays until the change feed has told of it", () => {
    const { outbox } = open();
    outbox.add(update("a", "1"));
    outbox.stored(next(outbox), "5", 5);
    outbox.settle(4, () => true);
    expect(outbox.entries).toHaveLength(1);
    outbox.settle(5, () => true);
    expect(outbox.entries).toHaveLength(0);
  });

  test("a deletion, until the item is gone; or came back, which was after it", () => {
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
