// `todoitems remove`: deletes items.

import { idOf } from "../client/item-text.ts";
import { UsageError } from "./command-line/errors.ts";
import { jsonFlag, printLine, remark } from "./command-line/output.ts";
import { isDone, itemLabel } from "./items/fields.ts";
import { findItems, idNotes } from "./items/find-items.ts";
import { defineClientCommand } from "./service/connect.ts";

export const command = defineClientCommand(
  {
    name: "remove",
    parameters: "[ID…]",
    summary: "delete items",
    flags: [{ name: "done", placeholder: "", meaning: "instead of IDs: all items that are done" }, jsonFlag],
    notes: idNotes,
    example: "remove --done",
  },
  async (client, args) => {
    const done = args.has("done");
    if (args.positionals.length > 0 === done) throw new UsageError("Name the items by their IDs, or give --done.");
    const words = done ? (await client.list()).filter(isDone).map((json) => idOf(json) ?? "") : args.positionals;
    if (words.length === 0) remark("No item is done.");
    for (const { id, item, etag } of await findItems(client, words)) {
      // An item that somebody changes in the meantime is perhaps no longer done.
      await client.remove(id, { ifMatch: done ? etag : undefined });
      await printLine(args.has("json") ? JSON.stringify({ ID: id }) : `Removed: ${itemLabel(id, item)}`);
    }
  },
);
