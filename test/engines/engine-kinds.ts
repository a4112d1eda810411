// All kinds of engine, with a store for each. Suites whose claims hold for every engine run once for each kind.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Engine } from "../../src/collection/engine.ts";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { ServedSqliteEngine } from "../../src/engines/sqlite/served-sqlite-engine.ts";
import { SqliteEngine } from "../../src/engines/sqlite/sqlite-engine.ts";
import { batchOf } from "./batch-of.ts";
import { createPostgresStore } from "./postgres/postgres-store.ts";

/** One store, which is empty at first. */
export interface TestStore {
  /** The address of the store, as the setting `--store` takes it. */
  readonly address: string;
  open(): Engine | Promise<Engine>;
  dispose(): void | Promise<void>;
}

export interface EngineKind {
  readonly name: string;
  /** Whether the items outlive the engine. */
  readonly durable: boolean;
  /** True if no setting chooses this kind. So no program can be started with it. */
  readonly isHidden?: true;
  createStore(): TestStore | Promise<TestStore>;
}

export const engineKinds: readonly EngineKind[] = [
  {
    name: "memory",
    durable: false,
    createStore: () => ({ address: "memory:", open: () => new MemoryEngine(), dispose() {} }),
  },
  {
    name: "sqlite",
    durable: true,
    createStore() {
      const folder = temporaryFolder();
      const path = join(folder.path, "store.db");
      return {
        address: `sqlite:${path}`,
        open: () => new SqliteEngine(path, { readOnly: false }),
        dispose: folder.dispose,
      };
    },
  },
  {
    name: "sqlite with a thread for commits",
    durable: true,
    isHidden: true,
    createStore() {
      const folder = temporaryFolder();
      const path = join(folder.path, "store.db");
      return {
        address: `sqlite:${path}`,
        open: () => openWithThread(path),
        dispose: folder.dispose,
      };
    },
  },
  { name: "postgres", durable: true, createStore: createPostgresStore },
];

/** Opens an engine whose commits run in a thread of their own, as on a slow disk. */
export async function openWithThread(
  path: string,
  onWarning: (message: string) => void = () => {},
): Promise<ServedSqliteEngine> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const engine = new ServedSqliteEngine(path, { onWarning, onThread: resolve, slowSyncMs: -1 });
  await engine.commit(batchOf({ epoch: "", version: 0 }, () => []));
  await promise;
  return engine;
}

export function temporaryFolder(): { readonly path: string; dispose(): void } {
  const path = mkdtempSync(join(tmpdir(), "todoitems-test-"));
  return { path, dispose: () => rmSync(path, { recursive: true, force: true }) };
}
