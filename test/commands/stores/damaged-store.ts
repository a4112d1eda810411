// Writes stores with tombstones, and with rows that fill several pages.

import { copyFileSync } from "node:fs";
import type { Change, PlannedChange } from "../../../src/collection/engine.ts";
import { SqliteEngine } from "../../../src/engines/sqlite/sqlite-engine.ts";
import { batchOf, stateAfter } from "../../engines/batch-of.ts";

const commitRows = 20;
const idOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;

/**
 * Writes a store with items, changed items, deleted items and long items, and returns every row that was ever written.
 * The last commits stay in the log, as they do after a crash: the files are copied from an open store.
 */
export async function writeDamageable(path: string, itemCount: number): Promise<Map<number, Change>> {
  const written = new Map<number, Change>();
  const original = `${path}.original`;
  const engine = await SqliteEngine.open(original);
  let state = await engine.state();
  let version = 0;
  const latest = new Map<number, Change>();
  const commit = async (rows: readonly (readonly [item: number, text: string | null])[]) => {
    const changes = rows.map(([n, text]): PlannedChange => {
      const before = latest.get(n);
      version++;
      const json = text === null ? null : `{"ID":"${idOf(n)}","text":${JSON.stringify(text)}}`;
      const change = { version, position: before?.position ?? version, id: idOf(n), json };
      latest.set(n, change);
      written.set(version, change);
      return { ...change, replaces: before?.version };
    });
    await engine.commit(batchOf(state, () => changes));
    state = stateAfter(state, changes);
  };
  const numbers = Array.from({ length: itemCount }, (_, n) => n);
  const writes = [
    ...numbers.map((n) => [n, "x".repeat(n % 17 === 0 ? 9_000 : 40 + (n % 50))] as const),
    ...numbers.filter((n) => n % 3 === 0).map((n) => [n, `changed ${n}`] as const),
    ...numbers.filter((n) => n % 10 === 0).map((n) => [n, null] as const),
  ];
  for (let start = 0; start < writes.length; start += commitRows) await commit(writes.slice(start, start + commitRows));
  for (const ending of ["", "-wal", "-record"]) copyFileSync(original + ending, path + ending);
  await engine.close();
  return written;
}
