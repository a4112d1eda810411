// All kinds of engine, with a store for each. Suites whose claims hold for every engine run once for each kind.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Engine } from "../../src/collection/engine.ts";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { SqliteEngine } from "../../src/engines/sqlite/sqlite-engine.ts";
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
  /** Whether several processes may use one store at the same time. */
  readonly isShared: boolean;
  createStore(): TestStore | Promise<TestStore>;
}

export const engineKinds: readonly EngineKind[] = [
  {
    name: "memory",
    durable: false,
    isShared: false,
    createStore: () => ({ address: "memory:", open: () => new MemoryEngine(), dispose() {} }),
  },
  {
    name: "sqlite",
    durable: true,
    isShared: false,
    createStore() {
      const folder = temporaryFolder();
      const path = join(folder.path, "store.db");
      return {
        address: `sqlite:${path}`,
        open: () => SqliteEngine.open(path),
        dispose: folder.dispose,
      };
    },
  },
  { name: "postgres", durable: true, isShared: true, createStore: createPostgresStore },
];

export function temporaryFolder(): { readonly path: string; dispose(): void } {
  const path = mkdtempSync(join(tmpdir(), "todoitems-test-"));
  return { path, dispose: () => rmSync(path, { recursive: true, force: true }) };
}
