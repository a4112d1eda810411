// `todoitems list`: prints the items as a table or as JSON lines.

import { isTodoError } from "../client/errors.ts";
import type { TodoClient } from "../client/todo-client.ts";
import type { WatchState } from "../client/watch.ts";
import { styleOf } from "../terminal/text.ts";
import { widthOf } from "../terminal/wrapped-text.ts";
import { type Arguments, defineCommand, positionalsOf, UsageError } from "./command.ts";
import { connect } from "./connect.ts";
import { connectionFlags } from "./connection-flags.ts";
import { isDone } from "./fields.ts";
import { chosenColumns, usualColumns } from "./list-columns.ts";
import { otherListFlags, searchAdvice } from "./other-words.ts";
import { jsonFlag, printLine, remark } from "./output.ts";
import { layOut } from "./table.ts";
import { asTypedHere } from "./typed-here.ts";

const allAdvice = "without it, list shows all items";

export const list = defineCommand(
  {
    name: "list",
    parameters: "",
    summary: "show the items",
    flags: [
      {
        name: "open",
        placeholder: "",
        meaning: "only the items that are not done",
        triedInstead: { ...otherListFlags, all: allAdvice, a: allAdvice },
      },
      { name: "done", placeholder: "", meaning: "only the items that are done" },
      { name: "columns", placeholder: "FIELDS", meaning: "fields to show, such as ID,Name,Price", repeats: true },
      jsonFlag,
      ...connectionFlags,
    ],
    notes:
      "The ID column shows the beginning of each ID, enough to name the item in other commands. Fields that few items have are hidden; --columns shows them. ✓ means true, and an empty cell false or no value. --json prints every item in full, one per line.",
  },
  async (args, environment) => {
    positionalsOf(args, 0, 0, "", searchAdvice(args.positionals.join(" ")));
    const wanted = filterOf(args);
    const client = await connect(args, environment);
    if (args.has("json")) {
      for await (const json of client.items()) if (wanted(json)) await printLine(json);
      return 0;
    }
    const all = await client.list();
    const items = all.filter(wanted);
    if (items.length === 0) {
      remark(all.length === 0 ? await noneYet(client) : noneLeft(args));
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

/** Says how to add the first item, unless the service is read-only and would not keep it. */
async function noneYet(client: TodoClient<string>): Promise<string> {
  if (await isReadOnly(client)) return "There are no items, and the service is read-only.";
  return `There are no items yet. Add one with: ${asTypedHere("add NAME")}`;
}

/** When the change feed connects, it says whether the service is read-only. False if the feed is missing or fails. */
async function isReadOnly(client: TodoClient<string>): Promise<boolean> {
  const asking = new AbortController();
  let readOnly = false;
  const onState = (state: WatchState) => {
    readOnly = state.kind === "live" && state.readOnly;
    asking.abort();
  };
  try {
    for await (const _ of client.watch({ signal: asking.signal, onState })) if (asking.signal.aborted) break;
  } catch (error) {
    // After `abort`, an error only says that the feed was closed. A failure of the feed does not matter either, because
    // the list has already been read.
    if (!asking.signal.aborted && !isTodoError(error)) throw error;
  }
  return readOnly;
}

function noneLeft(args: Arguments): string {
  return args.has("open") ? "All items are done." : "No item is done yet.";
}
