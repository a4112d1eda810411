// `todoitems show`: prints items with all their fields.

import { styleText } from "node:util";
import { indented } from "../items/indented.ts";
import { scanObject } from "../items/json-text.ts";
import { stringOf } from "../items/object-text.ts";
import { printable } from "../terminal/text.ts";
import { labelledRows, widthOf } from "../terminal/wrapped-text.ts";
import { jsonFlag, printLine } from "./command-line/output.ts";
import { isJson } from "./items/fields.ts";
import { findItems, idNotes } from "./items/find-items.ts";
import { defineClientCommand } from "./service/connect.ts";

export const command = defineClientCommand(
  {
    name: "show",
    parameters: "ID…",
    summary: "show items in full",
    flags: [jsonFlag],
    notes: idNotes,
    example: "show 3f2a",
  },
  async (client, args) => {
    const bold = (name: string) => styleText("bold", name);
    for (const { item } of await findItems(client, args.positionals))
      await printLine(args.has("json") ? item : labelledRows(rowsOf(item), widthOf(process.stdout), bold).join("\n"));
  },
);

function rowsOf(item: string): [name: string, text: string][] {
  return scanObject(item)
    .entries()
    .map(([name, value]) => {
      const text = stringOf(value);
      // A text that is also a JSON value keeps its quotes: without them, the text "true" would look like the value true.
      const lines = (text === undefined || isJson(text) ? indented(value) : text).split("\n");
      return [printable(name), lines.map(printable).join("\n")];
    });
}
