// All kinds of engine, with a store for each. Suites whose claims hold for every engine run once for each kind.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Engine } from "../../src/collection/engine.ts";
import { type Limits, realLimits } from "../../src/collection/limits.ts";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { SqliteEngine } from "../../src/engines/sqlite/sqlite-engine.ts";
import { refuseSuspicion, smallLimits } from "../small-limits.ts";
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
  /** Stores on disk have small limits, and the one in memory has the real ones, so that suites run with both. */
  readonly limits: Limits;
  createStore(): TestStore | Promise<TestStore>;
}

export const engineKinds: readonly EngineKind[] = [
  {
    name: "memory",
    durable: false,
    isShared: false,
    limits: realLimits,
    createStore: () => ({ address: "memory:", open: () => new MemoryEngine(), dispose() {} }),
  },
  {
    name: "sqlite",
    durable: true,
    isShared: false,
    limits: smallLimits,
    createStore() {
      const folder = temporaryFolder();
      const path = join(folder.path, "store.db");
      return {
        address: `sqlite:${path}`,
        open: () => SqliteEngine.open(path, { limits: smallLimits, onWarning: refuseSuspicion }),
        dispose: folder.dispose,
      };
    },
  },
  { name: "postgres", durable: true, isShared: true, limits: smallLimits, createStore: createPostgresStore },
];

export function temporaryFolder(): { readonly path: string; dispose(): void } {
  const path = mkdtempSync(join(tmpdir(), "todoitems-test-"));
  return { path, dispose: () => rmSync(path, { recursive: true, force: true }) };
}
