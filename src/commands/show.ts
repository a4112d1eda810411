// `todoitems show`: prints one item with all its fields.

import { indented } from "../items/indented.ts";
import { scanObject } from "../items/json-text.ts";
import { stringOf } from "../items/object-text.ts";
import { padEnd, printable, styleOf } from "../terminal/text.ts";
import { defineCommand, positionalsOf } from "./command.ts";
import { connect } from "./connect.ts";
import { connectionFlags } from "./connection-flags.ts";
import { isJson } from "./fields.ts";
import { findItem } from "./find-item.ts";
import { jsonFlag, printLine } from "./output.ts";

export const show = defineCommand(
  {
    name: "show",
    parameters: "ID",
    summary: "show one item in full",
    flags: [jsonFlag, ...connectionFlags],
    notes: "ID may be the beginning of an ID, if no other ID begins with it.",
  },
  async (args, environment) => {
    const [prefix = ""] = positionalsOf(args, 1, 1, "ID");
    const { item } = await findItem(await connect(args, environment), prefix);
    if (args.has("json")) {
      await printLine(item);
      return 0;
    }
    const style = styleOf(process.stdout, environment);
    const fields = [...scanObject(item).toMap()].map(([name, value]) => [printable(name), value] as const);
    const width = Math.max(...fields.map(([name]) => Bun.stringWidth(name)));
    for (const [name, value] of fields) {
      const text = stringOf(value);
      // A text that is also a JSON value keeps its quotes. Without quotes, the text "true" would look like the value
      // true.
      const lines = (text === undefined || isJson(text) ? indented(value) : text).split("\n").map(printable);
      await printLine(`${style.bold(padEnd(name, width))}  ${lines.join(`\n${" ".repeat(width)}  `)}`.trimEnd());
    }
    return 0;
  },
);
