// The SQL statements, and the text format in which rows are sent. The client library sends a query when it is first
// awaited. If a query must be sent earlier, to be in order with others, call `execute` on it.

import {
  type Bookmark,
  type Change,
  newEpoch,
  type PlannedChange,
  StoreError,
  tombstonesMax,
  type Version,
} from "../../collection/engine.ts";
import { type Sql, standbyError } from "./postgres-session.ts";

/**
 * Old tombstones (rows of deleted items) and old history are deleted each time the version passes a multiple of this.
 */
const pruneEvery = 1_000;
const linesInPage = 1_000;
/** Batches that are more than this many versions old are deleted from the history. */
const historyLength = 100_000;

/**
 * A point in the store's history, with the name of the batch that led to it. If the store is rolled back to an older
 * version, later commits use the same version numbers again, but never the same batch names.
 */
export interface Point extends Bookmark {
  readonly batch: string;
}

export interface SentBatch {
  /** The version that the batch's plan is based on. */
  readonly since: Version;
  /**
   * The planned version of the batch's last change. If others commit first, the batch is stored with higher versions.
   */
  readonly version: Version;
  readonly batch: string;
}

/**
 * The clock, which is the only row of todoitems.store. `standby` tells whether the server that sent it is a standby.
 */
interface ClockRow extends Point {
  readonly prunedThrough: Version;
  readonly standby: boolean;
}

export interface ClockAndChanges extends ClockRow {
  /**
   * False if the store's history lacks `since` or `known`, the points that `readChanges` asked about. A point of
   * another epoch, which is another history, is not checked.
   */
  readonly continues: boolean;
  readonly changes: readonly Change[];
}

export async function lockClock(sql: Sql): Promise<void> {
  await Promise.all([sql`begin`.execute(), sql`select from todoitems.store for update`.execute()]);
}

/**
 * Gives a new epoch, which is a new name for the history, to a store that was rolled back to an older version. If
 * several instances try this, only the first succeeds.
 */
export function renameHistory(sql: Sql, epoch: string) {
  return sql`update todoitems.store set epoch = ${newEpoch()} where epoch = ${epoch}`;
}

/** Changes nothing, but makes its transaction wait for the standbys like any other write. */
export function touchClock(sql: Sql) {
  return sql`update todoitems.store set batch = batch`;
}

/** Marks a batch as void. If the server later executes a statement that would store the batch, it stores nothing. */
export function voidBatch(sql: Sql, { batch, since }: SentBatch) {
  return sql`insert into todoitems.voided (batch, version) values (${batch}, ${since}) on conflict do nothing`;
}

/**
 * Finds the version that a batch was stored with. If others committed first, that version is higher than planned. So
 * this searches all versions after `since` for the batch's name. There is no row if the batch was not stored.
 */
export function findBatch(sql: Sql, { since, batch }: SentBatch) {
  return sql<{ version: Version }[]>`
    select version from todoitems.history where version > ${since} and batch = ${batch}`;
}

export function readClock(sql: Sql) {
  return sql<
    ClockRow[]
  >`select epoch, version, batch, pruned_through as "prunedThrough", pg_is_in_recovery() as standby from todoitems.store`;
}

/**
 * Reads the changes after `since`, if the store has the epoch of `since` and still has all of these changes. The answer
 * also says (`continues`) whether the history still contains `since` and `known`, the newest point that the engine
 * knows. Uses one statement, so that everything is from the same moment. The first line of the answer is the clock, and
 * `onFirst` is called when that line arrives.
 */
export async function readChanges(
  sql: Sql,
  since: Point,
  known: Point,
  onFirst?: () => void,
): Promise<ClockAndChanges> {
  let first: string | undefined;
  const changes: Change[] = [];
  await sql<{ line: string }[]>`
    (
      select concat_ws(E'\t', epoch, version, batch, pruned_through, pg_is_in_recovery(),
        coalesce((select history.batch from todoitems.history where history.version = ${since.version}), ''),
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
  const { batchAtSince, batchAtKnown, ...clock } = usableClock(first === undefined ? undefined : clockOf(first));
  return {
    ...clock,
    continues:
      (since.epoch !== clock.epoch || leadsThrough(clock, since, batchAtSince)) &&
      (known.epoch !== clock.epoch || leadsThrough(clock, known, batchAtKnown)),
    changes,
  };
}

/**
 * Stores changes that were decided for the state `start`. Returns false, with nothing stored, if others have committed
 * since.
 *
 * If the connection is lost, the caller's transaction is lost too, and the statement may run outside it. Even then it
 * is correct, because `commit_batch` itself locks the clock and checks the state.
 */
export async function commitBatch(
  sql: Sql,
  start: Point,
  { version, batch }: SentBatch,
  changes: readonly PlannedChange[],
): Promise<boolean> {
  const replaced = changes.flatMap(({ replaces }) => replaces ?? []);
  const [{ answer } = { answer: null }] = await sql<{ answer: string | null }[]>`
    select todoitems.commit_batch(${start.epoch}, ${start.version}, ${start.batch}, ${version}, ${batch},
      ${changes.map(lineOf).join("\n")}, ${replaced.join(",")}, ${null},
      ${pruneEvery}, ${tombstonesMax}, ${historyLength}) as answer`;
  return answer !== null;
}

// Rows are sent as lines of text. Quoting and parsing arrays, or making an object of each row of a large store, would
// cost several times as much. No field contains a tab or a line break: IDs have none, and JSON text escapes them.

/**
 * A tombstone, the row of a deleted item, gets an empty JSON field. The JSON text of an item is never empty, so the two
 * cannot be confused.
 */
export function lineOf({ version, position, id, json }: Change): string {
  return `${version}\t${position}\t${id}\t${json ?? ""}`;
}

/** Reads every item, in order of version. */
export async function everything(sql: Sql): Promise<Iterable<Change>> {
  const pages: Buffer[] = [];
  let lines: string[] = [];
  const turnPage = () => {
    pages.push(Buffer.from(lines.join("")));
    lines = [];
  };
  await sql<{ line: string }[]>`
    select concat_ws(E'\t', version, position, id, json) || E'\n' as line
    from todoitems.item order by version`.forEach(({ line }) => {
    lines.push(line);
    if (lines.length === linesInPage) turnPage();
  });
  turnPage();
  return readPages(pages);
}

const lineBreak = 0x0a;

/** Drops each page after reading it, so that its memory can be reused. */
function* readPages(pages: Buffer[]): Iterable<Change> {
  for (let page = pages.shift(); page; page = pages.shift()) {
    const bytes = page;
    let start = 0;
    const field = (terminator: number) => {
      const end = bytes.indexOf(terminator, start);
      const text = bytes.toString("utf8", start, end);
      start = end + 1;
      return text;
    };
    while (start < bytes.length) {
      const [version, position, id = "", json = null] = field(lineBreak).split("\t");
      yield { version: Number(version), position: Number(position), id, json };
    }
  }
}

/** The server sends a tombstone, the row of a deleted item, as a line without a JSON field. So `json` is then null. */
function changeOf(line: string): Change {
  const [version, position, id = "", json = null] = line.split("\t");
  return { version: Number(version), position: Number(position), id, json };
}

interface ClockLine extends ClockRow {
  /** The names of the batches that led to `since` and `known`. A name is empty if the history lacks that version. */
  readonly batchAtSince: string;
  readonly batchAtKnown: string;
}

function clockOf(line: string): ClockLine {
  const [epoch = "", version, batch = "", prunedThrough, standby, batchAtSince = "", batchAtKnown = ""] =
    line.split("\t");
  return {
    epoch,
    version: Number(version),
    batch,
    prunedThrough: Number(prunedThrough),
    standby: standby === "t",
    batchAtSince,
    batchAtKnown,
  };
}

/**
 * True if the history contains the point. Sometimes that cannot be checked: the point's batch is unknown, or the store
 * has already deleted that part of its history. Then any point up to the current version counts as contained.
 */
function leadsThrough({ version }: ClockRow, point: Point, batchThen: string): boolean {
  if (point.version > version) return false;
  const isForgotten = batchThen === "" && point.version < version - historyLength;
  return point.batch === "" || point.batch === batchThen || isForgotten;
}

/** Returns the clock, the only row of todoitems.store. Throws if it is missing, or if it comes from a standby. */
export function usableClock<Row extends ClockRow>(clock: Row | undefined): Row {
  if (!clock)
    throw new StoreError("the store has lost its clock, the row of todoitems.store; restore it from a backup");
  if (clock.standby) throw standbyError();
  return clock;
}
