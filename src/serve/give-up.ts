// What the service does when somebody else has touched the files of its SQLite store: it saves its items as a new
// store, and ends. It leaves the files of the store as they are; the next start judges them again.

import { StoreError } from "../collection/engine.ts";
import { describedList } from "../collection/list-key.ts";
import type { TodoStore } from "../collection/todo-store.ts";
import { writeNewStore } from "../engines/sqlite/store-writer.ts";
import { timeStamp } from "../files/time-stamp.ts";
import type { Log } from "../http/log.ts";

/** More lists than this are only counted. */
const namesShown = 20;

/**
 * Resolves once the items are saved, or cannot be. Then end the process with `process.exit`: closing the store would
 * change its files. Meanwhile the store refuses all requests.
 */
export async function giveUp(store: TodoStore, path: string, finding: string, log: Log): Promise<void> {
  log("error", `${finding}. All requests are refused, and the items are saved before the service ends`);
  const saved = `${path}.saved-${timeStamp(new Date())}`;
  const doubtful: string[] = [];
  try {
    const items = store.everyItem((list) => doubtful.push(describedList(list)));
    const count = await writeNewStore(saved, items);
    const report = `${count.toLocaleString("en")} items were saved as ${saved}. That file is a store: bring it back with restore`;
    if (doubtful.length === 0 && count === store.state.itemCount) log("error", `All ${report}`);
    else log("error", `${report}. Lists that were not in memory may be old, incomplete or missing${named(doubtful)}`);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    log("error", `The items could not be saved: ${error.message}`);
  }
}

function named(lists: readonly string[]): string {
  if (lists.length === 0) return "";
  const more = lists.length - namesShown;
  return `: ${lists.slice(0, namesShown).join(", ")}${more > 0 ? ` and ${more.toLocaleString("en")} more` : ""}`;
}
