// The outbox as a value: what becomes of the edits of an item when the service refuses the first of them, and of a
// conflict when edits of another tab come before it.

import { expect, test } from "bun:test";
import {
  behind,
  type Edit,
  heard,
  insisted,
  insistence,
  reconciled,
  refused,
  withEdit,
} from "../../src/client/offline/outbox.ts";
import { ids } from "../service.ts";

const edit = (number: number, kind: Edit["kind"], base: object, mine?: object): Edit => ({
  number,
  id: ids.one,
  kind,
  base: JSON.stringify(base),
  mine: mine && JSON.stringify(mine),
  sent: number === 1,
});
const gone = { id: ids.one, json: undefined, etag: undefined, position: 1 };
const problem = { status: 507, code: "StoreFull", detail: "" };
/** It was compared with the list when the service refused an earlier attempt: meanwhile, somebody has written B. */
const first = edit(1, "change", { A: "old", B: "theirs" }, { A: "mine", B: "theirs" });

test("an edit that the user takes back before it was sent leaves nothing", () => {
  const change = edit(2, "change", { A: "old" }, { A: "mine" });
  const back = edit(3, "change", { A: "mine" }, { A: "old" });
  expect(withEdit([change], back, { json: change.base }, [change])).toEqual([]);
});

test("a refused edit and what the user did next become one edit", () => {
  const change = edit(2, "change", { A: "mine", B: "theirs" }, { A: "mine", B: "next" });
  expect(refused([first, change], first, problem)).toMatchObject([{ mine: '{"A":"mine","B":"next"}' }]);
  const removal = edit(2, "remove", { A: "mine", B: "theirs" });
  expect(refused([first, removal], first, problem)).toMatchObject([{ kind: "remove", base: first.base }]);
});

test("a refused edit does not make the user overwrite or remove what others have written, and the user has not seen", () => {
  const change = edit(2, "change", { A: "mine", B: "old" }, { A: "mine", B: "next" });
  expect(refused([first, change], first, problem)).toEqual([{ ...first, sent: false, problem }, change]);
  const removal = edit(2, "remove", { A: "mine", B: "old" });
  expect(refused([first, removal], first, problem)).toEqual([{ ...first, sent: false, problem }, removal]);
});

test("a conflict behind another edit forgets neither what the user wants nor what the user has seen", () => {
  const theirs = { json: '{"A":"old","B":"theirs"}', etag: '"e-2"' };
  const change = edit(2, "change", { A: "old", B: "old" }, { A: "mine", B: "mine" });
  const removal = edit(3, "remove", { A: "old", B: "old" });
  for (const one of [change, removal]) {
    const conflict = reconciled(one, theirs, false) as Edit;
    expect([conflict.theirs, behind(conflict, [])]).toEqual([theirs, conflict]);
    expect(behind(conflict, [first])).toEqual({ ...one, sent: true });
    // Somebody deletes the item, and the edit before this one creates it again.
    const [deleted] = heard([conflict], { whole: false, items: [gone], token: "e-3" }, () => undefined) as [Edit];
    expect(deleted?.theirs).toEqual(one === change ? {} : undefined);
    if (deleted) expect(reconciled(behind(deleted, [first]), theirs, false)).toEqual(conflict);
  }
});

test("a conflict would store what the user wants on top of what others want", () => {
  const theirs = { json: '{"A":"theirs","B":"theirs"}', etag: '"e-2"' };
  const change = edit(2, "change", { A: "old", B: "old" }, { A: "mine", B: "old" });
  const conflict = reconciled(change, theirs, false) as Edit;
  expect(insistence(conflict)).toBe('{"A":"mine","B":"theirs"}');
  expect(insisted(conflict)).toMatchObject({ base: theirs.json, mine: '{"A":"mine","B":"theirs"}', etag: theirs.etag });
  const added = edit(2, "add", {}, { A: "mine" });
  expect(insistence(reconciled({ ...added, base: undefined }, theirs, false) as Edit)).toBe(
    '{"A":"mine","B":"theirs"}',
  );
});
