// `todoitems add`: stores a new item.

import { meaningOf, withKnownFields } from "../items/known-fields.ts";
import { asTyped } from "../terminal/program-name.ts";
import { UsageError } from "./command-line/errors.ts";
import { jsonFlag, printLine } from "./command-line/output.ts";
import { fieldFlag, fieldNames, itemLabel, notesFlag, parseField, setFields } from "./items/fields.ts";
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
    const known = {
      ...(name !== "" && { name }),
      ...(notes !== undefined && { notes }),
      // If the user gives a mark, such as `completed`, no `Done` is added, because the two could contradict each other.
      ...(!fields.some((field) => meaningOf(field.name) === "done") && { done: false }),
    };
    const { id, item } = await client.create(setFields(withKnownFields("{}", known, fieldNames), fields));
    await printLine(args.has("json") ? item : `Added: ${itemLabel(id, item)}`);
  },
);
