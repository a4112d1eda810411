// The SQL statements, and the text format in which rows are sent. The client library sends a query when it is first
// awaited. If a query must be sent earlier, to be in order with others, call `execute` on it.

import {
  type Bookmark,
  type Change,
  newEpoch,
  type PlannedChange,
  StoreError,
  type Version,
} from "../../collection/engine.ts";
import type { Limits } from "../../collection/limits.ts";
import type { Sql } from "./postgres-session.ts";

/** How many rows are read at once. This limits the memory that it takes to read a large store. */
const rowsInPage = 1_000;
/** Batches that are more than this many versions old are deleted from the history. */
const historyLength = 100_000;

/**
 * A point in the store's history, with the name of the batch that led to it. If the store is rolled back to an older
 * version, later commits use the same version numbers again, but never the same batch names.
 */
export interface Point extends Bookmark {
  readonly batch: string;
}

/** A batch that was sent to be stored on the state at `since`. Its last change gets the version `version`. */
export interface SentBatch {
  readonly since: Point;
  readonly version: Version;
  readonly batch: string;
}

/** The clock: the only row of todoitems.store. `standby` tells whether the server that sent it is a standby. */
interface ClockRow extends Point {
  readonly standby: boolean;
}

export interface ClockAndChanges extends ClockRow {
  readonly prunedThrough: Version;
  /** False if the store's history lacks the point `known` of `readChanges`. A point of another epoch is not checked. */
  readonly continues: boolean;
  readonly changes: readonly Change[];
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
  return sql`insert into todoitems.voided (batch, version) values (${batch}, ${since.version}) on conflict do nothing`;
}

/** Returns a row if the batch was stored. */
export function findBatch(sql: Sql, { version, batch }: SentBatch) {
  return sql<object[]>`select from todoitems.history where version = ${version} and batch = ${batch}`;
}

export async function countItems(sql: Sql): Promise<number> {
  const [counted] = await sql<{ count: number }[]>`
    select count(*)::int as count from todoitems.item where json is not null`;
  return counted?.count ?? 0;
}

export function readClock(sql: Sql) {
  return sql<ClockRow[]>`select epoch, version, batch, pg_is_in_recovery() as standby from todoitems.store`;
}

/**
 * Reads the changes after `since`, if the store has the epoch of `since` and still has all of these changes. The answer
 * also says (`continues`) whether the history still contains `known`, the newest point that the engine knows. Uses one
 * statement, so that everything is from the same moment. The first line of the answer is the clock, and `onFirst` is
 * called when that line arrives.
 */
export async function readChanges(
  sql: Sql,
  since: Bookmark,
  known: Point,
  onFirst?: () => void,
): Promise<ClockAndChanges> {
  let first: string | undefined;
  const changes: Change[] = [];
  await sql<{ line: string }[]>`
    (
      select concat_ws(E'\t', epoch, version, batch, pruned_through, pg_is_in_recovery(),
        coalesce((select history.batch from todoitems.history where history.version = ${known.version}), '')) as line
      from todoitems.store
    )
    union all
    (
      select concat_ws(E'\t', version, position, id, json)
      from todoitems.item
      where version > ${since.version}
        and (select epoch = ${since.epoch} and pruned_through <= ${since.version} from todoitems.store)
      order by version
    )`.forEach(({ line }) => {
    if (first !== undefined) changes.push(changeOf(line));
    else {
      first = line;
      onFirst?.();
    }
  });
  const [epoch = "", version, batch = "", prunedThrough, standby, batchAtKnown = ""] = first?.split("\t") ?? [];
  const line = { epoch, version: Number(version), batch, standby: standby === "t" };
  const clock = usableClock(first === undefined ? undefined : line);
  const continues = known.epoch !== epoch || leadsThrough(clock, known, batchAtKnown);
  return { ...clock, prunedThrough: Number(prunedThrough), continues, changes };
}

/** A point in no store's history. */
export const nowhere: Point = { epoch: "", version: 0, batch: "" };

/**
 * Stores changes on exactly the state at `since`. Returns false if the store has another state by now, so that nothing
 * was stored.
 *
 * If the connection is lost, the caller's transaction is lost too, and the statement may run outside it. Even then it
 * is correct, because `commit_batch` itself locks the clock and checks the state.
 */
export async function commitBatch(
  sql: Sql,
  { since, version, batch }: SentBatch,
  changes: readonly PlannedChange[],
  { prunedAtOnce, tombstonesMax }: Limits,
): Promise<boolean> {
  const replaced = changes.flatMap(({ replaces }) => replaces ?? []);
  const [{ stored } = { stored: false }] = await sql<{ stored: boolean }[]>`
    select todoitems.commit_batch(${since.epoch}, ${since.version}, ${since.batch}, ${version}, ${batch},
      ${changes.map(lineOf).join("\n")}, ${replaced.join(",")},
      ${prunedAtOnce}, ${tombstonesMax}, ${historyLength}) as stored`;
  return stored;
}

// Rows are sent as lines of text. Quoting and parsing arrays, or making an object of each row of a large store, would
// cost several times as much. No field contains a tab or a line break: IDs have none, and JSON text escapes them.

/** A tombstone gets an empty JSON field. The JSON text of an item is never empty, so the two cannot be confused. */
function lineOf({ version, position, id, json }: Change): string {
  return `${version}\t${position}\t${id}\t${json ?? ""}`;
}

/** Reads the next rows after a version, in order. */
export async function readPage(sql: Sql, after: Version): Promise<readonly Change[]> {
  const lines = await sql<{ line: string }[]>`
    select concat_ws(E'\t', version, position, id, json) as line from todoitems.item
    where version > ${after} order by version limit ${rowsInPage}`;
  return lines.map(({ line }) => changeOf(line));
}

/**
 * Reads page after page, until there are no more rows. Read all pages in one transaction. Otherwise, different pages
 * may show the store at different moments.
 */
export async function* pagesBy(
  read: (after: Version) => Promise<readonly Change[]>,
): AsyncGenerator<readonly Change[]> {
  let after: Version | undefined = 0;
  while (after !== undefined) {
    const page = await read(after);
    if (page.length > 0) yield page;
    after = page.at(-1)?.version;
  }
}

/** The server sends a tombstone as a line without a JSON field. */
function changeOf(line: string): Change {
  const [version, position, id = "", json = null] = line.split("\t");
  return { version: Number(version), position: Number(position), id, json };
}

/**
 * True if the history contains the point. `batchThen` is the batch that led to that version, or empty if the history
 * lacks it. If the store has already deleted that part of its history, the point counts as contained.
 */
function leadsThrough({ version }: ClockRow, point: Point, batchThen: string): boolean {
  if (point.version > version) return false;
  const isForgotten = batchThen === "" && point.version < version - historyLength;
  return point.batch === batchThen || isForgotten;
}

/** Returns the clock. Throws if it is missing, or if it comes from a standby. */
export function usableClock(clock: ClockRow | undefined): ClockRow {
  if (!clock)
    throw new StoreError("the store has lost its clock, the row of todoitems.store; restore it from a backup");
  if (clock.standby) throw new StoreError("the server is a standby, which takes no writes");
  return clock;
}
