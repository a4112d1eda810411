// Opens the store that the settings ask for, on its engine, and puts the seed into it.

import { type Engine, StoreError } from "../collection/engine.ts";
import { type StoreOptions, TodoStore } from "../collection/todo-store.ts";
import { MemoryEngine } from "../engines/memory-engine.ts";
import { SqliteEngine } from "../engines/sqlite/sqlite-engine.ts";
import { withoutRepeats } from "../http/log.ts";
import type { InstanceContext } from "./instance-context.ts";
import { listMismatch, listMismatchIn } from "./offered-lists.ts";
import { readSeed } from "./seed.ts";

/**
 * If requests were cut off at shutdown, the store may take this long to close. After this time, the process ends
 * anyway.
 */
export const closeMsMax = 2_000;

/** `onDoubt` is called if somebody else touches the files of a SQLite store. */
export async function openStore(context: InstanceContext, onDoubt: (finding: string) => void): Promise<TodoStore> {
  const { settings, limits, metrics, log } = context;
  const seed = readSeed(settings);
  const engine = await openEngine(context, seed !== undefined, onDoubt);
  const mismatch = await listMismatch(engine, settings.lists);
  if (mismatch !== undefined) {
    await engine.close();
    throw cannotBeUsed(mismatch);
  }
  const store = await TodoStore.open(engine, {
    ...settings,
    listMemoryMax: settings.lists === "one" ? undefined : settings.listMemoryMax,
    limits,
    readOnly: settings.readOnly || settings.demo,
    onCommit: (ms, writeCount) => metrics.addCommit(ms, writeCount),
    ...storeLog(context),
  });
  if (seed && !(await store.seed(seed))) {
    const file = settings.seed === undefined ? "" : ` ${settings.seed}`;
    log("info", `The store already has items, so the seed${file} was not used`);
  }
  return store;
}

function cannotBeUsed(reason: string): StoreError {
  return new StoreError(`the store cannot be used: ${reason}`);
}

async function openEngine(
  { settings, limits, log }: InstanceContext,
  seeding: boolean,
  onDoubt: (finding: string) => void,
): Promise<Engine> {
  const { store, demo } = settings;
  const readOnly = settings.readOnly && !seeding;
  if (demo || store.engine === "memory") return new MemoryEngine(limits);
  if (store.engine === "postgres") {
    // Most instances do not use PostgreSQL, and start sooner without this code.
    const { PostgresEngine } = await import("../engines/postgres/postgres-engine.ts");
    return PostgresEngine.open(store, { readOnly, limits, onOtherHistory: (message) => log("warn", message) });
  }
  const logOnce = withoutRepeats(log);
  return SqliteEngine.open(store.path, {
    readOnly,
    limits,
    // A service that is being replaced may still be stopping.
    lockWaitMs: (settings.shutdownDelaySeconds + settings.shutdownGraceSeconds) * 1_000 + closeMsMax,
    onFound(found) {
      const mismatch = listMismatchIn(found, settings.lists);
      if (mismatch !== undefined) throw cannotBeUsed(mismatch);
    },
    onWarning: (message) => logOnce("warn", message),
    onDoubt,
  });
}

/** Counts and logs failures of the store, and logs when the store works again. */
function storeLog({ metrics, log }: InstanceContext): Pick<StoreOptions, "onStoreError" | "onStoreBack"> {
  const logOnce = withoutRepeats(log);
  return {
    onStoreError({ message }) {
      metrics.storeErrors++;
      logOnce("error", `Requests were refused: ${message}`);
    },
    onStoreBack: () => logOnce("info", "The store responds again"),
  };
}
