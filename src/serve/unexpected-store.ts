// Notices that the store is not the one that the operator expects. A read-only service on a file that does not exist
// starts with an empty store, because a fresh machine must be able to start it. But usually the path is wrong.

import { existsSync } from "node:fs";
import type { Settings } from "./settings-table.ts";

/** Call this before the store is opened, because opening makes the file. */
export function isUnexpectedlyNew({ store, demo, readOnly, seed }: Settings): boolean {
  return readOnly && !demo && seed === undefined && store.engine === "sqlite" && !existsSync(store.path);
}
