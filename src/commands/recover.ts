// `todoitems recover`: finds the rows of a damaged store that can still be trusted. It saves their items in a new
// store, and lists what was lost.

import { existsSync } from "node:fs";
import type { Change } from "../collection/engine.ts";
import type { Snapshot } from "../engines/snapshot.ts";
import { type Loss, salvage } from "../engines/sqlite/salvage.ts";
import { describeSetAside } from "../engines/sqlite/set-aside-log.ts";
import { asTyped } from "../program-name.ts";
import { defineCommand, positionalsOf, UsageError } from "./command.ts";
import { CommandError } from "./failure.ts";
import { jsonSummaryFlag, printLine, printText } from "./output.ts";
import { checkSqlite, refuseForeign } from "./stores/check-sqlite.ts";
import { copyStore, refuseLog } from "./stores/store-copy.ts";
import { parseStoreOrPath, requireFile } from "./stores/store-setting.ts";
import { describeSummary, formatCount } from "./stores/store-summary.ts";

function nothingSaved(path: string): CommandError {
  const setAside = describeSetAside(path);
  const advice = setAside
    ? `${setAside.text}. ${setAside.hint}`
    : `Restore a backup instead, with ${asTyped("restore FILE")}`;
  return new CommandError(`Nothing could be saved: no row of ${path} is intact. ${advice}`);
}

export const recover = defineCommand(
  {
    name: "recover",
    parameters: "STORE NEW",
    summary: "save what is intact in a damaged SQLite store",
    flags: [jsonSummaryFlag],
    notes:
      "STORE is only read, with its log if there is one. NEW is a new file, which serve --store sqlite:NEW can open. Rows that cannot be trusted are named and left out. Stop the service first.",
  },
  async (args) => {
    const [from = "", to = ""] = positionalsOf(args, 2, 2, "STORE and NEW");
    const path = sqlitePath(from);
    const newPath = sqlitePath(to);
    if (newPath === "-")
      throw new UsageError("recover cannot write to standard output. Give the name of a new file instead of -.");
    requireFile(path, "Name the damaged store.");
    if (existsSync(newPath))
      throw new CommandError(`${newPath} exists already. Choose another name for the new store.`);
    refuseLog(newPath);
    const startedAt = performance.now();
    const { rows, losses } = salvage(path);
    // A damaged store may have lost the marks of a store and still have rows. So the marks are checked only if no rows
    // were found.
    if (rows.length === 0) refuseForeign(path);
    if (rows.length === 0 && (losses.length > 0 || !checkSqlite(path).isSound)) throw nothingSaved(path);
    const items = currentItems(rows);
    const summary = await copyStore(snapshotOf(items), newPath, { like: path });
    const lostRows = losses.filter(({ row }) => row);
    const counts = { found: rows.length + lostRows.length, saved: rows.length, lost: lostRows.length };
    if (args.has("json")) await printLine(JSON.stringify({ ...summary, ...counts, losses }));
    else {
      const pages = losses.length - lostRows.length;
      const savedIds = new Set(items.map(({ id }) => id));
      await printText(
        [
          `Found ${formatCount(counts.found, "row")} in ${path}: ${counts.saved.toLocaleString("en")} saved, ${counts.lost.toLocaleString("en")} lost${pages > 0 ? `, and ${formatCount(pages, "page")} with an unknown number of rows` : ""}`,
          ...describeLosses(losses, savedIds).map((text) => `  lost: ${text}`),
          `Saved ${newPath}: ${describeSummary(summary, startedAt)}`,
        ].join("\n"),
      );
    }
    return losses.length === 0 ? 0 : 1;
  },
);

function sqlitePath(text: string): string {
  const store = parseStoreOrPath(text);
  if (store.engine === "sqlite") return store.path;
  throw new UsageError("recover works on SQLite files. For PostgreSQL, restore a backup.");
}

/**
 * The current items according to these rows: the latest row of each ID, unless it says that the item was deleted. Rows
 * are grouped by ID, not by position. If an item was deleted and created again, and the row of the deletion is lost,
 * the older item must not come back beside the newer one.
 */
function currentItems(rows: readonly Change[]): Change[] {
  const latest = new Map<string, Change>();
  for (const row of rows) latest.set(row.id, row);
  return [...latest.values()].filter(({ json }) => json !== null).sort((a, b) => a.version - b.version);
}

function snapshotOf(items: readonly Change[]): Snapshot {
  return {
    itemCount: items.length,
    async *items() {
      yield* items;
    },
    async close() {},
  };
}

/** One text for each range of pages, and one for each row. */
function describeLosses(losses: readonly Loss[], savedIds: ReadonlySet<string>): string[] {
  const ranges: { readonly first: number; last: number }[] = [];
  for (const page of losses.flatMap(({ page, row }) => (row ? [] : [page])).sort((one, other) => one - other)) {
    const range = ranges.at(-1);
    if (range && page <= range.last + 1) range.last = page;
    else ranges.push({ first: page, last: page });
  }
  return [
    ...ranges.map(({ first, last }) => {
      const pages = first === last ? `page ${first}` : `pages ${first} to ${last}`;
      return `${pages}, with all rows that were not found elsewhere`;
    }),
    ...losses.flatMap(({ page, row }) => (row ? [describeRow(page, row, savedIds)] : [])),
  ];
}

function describeRow(page: number, { version, id }: NonNullable<Loss["row"]>, savedIds: ReadonlySet<string>): string {
  const known = [...(version === undefined ? [] : [`version ${version}`]), ...(id === undefined ? [] : [`item ${id}`])];
  const older = id !== undefined && savedIds.has(id) ? "; another version of this item was saved" : "";
  return `${known.length === 0 ? "a row that cannot be read" : known.join(", ")} (page ${page})${older}`;
}
