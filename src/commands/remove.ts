// `todoitems remove`: deletes items.

import { command, only } from "./command.ts";
import { connect, connectionFlags } from "./connection.ts";
import { findId } from "./find-item.ts";
import { jsonFlag, print } from "./output.ts";

export const remove = command(
  { name: "remove", parameters: "ID…", summary: "delete items", flags: [jsonFlag, ...connectionFlags] },
  async (args, environment) => {
    const prefixes = only(args, 1, Number.POSITIVE_INFINITY, "item");
    const client = await connect(args, environment);
    // All are looked for before the first is deleted, so that a mistyped one deletes nothing.
    const ids: string[] = [];
    for (const prefix of prefixes) ids.push(await findId(client, prefix));
    for (const id of ids) {
      await client.remove(id);
      await print(args.has("json") ? JSON.stringify({ ID: id }) : `Removed ${id}`);
    }
    return 0;
  },
);
