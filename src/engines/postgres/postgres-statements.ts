// The SQL statements, and the text format in which rows are sent. The client library sends a query when it is first
// awaited. If a query must be sent earlier, to be in order with others, call `execute` on it.

import {
  type Change,
  type ListChanges,
  newEpoch,
  type Plan,
  StoreError,
  type StoreState,
  type Version,
} from "../../collection/engine.ts";
import type { Limits } from "../../collection/limits.ts";
import { type ListKey, listKey, partsOf } from "../../collection/list-key.ts";
import type { ListedChange } from "../snapshot.ts";
import type { Sql } from "./postgres-session.ts";

/** Batches that are more than this many changes old are deleted from the history. */
const historyLength = 100_000;

/**
 * A point in the store's history, with the name of the batch that led to it. If the store is rolled back to an older
 * state, later commits raise the clock to the same numbers again, but never with the same batch names.
 */
export interface Point {
  readonly epoch: string;
  /** The column `version` of the tables. */
  readonly clock: number;
  readonly batch: string;
}

/** A batch that was sent to be stored on the state at `since`. It is the point that it leads to. */
export interface SentBatch extends Point {
  readonly since: Point;
}

/** The clock: the only row of todoitems.store. `standby` tells whether the server that sent it is a standby. */
interface ClockRow extends Point {
  readonly standby: boolean;
}

/** What an answer says about the moment at which it was read. */
export interface Moment extends Point {
  readonly state: StoreState;
  readonly prunedThrough: number;
  /** The points that were looked for in the store's history. */
  readonly checked: readonly Point[];
  /** False if the store's history lacks one of them. A point of another epoch is not looked for. */
  readonly continues: boolean;
}

export interface ClockAndChanges extends Moment {
  readonly lists: readonly ListChanges[];
}

/** Some rows of a list. */
interface ListRows extends Moment {
  readonly pruned: Version;
  readonly rows: readonly Change[];
  readonly isLast: boolean;
}

/** A row, and the list that it is in. */
export interface ListedRow extends ListedChange {
  readonly key: number;
}

/** A point in no store's history. */
export const nowhere: Point = { epoch: "", clock: 0, batch: "" };

export function isSamePoint(one: Point, other: Point): boolean {
  return one.epoch === other.epoch && one.clock === other.clock && one.batch === other.batch;
}

export async function lockClock(sql: Sql): Promise<void> {
  await Promise.all([sql`begin`.execute(), sql`select from todoitems.store for update`.execute()]);
}

/** Gives a new epoch to a store that was rolled back. If several instances try this, only the first succeeds. */
export function renameHistory(sql: Sql, epoch: string) {
  return sql`update todoitems.store set epoch = ${newEpoch()} where epoch = ${epoch}`;
}

/** Changes nothing, but makes its transaction wait for the standbys like any other write. */
export function touchClock(sql: Sql) {
  return sql`update todoitems.store set batch = batch`;
}

/** Marks a batch as void. If the server later executes a statement that would store the batch, it stores nothing. */
export function voidBatch(sql: Sql, { batch, since }: SentBatch) {
  return sql`insert into todoitems.voided (batch, version) values (${batch}, ${since.clock}) on conflict do nothing`;
}

/** Returns a row if the batch was stored. */
export function findBatch(sql: Sql, { clock, batch }: SentBatch) {
  return sql<object[]>`select from todoitems.history where version = ${clock} and batch = ${batch}`;
}

/** The number of items that the last commit has noted. */
export async function readItemCount(sql: Sql): Promise<number> {
  const [noted] = await sql<{ count: number }[]>`select item_count::int as count from todoitems.store`;
  return noted?.count ?? 0;
}

export function readClock(sql: Sql) {
  return sql<ClockRow[]>`select epoch, version as clock, batch, pg_is_in_recovery() as standby from todoitems.store`;
}

/** A question about the store: does its history still contain these points, which the engine knows? */
export interface Question {
  readonly points: readonly Point[];
  /** Called when the first line of the answer arrives. */
  readonly onFirst?: () => void;
}

// Each of the next three functions uses one statement, so that everything is from the same moment.

/** Reads the changes after `since`, if the store has the epoch of `since` and still has all of these changes. */
export async function readChanges(sql: Sql, since: Omit<Point, "batch">, question: Question): Promise<ClockAndChanges> {
  const lists = new Map<ListKey, Change[]>();
  const query = sql<{ line: string }[]>`
    (select todoitems.moment(${clocksOf(question)}) as line)
    union all
    (
      select concat_ws(E'\t', (select concat_ws(E'\t', name, owner) from todoitems.list where key = list),
        number, position, id, json)
      from todoitems.item
      where version > ${since.clock}
        and (select epoch = ${since.epoch} and pruned_through <= ${since.clock} from todoitems.store)
      order by version
    )`;
  const { moment } = await readLines(query, question, (line) => {
    const [name = "", owner = "", ...fields] = line.split("\t");
    const list = listKey(name, owner);
    const changes = lists.get(list);
    if (changes) changes.push(changeOf(fields));
    else lists.set(list, [changeOf(fields)]);
  });
  return { ...moment, lists: Array.from(lists, ([list, changes]) => ({ list, changes })) };
}

/** Reads the next rows of a list, after a version, in order. */
export async function readList(
  sql: Sql,
  list: ListKey,
  after: Version,
  { rowsInPage, bytesInPage }: Limits,
  question: Question,
): Promise<ListRows> {
  const { name, owner } = partsOf(list);
  const rows: Change[] = [];
  // The length of a long text is known without reading the text.
  const query = sql<{ line: string }[]>`
    (
      select concat_ws(E'\t', todoitems.moment(${clocksOf(question)}), pruned) as line
      from todoitems.store left join todoitems.list on owner = ${owner} and name = ${name}
    )
    union all
    (
      select concat_ws(E'\t', number, position, id, json) from (
        select number, position, id, json, sum(octet_length(json)) over (order by number rows unbounded preceding)
        from todoitems.item
        where list = (select key from todoitems.list where owner = ${owner} and name = ${name})
          and number > ${after}
        order by number limit ${rowsInPage}
      ) as page
      where coalesce(sum, 0) - coalesce(octet_length(json), 0) < ${bytesInPage}
      order by number
    )`;
  const { moment, rest } = await readLines(query, question, (line) => rows.push(changeOf(line.split("\t"))));
  const byteCount = rows.reduce((sum, { json }) => sum + Buffer.byteLength(json ?? ""), 0);
  const isLast = rows.length < rowsInPage && byteCount < bytesInPage;
  return { ...moment, pruned: Number(rest[0] ?? 0), rows, isLast };
}

/** Reads the names of the lists of an owner that have items. */
export async function readNames(sql: Sql, owner: string, question: Question): Promise<Moment & { names: string[] }> {
  const names: string[] = [];
  const query = sql<{ line: string }[]>`
    (select todoitems.moment(${clocksOf(question)}) as line)
    union all
    (select name from todoitems.list where owner = ${owner} and has_items)`;
  const { moment } = await readLines(query, question, (line) => names.push(line));
  return { ...moment, names };
}

/**
 * Sums the bytes of an owner's items, with a comma for each. It looks up each list by itself. With a join, the planner may
 * read the items of every owner, if its statistics know of one list only.
 */
export async function readBytes(sql: Sql, owner: string): Promise<number> {
  const [sum] = await sql<{ bytes: number | null }[]>`
    select sum((select sum(octet_length(json) + 1) from todoitems.item where list = key))::bigint as bytes
    from todoitems.list where owner = ${owner} and has_items`;
  return sum?.bytes ?? 0;
}

function clocksOf({ points }: Question): string {
  return points.map(({ clock }) => clock).join(",");
}

/**
 * Reads an answer. Its first line begins with what `todoitems.moment` returns, and `rest` is what follows. Throws if the
 * clock is missing, or if it comes from a standby.
 */
async function readLines(
  query: { forEach(onRow: (row: { readonly line: string | null }) => void): PromiseLike<unknown> },
  { points, onFirst }: Question,
  onLine: (line: string) => void,
): Promise<{ readonly moment: Moment; readonly rest: readonly string[] }> {
  let first: string | null | undefined;
  await query.forEach(({ line }) => {
    if (first !== undefined) onLine(line ?? "");
    else {
      first = line;
      onFirst?.();
    }
  });
  const [epoch = "", batch = "", standby, history = "", ...numbers] = first?.split("\t") ?? [];
  const [clock = 0, itemCount = 0, byteCount = 0, listsMark = 0, prunedThrough = 0] = numbers.map(Number);
  usableClock(first ? { epoch, clock, batch, standby: standby === "t" } : undefined);
  const batches = new Map(history.split(",").map((entry) => entry.split(" ") as [string, string]));
  const continues = points.every(
    (point) => point.epoch !== epoch || leadsThrough(clock, point, batches.get(String(point.clock)) ?? ""),
  );
  const state = { epoch, clock, itemCount, byteCount, listsMark };
  return { moment: { epoch, clock, batch, state, prunedThrough, checked: points, continues }, rest: numbers.slice(5) };
}

/**
 * Stores a plan on exactly the state at `since`. Returns false if the store has another state by now, so that nothing
 * was stored.
 *
 * If the connection is lost, the caller's transaction is lost too, and the statement may run outside it. Even then it
 * is correct, because `commit_batch` itself locks the clock and checks the state.
 */
export async function commitBatch(
  sql: Sql,
  { since, clock, batch }: SentBatch,
  { lists, state }: Plan,
  { prunedAtOnce, tombstonesMax }: Limits,
): Promise<boolean> {
  const listLines = lists.map(({ list, hasItems, changes }) => {
    const { name, owner } = partsOf(list);
    const replaced = changes.flatMap(({ replaces }) => replaces ?? []);
    return `${owner}\t${name}\t${hasItems ?? ""}\t${replaced.join(",")}`;
  });
  const lines = lists.flatMap(({ changes }, index) => changes.map((change) => `${index + 1}\t${lineOf(change)}`));
  const [{ stored } = { stored: false }] = await sql<{ stored: boolean }[]>`
    select todoitems.commit_batch(${since.epoch}, ${since.clock}, ${since.batch}, ${clock}, ${batch},
      ${state.itemCount}, ${state.byteCount}, ${state.listsMark}, ${listLines.join("\n")}, ${lines.join("\n")},
      ${prunedAtOnce}, ${tombstonesMax}, ${historyLength}) as stored`;
  return stored;
}

// Rows are sent as lines of text. Quoting and parsing arrays, or making an object of each row of a large store, would
// cost several times as much. No field contains a tab or a line break: IDs, and the names and owners of lists, have
// none, and JSON text escapes them.

/** A tombstone gets an empty JSON field. The JSON text of an item is never empty, so the two cannot be confused. */
function lineOf({ version, position, id, json }: Change): string {
  return `${version}\t${position}\t${id}\t${json ?? ""}`;
}

/** Reads the next rows of all lists, one list after the other. */
export async function readRows(sql: Sql, after: ListedRow | undefined, limit: number): Promise<readonly ListedRow[]> {
  const lines = await sql<{ line: string }[]>`
    select concat_ws(E'\t', list, (select concat_ws(E'\t', name, owner) from todoitems.list where key = list),
      number, position, id, json) as line
    from todoitems.item
    where (list, number) > (${after?.key ?? 0}, ${after?.version ?? 0}) order by list, number limit ${limit}`;
  return lines.map(({ line }) => {
    const [key, name = "", owner = "", ...fields] = line.split("\t");
    return { key: Number(key), list: listKey(name, owner), ...changeOf(fields) };
  });
}

/** The server sends a tombstone as a line without a JSON field. */
function changeOf([version, position, id = "", json]: readonly string[]): Change {
  return { version: Number(version), position: Number(position), id: ownText(id), json: json ?? null };
}

/** A copy of a part of a line. The part itself would keep the whole line in memory for as long as it is used. */
function ownText(part: string): string {
  return Buffer.from(part).toString();
}

/**
 * True if the history contains the point. `batchThen` is the batch that led to that clock, or empty if the history lacks
 * it. If the store has already deleted that part of its history, the point counts as contained.
 */
function leadsThrough(now: number, { clock, batch }: Point, batchThen: string): boolean {
  if (clock > now) return false;
  const isForgotten = batchThen === "" && clock < now - historyLength;
  return batch === batchThen || isForgotten;
}

/** Returns the clock. Throws if it is missing, or if it comes from a standby. */
export function usableClock(clock: ClockRow | undefined): ClockRow {
  if (!clock)
    throw new StoreError("the store has lost its clock, the row of todoitems.store; restore it from a backup");
  if (clock.standby) throw new StoreError("the server is a standby, which takes no writes");
  return clock;
}
