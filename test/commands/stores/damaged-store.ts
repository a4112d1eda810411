// Writes stores with tombstones, and with rows that fill several pages.

import { copyFileSync, existsSync } from "node:fs";
import type { Change, PlannedChange } from "../../../src/collection/engine.ts";
import { SqliteEngine } from "../../../src/engines/sqlite/sqlite-engine.ts";

const idOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;

/**
 * Writes a store with items, changed items, deleted items and long items, and returns every row that was ever written.
 * The last commits stay in the log, as they do after a crash: the files are copied from an open store.
 */
export async function writeDamageable(path: string, itemCount: number): Promise<Map<number, Change>> {
  const written = new Map<number, Change>();
  const original = `${path}.original`;
  const engine = new SqliteEngine(original, { readOnly: false });
  const store = await engine.pull();
  Array.from(store.changes);
  let version = 0;
  const latest = new Map<number, Change>();
  const commit = async (rows: readonly [item: number, text: string | null][]) => {
    const changes = rows.map(([n, text]): PlannedChange => {
      const before = latest.get(n);
      version++;
      const json = text === null ? null : `{"ID":"${idOf(n)}","text":${JSON.stringify(text)}}`;
      const change = { version, position: before?.position ?? version, id: idOf(n), json };
      latest.set(n, change);
      written.set(version, change);
      return { ...change, replaces: before?.version };
    });
    await engine.commit({
      since: { epoch: store.epoch, version: version - rows.length },
      decide: () => ({ changes, dependsOn: undefined }),
      moved() {},
    });
  };
  for (let n = 0; n < itemCount; n++) await commit([[n, "x".repeat(n % 17 === 0 ? 9_000 : 40 + (n % 50))]]);
  for (let n = 0; n < itemCount; n += 3) await commit([[n, `changed ${n}`]]);
  for (let n = 0; n < itemCount; n += 10) await commit([[n, null]]);
  copyFileSync(original, path);
  if (existsSync(`${original}-wal`)) copyFileSync(`${original}-wal`, `${path}-wal`);
  await engine.close();
  return written;
}
