// `todoitems add`: stores a new item.

import { defineCommand, UsageError } from "./command.ts";
import { connect, connectionFlags } from "./connect.ts";
import { displayText, fieldFlag, fieldOf, parseField, setFields } from "./fields.ts";
import { jsonFlag, printLine } from "./output.ts";
import { printable } from "./terminal.ts";

export const add = defineCommand(
  {
    name: "add",
    parameters: "NAME…",
    summary: "add an item",
    flags: [
      { name: "notes", short: "n", placeholder: "TEXT", meaning: "its notes" },
      fieldFlag,
      jsonFlag,
      ...connectionFlags,
    ],
    notes: "The words of NAME need no quotes. An ID of your own is given with --field ID=UUID.",
  },
  async (args, environment) => {
    const name = args.positionals.join(" ");
    const fields = args.texts("field").map(parseField);
    if (name === "" && fields.length === 0) throw new UsageError("What is to be added? Give its name.");
    const notes = args.text("notes");
    const json = setFields("{}", [
      ...(name === "" ? [] : [{ name: "Name", json: JSON.stringify(name) }]),
      ...(notes === undefined ? [] : [{ name: "Notes", json: JSON.stringify(notes) }]),
      { name: "Done", json: "false" },
      ...fields,
    ]);
    const client = await connect(args, environment);
    const { id, item } = await client.create(json);
    await printLine(
      args.has("json") ? item : `Added ${id}  ${printable(displayText(fieldOf(item, "Name")))}`.trimEnd(),
    );
    return 0;
  },
);
