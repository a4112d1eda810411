// `todoitems list`: prints the items as a table or as JSON lines.

import { idOf } from "../client/item-text.ts";
import { scanObject } from "../items/json-text.ts";
import { isIdName } from "../items/todo-item.ts";
import { defineCommand, positionalsOf } from "./command.ts";
import { connect, connectionFlags } from "./connect.ts";
import { displayText } from "./fields.ts";
import { shortIds } from "./find-item.ts";
import { jsonFlag, printLine } from "./output.ts";
import { type Column, layOut } from "./table.ts";
import { printable, styleOf, widthOf } from "./terminal.ts";

export const list = defineCommand(
  {
    name: "list",
    parameters: "",
    summary: "show the items",
    flags: [jsonFlag, ...connectionFlags],
    notes: "The ID column has as much of each ID as other commands need. --json prints each item on a line of its own.",
  },
  async (args, environment) => {
    positionalsOf(args, 0, 0, "argument");
    const client = await connect(args, environment);
    if (args.has("json")) {
      for await (const json of client.items()) await printLine(json);
      return 0;
    }
    const items = await client.list();
    if (items.length === 0) {
      console.error("There are no items yet. Add one with: todoitems add NAME");
      return 0;
    }
    const style = styleOf(process.stdout, environment);
    const { lines, leftOut } = layOut(columnsOf(items), widthOf(process.stdout), style);
    await printLine(lines.join("\n"));
    if (leftOut.length > 0)
      console.error(`Not shown for want of room: ${leftOut.join(", ")}. --json shows everything.`);
    return 0;
  },
);

/**
 * The short ID, then every field in the order of first appearance. Names that differ only in letter case share a
 * column.
 */
function columnsOf(items: readonly string[]): Column[] {
  const ids = items.map((json) => idOf(json) ?? "");
  const short = shortIds(ids);
  const titles = new Map<string, string>();
  const rows = items.map((json) => {
    const row = new Map<string, string>();
    for (const [name, value] of scanObject(json).toMap()) {
      if (isIdName(name)) continue;
      if (!titles.has(name.toLowerCase())) titles.set(name.toLowerCase(), name);
      row.set(name.toLowerCase(), printable(displayText(value)));
    }
    return row;
  });
  return [
    { title: "ID", cells: ids.map((id) => short.get(id) ?? ""), optional: false },
    ...Array.from(titles, ([key, title], index) => ({
      title: printable(title),
      cells: rows.map((row) => row.get(key) ?? ""),
      optional: index > 0,
    })),
  ];
}
