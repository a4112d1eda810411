// Replaces the items of a PostgreSQL store with those of a backup, in one transaction. So if the user interrupts this,
// the store stays as it was.

import type { Change, PlannedChange } from "../../collection/engine.ts";
import { replaceItems } from "../../engines/postgres/postgres-replacement.ts";
import type { Snapshot } from "../../engines/snapshot.ts";
import { CommandError } from "../command-line/errors.ts";
import { countOf } from "../command-line/output.ts";
import { interruptible, untilAborted } from "../files/interruptible.ts";
import { compareRows, RowsHash } from "./rows-hash.ts";
import type { StoreSummary } from "./store-copy.ts";
import { describeStore, type KeptStore } from "./store-setting.ts";

type PostgresStore = Extract<KeptStore, { readonly engine: "postgres" }>;

/** A statement ends once it has this many items or this many characters. Both numbers limit the memory that is needed. */
const itemsAtOnce = 1_000;
const charactersAtOnce = 4_000_000;

/** Writes the items of the snapshot, then closes it. */
export function restorePostgres(snapshot: Snapshot, store: PostgresStore, force: boolean): Promise<StoreSummary> {
  const write = async (signal: AbortSignal) => {
    const written = new RowsHash();
    let hash = "";
    await replaceItems(store, {
      mayReplace(itemCount) {
        if (itemCount === 0 || force) return;
        throw new CommandError(
          `The store has ${countOf(itemCount)}. Make a backup of it first, then replace it with --force.`,
        );
      },
      portions: portions(written.adding(untilAborted(snapshot.items(), signal))),
      async verify(found) {
        hash = await compareRows(written, untilAborted(found, signal));
      },
    });
    return { items: written.count, hash };
  };
  const exists = () => true;
  return interruptible(describeStore(store), write, exists).finally(() => snapshot.close());
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
