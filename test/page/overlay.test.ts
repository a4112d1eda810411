// What the page shows, given the service's items and the user's edits.

import { describe, expect, test } from "bun:test";
import { Outbox } from "../../src/page/outbox.ts";
import type { OutboxEntry } from "../../src/page/outbox-entry.ts";
import { overlay, type ShownItem } from "../../src/page/overlay.ts";
import { StoredItems } from "../../src/page/stored-items.ts";

const json = (id: string, name: string) => `{"ID":"${id}","Name":"${name}"}`;

/** The items a and b, stored in this order, and an outbox (the list of unsent edits) that is empty. */
function open() {
  const stored = new StoredItems();
  stored.put({ id: "a", item: json("a", "A"), etag: "1", position: 1 });
  stored.put({ id: "b", item: json("b", "B"), etag: "2", position: 2 });
  const outbox = new Outbox(() => {});
  return { outbox, show: () => overlay(stored.inOrder(), outbox.entries) };
}

const names = (items: readonly ShownItem[]) => items.map(({ fields }) => fields.name);

function entryOf(outbox: Outbox, id: string): OutboxEntry {
  const entry = outbox.entries.find(({ edit }) => edit.id === id);
  if (!entry) throw new Error(`no edit of ${id}`);
  return entry;
}

describe("overlay", () => {
  test("without edits, the stored items are shown, newest first", () => {
    const { show } = open();
    expect(show()).toMatchObject([
      { id: "b", json: json("b", "B"), etag: "2", pending: false, conflict: undefined },
      { id: "a", json: json("a", "A"), etag: "1", pending: false, conflict: undefined },
    ]);
  });

  test("a created item comes first and is pending, an updated one keeps its place and ETag, a deleted one is gone", () => {
    const { outbox, show } = open();
    outbox.add({ kind: "create", id: "c", json: json("c", "C") });
    outbox.add({ kind: "update", id: "a", json: json("a", "A2"), etag: "1" });
    outbox.add({ kind: "delete", id: "b", etag: "2" });
    expect(show()).toMatchObject([
      { id: "c", etag: undefined, pending: true, fields: { name: "C" } },
      { id: "a", etag: "1", pending: true, fields: { name: "A2" } },
    ]);
  });

  test("a stored edit is no longer pending, and the item has the ETag that the edit was stored with", () => {
    const { outbox, show } = open();
    outbox.add({ kind: "update", id: "a", json: json("a", "A2"), etag: "1" });
    outbox.stored(entryOf(outbox, "a"), "3", 3);
    expect(show()[1]).toMatchObject({ etag: "3", pending: false, fields: { name: "A2" } });
  });

  test("edits apply in the order they were made", () => {
    const { outbox, show } = open();
    outbox.add({ kind: "update", id: "a", json: json("a", "first"), etag: "1" });
    entryOf(outbox, "a").state = "sending";
    outbox.add({ kind: "update", id: "a", json: json("a", "second"), etag: "1" });
    expect(names(show())).toEqual(["B", "second"]);
  });

  test("an item that is deleted and created again becomes the newest", () => {
    const { outbox, show } = open();
    outbox.add({ kind: "delete", id: "a", etag: "1" });
    entryOf(outbox, "a").state = "sending";
    outbox.add({ kind: "create", id: "a", json: json("a", "A") });
    expect(names(show())).toEqual(["A", "B"]);
  });

  test("a created item that the service already has is shown once, as the newest", () => {
    const { outbox, show } = open();
    outbox.add({ kind: "create", id: "a", json: json("a", "A") });
    expect(names(show())).toEqual(["A", "B"]);
  });

  test("an update of an item that the service no longer has is shown with the ETag that it is based on", () => {
    const { outbox, show } = open();
    outbox.add({ kind: "update", id: "gone", json: json("gone", "Mine"), etag: "9" });
    outbox.conflicted(entryOf(outbox, "gone"), undefined);
    expect(show()[0]).toMatchObject({ id: "gone", etag: "9", conflict: { theirs: undefined, deletes: false } });
  });

  test("a conflicting deletion leaves the service's version of the item visible, marked as a conflict", () => {
    const { outbox, show } = open();
    outbox.add({ kind: "delete", id: "a", etag: "0" });
    const theirs = { json: json("a", "A"), etag: "1" };
    outbox.conflicted(entryOf(outbox, "a"), theirs);
    expect(show()[1]).toMatchObject({ json: theirs.json, etag: "1", conflict: { theirs, deletes: true } });
  });

  test("a refused edit stays visible with the reason, and an edit that the user must confirm is not shown", () => {
    const { outbox, show } = open();
    outbox.add({ kind: "update", id: "a", json: json("a", "A2"), etag: "1" });
    outbox.refused(entryOf(outbox, "a"), "too long");
    outbox.restore([{ edit: { kind: "delete", id: "b", etag: "2" }, epoch: "e" }], true);
    expect(show()).toMatchObject([{ id: "b" }, { id: "a", problem: "too long", fields: { name: "A2" } }]);
  });

  test("a conflicting deletion of an item that is gone does not bring the item back", () => {
    const { outbox, show } = open();
    outbox.add({ kind: "delete", id: "gone", etag: "9" });
    outbox.conflicted(entryOf(outbox, "gone"), undefined);
    expect(names(show())).toEqual(["B", "A"]);
  });
});
