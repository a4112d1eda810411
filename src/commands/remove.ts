// `todoitems remove`: deletes items.

import { hasStatus } from "../client/errors.ts";
import { idOf } from "../client/item-text.ts";
import type { TodoClient } from "../client/todo-client.ts";
import { type Arguments, defineCommand } from "./command-line/command.ts";
import { UsageError } from "./command-line/errors.ts";
import { jsonFlag, printLine, remark } from "./command-line/output.ts";
import { isDone, titleOf } from "./items/fields.ts";
import { findItems, idNotes } from "./items/find-items.ts";
import { connect } from "./service/connect.ts";
import { connectionFlags } from "./service/connection-flags.ts";

export const command = defineCommand(
  {
    name: "remove",
    parameters: "[ID…]",
    summary: "delete items",
    flags: [
      { name: "done", placeholder: "", meaning: "instead of IDs: all items that are done" },
      jsonFlag,
      ...connectionFlags,
    ],
    notes: idNotes,
  },
  async (args, environment) => {
    if (args.positionals.length > 0 === args.has("done"))
      throw new UsageError("Name the items to remove by their IDs, or give --done.");
    const client = await connect(args, environment);
    let count = 0;
    for await (const { id, item } of args.has("done") ? removeDone(client) : removeNamed(client, args)) {
      count++;
      await printLine(args.has("json") ? JSON.stringify({ ID: id }) : `Removed: ${titleOf(id, item)}`);
    }
    if (count === 0) remark("No item is done.");
    return 0;
  },
);

async function* removeNamed(client: TodoClient<string>, { positionals }: Arguments) {
  for (const stored of await findItems(client, positionals)) {
    await client.remove(stored.id);
    yield stored;
  }
}

/** An item that somebody changes in the meantime stays: perhaps it is no longer done. */
async function* removeDone(client: TodoClient<string>) {
  for (const json of (await client.list()).filter(isDone))
    try {
      const stored = await client.get(idOf(json) ?? "");
      if (!isDone(stored.item)) continue;
      await client.remove(stored.id, { ifMatch: stored.etag });
      yield stored;
    } catch (error) {
      if (!hasStatus(error, 404, 412)) throw error;
    }
}
