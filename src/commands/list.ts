// `todoitems list`: prints the items as a table or as JSON lines.

import { asTypedHere } from "../program-name.ts";
import { widthOf } from "../serve/wrapped-text.ts";
import { type Arguments, defineCommand, positionalsOf, UsageError } from "./command.ts";
import { connect } from "./connect.ts";
import { connectionFlags } from "./connection-flags.ts";
import { isDone } from "./fields.ts";
import { chosenColumns, usualColumns } from "./list-columns.ts";
import { jsonFlag, printLine, remark } from "./output.ts";
import { layOut } from "./table.ts";
import { styleOf } from "./terminal.ts";

export const list = defineCommand(
  {
    name: "list",
    parameters: "",
    summary: "show the items",
    flags: [
      { name: "open", placeholder: "", meaning: "only the items that are not done" },
      { name: "done", placeholder: "", meaning: "only the items that are done" },
      { name: "columns", placeholder: "FIELDS", meaning: "fields to show, such as ID,Name,Price", repeats: true },
      jsonFlag,
      ...connectionFlags,
    ],
    notes:
      "The ID column shows the beginning of each ID, enough to name the item in other commands. Fields that few items have are hidden; --columns shows them. --json prints every item in full, one per line.",
  },
  async (args, environment) => {
    positionalsOf(args, 0, 0, "");
    const wanted = filterOf(args);
    const client = await connect(args, environment);
    if (args.has("json")) {
      for await (const json of client.items()) if (wanted(json)) await printLine(json);
      return 0;
    }
    const all = await client.list();
    const items = all.filter(wanted);
    if (items.length === 0) {
      remark(all.length === 0 ? `There are no items yet. Add one with: ${asTypedHere("add NAME")}` : noneLeft(args));
      return 0;
    }
    const names = args.texts("columns");
    const { columns, sparse } =
      names.length === 0 ? usualColumns(all, items) : chosenColumns(all, items, names.join(","));
    const style = styleOf(process.stdout, environment);
    const { lines, leftOut } = layOut(columns, widthOf(process.stdout), style, (row) => isDone(items[row] ?? "{}"));
    await printLine(lines.join("\n"));
    const hidden = [...leftOut, ...sparse];
    if (hidden.length > 0) remark(`Hidden columns: ${hidden.join(", ")}. Use --columns to choose columns.`);
    return 0;
  },
);

function filterOf(args: Arguments): (json: string) => boolean {
  if (args.has("open") && args.has("done")) throw new UsageError("--open and --done exclude each other. Use one.");
  if (args.has("json") && args.has("columns"))
    throw new UsageError("--json prints every field. Leave out --columns or --json.");
  if (args.has("open")) return (json) => !isDone(json);
  return args.has("done") ? isDone : () => true;
}

function noneLeft(args: Arguments): string {
  return args.has("open") ? "All items are done." : "No item is done yet.";
}
