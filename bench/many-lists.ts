// Stores with many lists. They are filled without the service, because a create takes longer than a row.

import postgres from "postgres";
import type { ListKey } from "../src/collection/list-key.ts";
import type { ListedChange } from "../src/engines/snapshot.ts";
import { writeNewStore } from "../src/engines/sqlite/store-writer.ts";
import { cpuSeconds, type Server } from "./servers.ts";

export const listCount = 100_000;
export const itemCount = 50;

const nameOf = (list: number) => `list-${list}`;

/** The path of the items of a list. */
export function listPath(list: number): string {
  return `/lists/${nameOf(list)}/api/todoitems/`;
}

function idOf(list: number, item: number): string {
  return `${list.toString(16).padStart(8, "0")}-0000-4000-8000-${item.toString(16).padStart(12, "0")}`;
}

function jsonOf(id: string, item: number): string {
  return `{"ID":"${id}","Name":"Buy ${String(item).padStart(7, "0")} bottles","Notes":"and bring the empty ones back, twelve","Done":false}`;
}

export async function fillSqlite(path: string): Promise<void> {
  await fillLists(
    path,
    Array.from({ length: listCount }, (_, list) => nameOf(list)),
  );
}

/** Makes a store in which each of these lists has the same number of items. */
export async function fillLists(path: string, lists: readonly ListKey[]): Promise<void> {
  await writeNewStore(path, itemsOf(lists));
}

function* itemsOf(lists: readonly ListKey[]): Generator<ListedChange> {
  for (const [index, list] of lists.entries())
    for (let item = 1; item <= itemCount; item++) {
      const id = idOf(index, item);
      yield { list, version: item, position: item, id, json: jsonOf(id, item) };
    }
}

export async function fillPostgres(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  const id = sql.unsafe("lpad(to_hex(key - 1), 8, '0') || '-0000-4000-8000-' || lpad(to_hex(item), 12, '0')");
  const text = `,"Name":"Buy bottles","Notes":"and bring the empty ones back, twelve, and a few more","Done":false}`;
  await sql`insert into todoitems.list (owner, name, has_items, pruned)
    select '', 'list-' || n, true, 0 from generate_series(0, ${listCount - 1}) as n`;
  await sql`insert into todoitems.item (list, position, version, number, id, json)
    select key, item, (key - 1) * ${itemCount}::bigint + item, item, ${id}, '{"ID":"' || ${id} || ${`"${text}`}
    from todoitems.list, generate_series(1, ${itemCount}) as item where key > 0`;
  await sql`update todoitems.store set version = (select max(version) from todoitems.item),
    item_count = ${listCount * itemCount}, byte_count = (select sum(length(json) + 1) from todoitems.item), lists_mark = 1`;
  // Otherwise the server does this while the lists are measured.
  await sql.unsafe("vacuum analyze");
  await sql.unsafe("checkpoint");
  await sql.end();
}

/** Reads the lists of this range, one after the other. */
export async function walk(
  { url, pid }: Server,
  from: number,
  to: number,
): Promise<{ readonly cpuMicroseconds: number }> {
  const before = cpuSeconds(pid);
  for (let list = from; list < to; list++) {
    const response = await fetch(`${url}${listPath(list)}`);
    const { length } = (await response.json()) as unknown[];
    if (response.status !== 200 || length < itemCount) throw new Error(`list ${list} has ${length} items`);
  }
  return { cpuMicroseconds: ((cpuSeconds(pid) - before) / (to - from)) * 1e6 };
}
