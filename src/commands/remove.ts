// `todoitems remove`: deletes items.

import type { Stored } from "../client/client-options.ts";
import { idKey } from "../items/todo-item.ts";
import { defineCommand, positionalsOf } from "./command.ts";
import { connect } from "./connect.ts";
import { connectionFlags } from "./connection-flags.ts";
import { titleOf } from "./fields.ts";
import { findItem } from "./find-item.ts";
import { jsonFlag, printLine } from "./output.ts";

const noQuestion = "leave it out: remove asks no question";
const triedInstead = { force: noQuestion, f: noQuestion, yes: noQuestion, y: noQuestion };

export const remove = defineCommand(
  {
    name: "remove",
    parameters: "ID…",
    summary: "delete items",
    flags: [{ ...jsonFlag, triedInstead }, ...connectionFlags],
  },
  async (args, environment) => {
    const prefixes = positionalsOf(args, 1, Number.POSITIVE_INFINITY, "ID");
    const client = await connect(args, environment);
    // Find all items before deleting the first one. So if an ID is mistyped, nothing is deleted.
    const found = new Map<string, Stored<string>>();
    for (const prefix of prefixes) {
      const stored = await findItem(client, prefix, "No item was removed. ");
      found.set(idKey(stored.id), stored);
    }
    for (const { id, item } of found.values()) {
      await client.remove(id);
      await printLine(args.has("json") ? JSON.stringify({ ID: id }) : `Removed: ${titleOf(id, item)}`);
    }
    return 0;
  },
);
