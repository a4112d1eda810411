// What the service does when somebody else has touched the files of its SQLite store: it saves the items that it has in
// memory as a new store, and ends. It leaves the files of the store as they are; the next start judges them again.

import type { TodoCollection } from "../collection/todo-collection.ts";
import { SqliteStoreError } from "../engines/sqlite/sqlite-errors.ts";
import { writeNewStore } from "../engines/sqlite/store-writer.ts";
import { timeStamp } from "../files/time-stamp.ts";
import type { Log } from "../http/log.ts";

/**
 * Resolves once the items are saved, or cannot be. Then end the process with `process.exit`: closing the store would
 * change its files. Meanwhile the collection refuses all requests.
 */
export async function giveUp(collection: TodoCollection, path: string, finding: string, log: Log): Promise<void> {
  log("error", `${finding}. All requests are refused, and the items are saved before the service ends`);
  const saved = `${path}.saved-${timeStamp(new Date())}`;
  try {
    await writeNewStore(saved, collection.items());
    log(
      "error",
      `All ${collection.count.toLocaleString("en")} items were saved as ${saved}. That file is a store: bring it back with restore`,
    );
  } catch (error) {
    if (!(error instanceof SqliteStoreError)) throw error;
    log("error", `The items could not be saved: ${error.message}`);
  }
}
