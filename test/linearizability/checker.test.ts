// Tests the checker itself: if it accepted a wrong history of operations, its approval would mean nothing.

import { describe, expect, test } from "bun:test";
import { check } from "./checker.ts";
import type { History, ItemOperation, ListOperation } from "./history.ts";

const id = "a";
const written = (kind: "create" | "update", n: number, version: number, sentAt: number, answeredAt: number) => ({
  kind,
  id,
  n,
  outcome: "done" as const,
  version,
  sentAt,
  answeredAt,
});
const created = (n: number, version: number, sentAt: number, answeredAt: number) =>
  written("create", n, version, sentAt, answeredAt);
const updated = (n: number, version: number, sentAt: number, answeredAt: number) =>
  written("update", n, version, sentAt, answeredAt);
const read = (n: number, version: number, sentAt: number, answeredAt: number): ItemOperation => ({
  kind: "read",
  id,
  seen: { n, version },
  sentAt,
  answeredAt,
});
const readNothing = (sentAt: number, answeredAt: number): ItemOperation => ({
  kind: "read",
  id,
  seen: undefined,
  sentAt,
  answeredAt,
});
const deleted = (sentAt: number, answeredAt: number): ItemOperation => ({
  kind: "delete",
  id,
  outcome: "done",
  sentAt,
  answeredAt,
});
const unanswered = ({ kind, n, sentAt }: ReturnType<typeof created>): ItemOperation => ({
  kind,
  id,
  n,
  outcome: "unknown",
  sentAt,
  answeredAt: Number.POSITIVE_INFINITY,
});
const list = (version: number, items: ListOperation["items"], sentAt: number, answeredAt: number): ListOperation => ({
  version,
  items,
  body: JSON.stringify(items),
  sentAt,
  answeredAt,
});
const history = (operations: ItemOperation[], lists: ListOperation[] = []): History => ({ operations, lists });

describe("a history is accepted", () => {
  const cases: Record<string, History> = {
    "of one operation after another": history([
      created(1, 1, 0, 1),
      read(1, 1, 2, 3),
      deleted(4, 5),
      readNothing(6, 7),
    ]),
    "in which a read overlaps a write and sees it": history([created(1, 1, 0, 10), read(1, 1, 2, 3)]),
    "in which a read overlaps a write and does not see it": history([created(1, 1, 0, 10), readNothing(2, 3)]),
    "in which an order must be found by search": history([
      created(1, 1, 0, 1),
      updated(2, 2, 2, 20),
      updated(3, 3, 2, 20),
      read(2, 2, 3, 8),
      read(3, 3, 9, 12),
    ]),
    "in which a write without an answer happened": history([unanswered(created(1, 1, 0, 1)), read(1, 1, 5, 6)]),
    "in which a write without an answer did not happen": history([unanswered(created(1, 1, 0, 1)), readNothing(5, 6)]),
    "in which a write without an answer happened late": history([
      unanswered(created(1, 1, 0, 1)),
      readNothing(5, 6),
      read(1, 1, 7, 8),
    ]),
    "with lists that grow": history(
      [created(1, 1, 0, 1), updated(2, 2, 4, 5)],
      [list(1, [{ id, n: 1 }], 2, 3), list(2, [{ id, n: 2 }], 6, 7)],
    ),
  };
  for (const [title, accepted] of Object.entries(cases)) test(title, () => expect(check(accepted)).toBeUndefined());
});

describe("a history is rejected", () => {
  const cases: Record<string, History> = {
    "in which a read does not see an answered create": history([created(1, 1, 0, 1), readNothing(2, 3)]),
    "in which a read sees a state that was already replaced": history([
      created(1, 1, 0, 1),
      updated(2, 2, 2, 3),
      read(1, 1, 4, 5),
    ]),
    "in which a read sees a write that was never sent": history([created(1, 1, 0, 1), read(9, 9, 2, 3)]),
    "in which a read sees an older state than a read before it": history([
      created(1, 1, 0, 1),
      updated(2, 2, 2, 20),
      read(2, 2, 3, 4),
      read(1, 1, 5, 6),
    ]),
    "in which one ID was created twice": history([created(1, 1, 0, 1), created(2, 2, 2, 3)]),
    "in which a deleted item is read": history([created(1, 1, 0, 1), deleted(2, 3), read(1, 1, 4, 5)]),
    "in which a create was refused although the item did not exist": history([
      { kind: "create", id, n: 1, outcome: "id-in-use", sentAt: 0, answeredAt: 1 },
    ]),
    "in which two updates with one condition were both done": history([
      created(1, 1, 0, 1),
      { kind: "update", id, n: 2, condition: 1, outcome: "done", version: 2, sentAt: 2, answeredAt: 9 },
      { kind: "update", id, n: 3, condition: 1, outcome: "done", version: 3, sentAt: 2, answeredAt: 9 },
    ]),
    "in which a create without an answer is seen by one read, but not by a later one": history([
      unanswered(created(1, 1, 0, 1)),
      read(1, 1, 5, 6),
      readNothing(7, 8),
    ]),
    "in which two writes have one version": history([created(1, 1, 0, 1), { ...created(2, 1, 0, 1), id: "b" }]),
    "in which a list misses an answered write": history([created(1, 1, 0, 1)], [list(0, [], 2, 3)]),
    "in which a list shows a write before it was sent": history([created(1, 1, 5, 6)], [list(1, [{ id, n: 1 }], 2, 3)]),
    "in which two lists of one version differ": history(
      [created(1, 1, 0, 9), { ...created(2, 2, 0, 9), id: "b" }],
      [list(1, [{ id, n: 1 }], 1, 8), list(1, [], 1, 8)],
    ),
    "in which a list mixes two moments": history(
      [created(1, 1, 0, 9), { ...created(2, 2, 0, 9), id: "b" }],
      [list(2, [{ id: "b", n: 2 }], 1, 8)],
    ),
    "in which a list is not in order of creation": history(
      [created(1, 1, 0, 1), { ...created(2, 2, 2, 3), id: "b" }],
      [
        list(
          2,
          [
            { id: "b", n: 2 },
            { id, n: 1 },
          ],
          4,
          5,
        ),
      ],
    ),
    "in which a list is older than one before it": history(
      [created(1, 1, 0, 20), updated(2, 2, 0, 20)],
      [list(2, [{ id, n: 2 }], 1, 2), list(1, [{ id, n: 1 }], 3, 4)],
    ),
  };
  for (const [title, rejected] of Object.entries(cases)) test(title, () => expect(check(rejected)).toBeString());
});
