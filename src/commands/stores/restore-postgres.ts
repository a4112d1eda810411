// Replaces the items of a PostgreSQL store with those of a backup, in one transaction. So if the user interrupts this,
// the store stays as it was.

import type { Change, PlannedChange } from "../../collection/engine.ts";
import { replaceItems } from "../../engines/postgres/postgres-replacement.ts";
import type { Snapshot } from "../../engines/snapshot.ts";
import { CommandError } from "../command-line/errors.ts";
import { countOf } from "../command-line/output.ts";
import { interruptible, untilAborted } from "../files/interruptible.ts";
import { ProgressBar } from "../transfer/progress-bar.ts";
import { compareRows, RowsHash } from "./rows-hash.ts";
import { describeStore, type KeptStore } from "./store-setting.ts";
import type { StoreSummary } from "./store-writer.ts";

type PostgresStore = Extract<KeptStore, { readonly engine: "postgres" }>;

/** A statement ends once it has this many items or this many characters. Both numbers limit the memory that is needed. */
const itemsAtOnce = 1_000;
const charactersAtOnce = 4_000_000;

/** Writes the items of the snapshot, then closes it. */
export function restorePostgres(snapshot: Snapshot, store: PostgresStore, force: boolean): Promise<StoreSummary> {
  return interruptible(
    describeStore(store),
    (signal) => write(snapshot, store, force, signal),
    () => true,
  );
}

async function write(
  snapshot: Snapshot,
  store: PostgresStore,
  force: boolean,
  signal: AbortSignal,
): Promise<StoreSummary> {
  const bar = new ProgressBar();
  const written = new RowsHash();
  let hash = "";
  const fraction = (count: number) => count / Math.max(1, snapshot.itemCount) / 2;
  async function* items() {
    for await (const portion of portions(untilAborted(snapshot.items(), signal))) {
      for (const item of portion) written.add(item);
      bar.update(written.count, fraction(written.count));
      yield portion;
    }
  }
  try {
    await replaceItems(store, {
      mayReplace(itemCount) {
        if (itemCount === 0 || force) return;
        throw new CommandError(
          `The store has ${countOf(itemCount)}. Make a backup of it first, then replace it with --force.`,
        );
      },
      portions: items(),
      async verify(found) {
        const rows = untilAborted(found, signal);
        hash = await compareRows(written, rows, (count) => bar.update(count, 0.5 + fraction(count)));
      },
    });
    return { items: written.count, hash };
  } finally {
    bar.clear();
    await snapshot.close();
  }
}

/** Groups the items. Each group is meant for one statement. */
async function* portions(items: AsyncIterable<Change>): AsyncGenerator<PlannedChange[]> {
  let portion: PlannedChange[] = [];
  let characters = 0;
  for await (const item of items) {
    portion.push({ ...item, replaces: undefined });
    characters += item.json?.length ?? 0;
    if (portion.length < itemsAtOnce && characters < charactersAtOnce) continue;
    yield portion;
    portion = [];
    characters = 0;
  }
  if (portion.length > 0) yield portion;
}
