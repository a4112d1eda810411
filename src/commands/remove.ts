// `todoitems remove`: deletes items.

import { defineCommand, positionalsOf } from "./command.ts";
import { connect, connectionFlags } from "./connect.ts";
import { findId } from "./find-item.ts";
import { jsonFlag, printLine } from "./output.ts";

export const remove = defineCommand(
  { name: "remove", parameters: "ID…", summary: "delete items", flags: [jsonFlag, ...connectionFlags] },
  async (args, environment) => {
    const prefixes = positionalsOf(args, 1, Number.POSITIVE_INFINITY, "item");
    const client = await connect(args, environment);
    // Find all items before deleting the first one, so that a mistyped ID deletes nothing.
    const ids: string[] = [];
    for (const prefix of prefixes) ids.push(await findId(client, prefix));
    for (const id of ids) {
      await client.remove(id);
      await printLine(args.has("json") ? JSON.stringify({ ID: id }) : `Removed ${id}`);
    }
    return 0;
  },
);
