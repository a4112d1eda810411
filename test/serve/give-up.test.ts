// Tests what a service says that gives up, about the items that it saves.

import { expect, test } from "bun:test";
import { copyFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { listKey } from "../../src/collection/list-key.ts";
import { TodoStore } from "../../src/collection/todo-store.ts";
import { SqliteEngine } from "../../src/engines/sqlite/sqlite-engine.ts";
import { openSqliteSnapshot } from "../../src/engines/sqlite/sqlite-snapshot.ts";
import { giveUp } from "../../src/serve/give-up.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { errorOf } from "../engines/sqlite/crashed-store.ts";
import { ids, item } from "../service.ts";

const names = Array.from({ length: 25 }, (_, index) => `list-${index}`);

/** Opens a store with so little memory for lists that only the one that was used last stays there. */
const openStore = async (path: string) => TodoStore.open(await SqliteEngine.open(path), { listMemoryMax: 1 });

/** An item that is larger than a page of SQLite, and whose text begins with a word. */
const itemOf = (word: string) => item(ids.one, `"text":"${word.padEnd(200_000, "x")}"`);

const update = (store: TodoStore, name: string, json: string) =>
  store.list(name).write({ kind: "update", item: { id: ids.one, json }, condition: undefined });

/** Makes a store with an item in each list. */
async function makeStore(path: string): Promise<void> {
  const store = await openStore(path);
  const json = itemOf("old");
  await Promise.all(names.map((name) => store.list(name).write({ kind: "create", item: { id: ids.one, json } })));
  await store.close();
}

/** Gives up, and returns what was said, and the beginnings of the texts that were saved. */
async function end(store: TodoStore, path: string): Promise<{ log: string[]; saved: string[] }> {
  const log: string[] = [];
  await giveUp(store, path, "somebody was here", (_, text) => log.push(text));
  const folder = dirname(path);
  const name = readdirSync(folder).find((file) => file.includes(".saved-")) ?? "";
  const snapshot = openSqliteSnapshot(join(folder, name));
  const saved: string[] = [];
  for await (const { json } of snapshot.items()) saved.push(JSON.parse(json ?? "").text.slice(0, 3));
  await snapshot.close();
  return { log, saved };
}

test("a service that gives up saves all lists, and says so", async () => {
  const folder = temporaryFolder();
  const path = join(folder.path, "store.db");
  await makeStore(path);
  const store = await openStore(path);
  await update(store, "list-7", itemOf("new"));
  const { log, saved } = await end(store, path);
  expect(saved.sort()).toEqual(["new", ...Array(24).fill("old")]);
  expect(log[1]).toContain("All 25 items were saved");
  await store.close();
  folder.dispose();
});

test("if an older copy was written over the store, it says which lists may be old", async () => {
  const folder = temporaryFolder();
  const path = join(folder.path, "store.db");
  const older = join(folder.path, "older.db");
  await makeStore(path);
  copyFileSync(path, older);
  const before = await openStore(path);
  for (const name of ["list-7", "list-8"]) await update(before, name, itemOf("new"));
  await before.close();

  const store = await openStore(path);
  await store.list("list-7").refresh();
  copyFileSync(older, path);
  const { message } = await errorOf(update(store, "list-7", itemOf("newer")));
  expect(message).toContain("another program has written into the store");
  const { log, saved } = await end(store, path);
  // The update of list 8 is lost, so the service must not claim that it has saved everything.
  expect(saved).toContain("new");
  expect(log[1]).toContain(`${saved.length} items were saved`);
  expect(log[1]).not.toContain("All");
  expect(log[1]).toMatch(/may be old, incomplete or missing: "", "list-0", .* and 5 more$/);
  folder.dispose();
});

test("if a list of a user may be incomplete, it says whose list that is", async () => {
  const folder = temporaryFolder();
  const path = join(folder.path, "store.db");
  const lists = ["", "work"].map((name) => listKey(name, "ann"));
  const engine = Object.assign(await SqliteEngine.open(path), { lists: async () => ({ lists, isIntact: false }) });
  const store = await TodoStore.open(engine, { listMemoryMax: 1 });
  const { log } = await end(store, path);
  expect(log[1]).toContain('or missing: "" of ann, "work" of ann');
  await store.close();
  folder.dispose();
});
