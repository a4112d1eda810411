// Stores as a crash leaves them. A copy of the files of an open store is what a kill at that moment would leave.

import { copyFileSync, existsSync } from "node:fs";
import { type PlannedChange, StoreError, type StoreState } from "../../../src/collection/engine.ts";
import { rootList } from "../../../src/collection/list-key.ts";
import { SqliteEngine } from "../../../src/engines/sqlite/sqlite-engine.ts";
import type { SqliteStore } from "../../../src/engines/sqlite/sqlite-store.ts";
import { batchOf, stateAfter } from "../batch-of.ts";
import { liveItems } from "../latest-changes.ts";

/** All files of a store that matter for the next start. */
const endings = ["", "-wal", "-record"];

/** Copies the files of a store, as a kill would leave them. */
export function copyFiles(from: string, to: string): void {
  for (const ending of endings) if (existsSync(`${from}${ending}`)) copyFileSync(`${from}${ending}`, `${to}${ending}`);
}

/** How many items the next start finds if the service that has the store open is killed at this moment. */
export async function itemsAfterKill(path: string): Promise<number> {
  const copy = `${path}.killed`;
  copyFiles(path, copy);
  const engine = await SqliteEngine.open(copy);
  const items = await liveItems(engine);
  await engine.close();
  return items.length;
}

/** Adds items, one for each commit. */
export async function addItems(engine: SqliteEngine, count: number): Promise<void> {
  for (let added = 0; added < count; added++) {
    const state = await engine.state();
    const next = state.clock + 1;
    const change = createdItem(next, `{"n":${next}}`);
    if (!(await engine.commit(batchOf(state, () => [change])))) throw new Error("not stored");
  }
}

const states = new WeakMap<SqliteStore, StoreState>();

/** The change that creates an item. */
export function createdItem(version: number, json: string, id = `id-${version}`): PlannedChange {
  return { version, position: version, id, json, replaces: undefined };
}

/** Commits changes of a list, on the state after the last such commit. */
export function commitRows(store: SqliteStore, changes: readonly PlannedChange[], list = rootList): void {
  const before = states.get(store) ?? store.rows.state();
  const state = stateAfter(before, changes);
  store.commit(changes.length === 0 ? [] : [{ list, hasItems: undefined, changes }], state);
  states.set(store, state);
}

/** Leaves a store at `path` as a kill would: in use, with `count` items, some of them only in its log. */
export async function makeCrashed(path: string, count = 3): Promise<void> {
  const live = `${path}.live`;
  const engine = await SqliteEngine.open(live);
  await addItems(engine, count);
  copyFiles(live, path);
  await engine.close();
}

/** Makes a store at `path` that was closed. */
export async function makeClosed(path: string, count = 3): Promise<void> {
  const engine = await SqliteEngine.open(path);
  await addItems(engine, count);
  await engine.close();
}

/** The error that the promise is rejected with. `expect(…).rejects` would block the messages of the thread. */
export async function errorOf(promise: Promise<unknown>): Promise<StoreError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof StoreError) return error;
    throw error;
  }
  throw new Error("this should have failed");
}
