// Reads a store's files through the engine, as the service does when it starts. This is quicker than starting the whole
// program.

import { StoreError } from "../../src/collection/engine.ts";
import { rootList } from "../../src/collection/list-key.ts";
import { SqliteEngine } from "../../src/engines/sqlite/sqlite-engine.ts";
import { liveItems } from "../engines/latest-changes.ts";
import { smallLimits } from "../small-limits.ts";
import type { Items } from "../torture/ledger.ts";

/**
 * Opens a store and reads a list of it. If the store is refused, returns the error that says why. Other errors are
 * defects.
 */
export async function readStore(path: string, list = rootList): Promise<Items | StoreError> {
  let engine: SqliteEngine | undefined;
  try {
    engine = await SqliteEngine.open(path, { limits: smallLimits });
    const rows = new Map<string, { readonly position: number; readonly json: string }>();
    for (const { id, position, json } of await liveItems(engine, list)) rows.set(id, { position, json: json ?? "" });
    const inOrder = [...rows].sort(([, one], [, other]) => one.position - other.position);
    return new Map(inOrder.map(([id, { json }]) => [id, json]));
  } catch (error) {
    if (error instanceof StoreError) return error;
    throw error;
  } finally {
    await engine?.close();
  }
}

export function areEqual(one: Items, other: Items): boolean {
  return JSON.stringify([...one]) === JSON.stringify([...other]);
}
