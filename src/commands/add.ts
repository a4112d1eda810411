// `todoitems add`: stores a new item.

import { scanObject } from "../items/json-text.ts";
import { knownMember } from "../items/known-fields.ts";
import { asTyped } from "../terminal/program-name.ts";
import { UsageError } from "./command-line/errors.ts";
import { jsonFlag, printLine } from "./command-line/output.ts";
import { fieldFlag, fieldNames, notesFlag, parseField, setFields, titleOf } from "./items/fields.ts";
import { defineClientCommand } from "./service/connect.ts";

export const command = defineClientCommand(
  {
    name: "add",
    parameters: "[NAME…]",
    summary: "add an item",
    flags: [notesFlag, fieldFlag, jsonFlag],
    notes: "NAME may be several words, without quotes. To choose the item's ID yourself, add --field ID=UUID.",
    example: "add Buy milk --field Price:=1.50",
  },
  async (client, args) => {
    const name = args.positionals.join(" ").trim();
    const fields = args.texts("field").map(parseField);
    if (name === "" && fields.length === 0)
      throw new UsageError(`The item needs a name, as in: ${asTyped("add Buy milk")}`);
    const notes = args.text("notes");
    const texts = [
      ...(name === "" ? [] : [{ name: fieldNames.name, json: JSON.stringify(name) }]),
      ...(notes === undefined ? [] : [{ name: fieldNames.notes, json: JSON.stringify(notes) }]),
    ];
    // If the user gives a mark, such as `completed`, no `Done` is added, because the two could contradict each other.
    const hasMark = knownMember(scanObject(setFields("{}", fields)), "done") !== undefined;
    const marks = hasMark ? [] : [{ name: fieldNames.done, json: "false" }];
    const { id, item } = await client.create(setFields("{}", [...texts, ...marks, ...fields]));
    await printLine(args.has("json") ? item : `Added: ${titleOf(id, item)}`);
  },
);
