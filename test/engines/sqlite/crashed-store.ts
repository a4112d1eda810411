// Stores as a crash leaves them. A copy of the files of an open store is what a kill at that moment would leave.

import { copyFileSync, existsSync } from "node:fs";
import { StoreError } from "../../../src/collection/engine.ts";
import { SqliteEngine } from "../../../src/engines/sqlite/sqlite-engine.ts";
import { batchOf } from "../batch-of.ts";
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
    const { epoch, version } = await engine.load();
    const next = version + 1;
    const change = { version: next, position: next, id: `id-${next}`, json: `{"n":${next}}`, replaces: undefined };
    if (!(await engine.commit(batchOf({ epoch, version }, () => [change])))) throw new Error("not stored");
  }
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
