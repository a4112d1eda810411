// `todoitems show`: prints one item with all its fields.

import { indented } from "../items/indented.ts";
import { scanObject } from "../items/json-text.ts";
import { stringOf } from "../items/object-text.ts";
import { padEnd, printable, styleOf } from "../terminal/text.ts";
import { jsonFlag, printLine } from "./command-line/output.ts";
import { isJson } from "./items/fields.ts";
import { findItem, idNotes } from "./items/find-items.ts";
import { defineClientCommand } from "./service/connect.ts";

export const command = defineClientCommand(
  {
    name: "show",
    parameters: "ID",
    summary: "show one item in full",
    flags: [jsonFlag],
    notes: idNotes,
  },
  async (client, args, environment) => {
    const [word = ""] = args.positionals;
    const { item } = await findItem(client, word);
    if (args.has("json")) {
      await printLine(item);
      return;
    }
    const style = styleOf(process.stdout, environment);
    const fields = [...scanObject(item).toMap()].map(([name, value]) => [printable(name), value] as const);
    const width = Math.max(...fields.map(([name]) => Bun.stringWidth(name)));
    for (const [name, value] of fields) {
      const text = stringOf(value);
      // A text that is also a JSON value keeps its quotes: without them, the text "true" would look like the value true.
      const lines = (text === undefined || isJson(text) ? indented(value) : text).split("\n").map(printable);
      await printLine(`${style.bold(padEnd(name, width))}  ${lines.join(`\n${" ".repeat(width)}  `)}`.trimEnd());
    }
  },
);
