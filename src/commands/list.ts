// `todoitems list`: prints the items as a table or as JSON lines.

import { styleText } from "node:util";
import { idOf } from "../client/item-text.ts";
import { scanObject } from "../items/json-text.ts";
import { knownFields, textOf } from "../items/known-fields.ts";
import { asTyped } from "../terminal/program-name.ts";
import { padEnd, printable, shorten } from "../terminal/text.ts";
import { widthOf } from "../terminal/wrapped-text.ts";
import type { Arguments } from "./command-line/command.ts";
import { jsonFlag, printLine, remark } from "./command-line/output.ts";
import { isDone } from "./items/fields.ts";
import { distinctLength } from "./items/find-items.ts";
import { defineClientCommand } from "./service/connect.ts";

export const command = defineClientCommand(
  {
    name: "list",
    parameters: "",
    summary: "show the items",
    flags: [
      { name: "open", placeholder: "", meaning: "only the items that are not done" },
      { name: "done", placeholder: "", meaning: "only the items that are done" },
      { name: "search", placeholder: "TEXT", meaning: "only the items with this text in a field, in any letter case" },
      jsonFlag,
    ],
    notes:
      "The table has a tick for what is done, the beginning of the ID, the name and the notes. --json prints every item in full, one per line.",
    example: "list --open --search milk",
  },
  async (client, args) => {
    const isWanted = filterOf(args);
    if (args.has("json")) {
      for await (const json of client.items()) if (isWanted(json)) await printLine(json);
      return;
    }
    const all = await client.list();
    const items = all.filter(isWanted);
    if (items.length === 0) {
      remark(all.length === 0 ? `There are no items yet. Add one with: ${asTyped("add NAME")}` : "No item matches.");
      return;
    }
    const [header = "", ...lines] = tableOf(all, items, widthOf(process.stdout));
    // The first call of `styleText` takes some milliseconds. Without a terminal, it would change nothing.
    const paint: typeof styleText = process.stdout.isTTY ? styleText : (_style, text) => text;
    await printLine(paint("bold", header));
    for (const line of lines) await printLine(line.startsWith("✓") ? paint("dim", line) : line);
  },
);

function filterOf(args: Arguments): (json: string) => boolean {
  const text = args.text("search")?.toLowerCase() ?? "";
  return (json) => {
    if (args.has("open") && isDone(json)) return false;
    if (args.has("done") && !isDone(json)) return false;
    const fields = scanObject(json).entries();
    return fields.some(([, value]) => textOf(value).toLowerCase().includes(text));
  };
}

/** The header, then a line for each item. Short IDs depend on all items. Names get at most half of the width. */
function tableOf(all: readonly string[], items: readonly string[], width: number): string[] {
  const length = distinctLength(all.map((json) => idOf(json) ?? ""));
  const rows = items.map((json) => {
    const { name, notes, done } = knownFields(scanObject(json));
    const id = printable(idOf(json)?.slice(0, length) ?? "");
    return [done ? "✓" : " ", id, shorten(printable(name), Math.floor(width / 2)), printable(notes)];
  });
  const table = [["✓", "ID", "Name", "Notes"], ...rows];
  const widths = [0, 1, 2, 3].map((column) =>
    table.reduce((most, row) => Math.max(most, Bun.stringWidth(row[column] ?? "")), 0),
  );
  return table.map((row) =>
    shorten(
      row
        .map((cell, column) => padEnd(cell, widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
      width,
    ),
  );
}
