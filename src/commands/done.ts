// `todoitems done`: marks items as done, or as not done.

import { withKnownFields } from "../items/known-fields.ts";
import { jsonFlag, printLine } from "./command-line/output.ts";
import { fieldNames, itemLabel } from "./items/fields.ts";
import { findItems, idNotes } from "./items/find-items.ts";
import { defineClientCommand } from "./service/connect.ts";

export const command = defineClientCommand(
  {
    name: "done",
    parameters: "ID…",
    summary: "mark items as done",
    flags: [{ name: "undo", placeholder: "", meaning: "mark them as not done" }, jsonFlag],
    notes: idNotes,
    example: 'done 3f2a "Water the plants"',
  },
  async (client, args) => {
    const done = !args.has("undo");
    for (const { id } of await findItems(client, args.positionals)) {
      const { item } = await client.change(id, (json) => withKnownFields(json, { done }, fieldNames));
      await printLine(args.has("json") ? item : `${done ? "Done" : "Not done"}: ${itemLabel(id, item)}`);
    }
  },
);
