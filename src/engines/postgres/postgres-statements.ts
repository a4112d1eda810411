// What PostgreSQL is asked, in SQL, and how rows travel. A query is sent when it is first waited for; what
// must go out in order, before that, is executed.

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

const pruneEvery = 1_000;
const linesInPage = 1_000;
/** How many versions back the history of batches reaches. */
const historyLength = 100_000;

/** A point in the store's history, with the batch that led to it: two histories may have the same version, not the same batch. */
export interface Point extends Bookmark {
  readonly batch: string;
}

/** A batch on its way to the store. */
export interface Sent {
  readonly since: Version;
  /** Its last version, if it was not moved. */
  readonly version: Version;
  readonly batch: string;
}

interface Clock extends Point {
  readonly standby: boolean;
}

export interface ClockAndChanges extends Clock {
  readonly prunedThrough: Version;
  /** Whether the store's history goes through the point that was asked about. */
  readonly continues: boolean;
  readonly changes: readonly Change[];
}

export async function lockClock(sql: Sql): Promise<void> {
  await Promise.all([sql`begin`.execute(), sql`select from todoitems.store for update`.execute()]);
}

/** Gives a history that was cut a name of its own; once, whoever is first. */
export function renameHistory(sql: Sql, epoch: string) {
  return sql`update todoitems.store set epoch = ${newEpoch()} where epoch = ${epoch}`;
}

/** Whenever a statement that would store the batch comes to be executed, it will do nothing. */
export function voidBatch(sql: Sql, { batch, since }: Sent) {
  return sql`insert into todoitems.voided (batch, version) values (${batch}, ${since}) on conflict do nothing`;
}

/** The lost batch may have been moved, so it is looked for by its name, among all that came after its point. */
export function findBatch(sql: Sql, { since, batch }: Sent) {
  return sql<{ version: Version }[]>`
    select version from todoitems.history where version > ${since} and batch = ${batch}`;
}

export function readClock(sql: Sql) {
  return sql<Clock[]>`select epoch, version, batch, pg_is_in_recovery() as standby from todoitems.store`;
}

/** One statement, so that clock and changes are of one moment: the first line is the clock. */
export async function readChanges(sql: Sql, since: Point): Promise<ClockAndChanges> {
  const [first, ...changes] = await sql<{ line: string }[]>`
    (
      select concat_ws(E'\t', epoch, version, batch, pruned_through, pg_is_in_recovery(),
        (select history.batch from todoitems.history where history.version = ${since.version})) as line
      from todoitems.store
    )
    union all
    (
      select concat_ws(E'\t', version, position, id, json)
      from todoitems.item
      where version > ${since.version}
        and (select epoch = ${since.epoch} and pruned_through <= ${since.version} from todoitems.store)
      order by version
    )`;
  const { batchThen, ...clock } = checked(first && clockOf(first.line));
  return {
    ...clock,
    continues: continues(clock, since, batchThen),
    changes: changes.map(({ line }) => changeOf(line)),
  };
}

/** Stores a batch, behind what was missed, which it tells; right by itself, whatever became of the transaction around it. Nothing where nothing was stored. */
export async function commitBatch(
  sql: Sql,
  start: Point,
  { version, batch }: Sent,
  changes: readonly PlannedChange[],
  dependsOn?: readonly string[],
): Promise<{ missed: Change[]; by: number } | undefined> {
  const replaced = changes.flatMap(({ replaces }) => replaces ?? []);
  const [{ told } = { told: null }] = await sql<{ told: string | null }[]>`
    select todoitems.commit_batch(${start.epoch}, ${start.version}, ${start.batch}, ${version}, ${batch},
      ${changes.map(lineOf).join("\n")}, ${replaced.join(",")}, ${dependsOn ? dependsOn.join("\n") : null},
      ${pruneEvery}, ${tombstonesMax}, ${historyLength}) as told`;
  if (told === null) return undefined;
  const [by, ...missed] = told.split("\n");
  return { missed: missed.map(changeOf), by: Number(by) };
}

// Rows go to the server, and many come from it, as lines of text: to quote and parse arrays, or to make an
// object of each row of a large store, costs several times as much. No field holds a tab or a line break:
// IDs have none, and JSON text has them only as escapes.

/** A tombstone has nothing in the place of its JSON, which is never empty. */
function lineOf({ version, position, id, json }: Change): string {
  return `${version}\t${position}\t${id}\t${json ?? ""}`;
}

/** Every item there is. */
export async function everything(sql: Sql): Promise<Iterable<Change>> {
  const pages: Buffer[] = [];
  let lines: string[] = [];
  const turnPage = () => {
    pages.push(Buffer.from(lines.join("")));
    lines = [];
  };
  await sql<{ line: string }[]>`
    select concat_ws(E'\t', version, position, id, json) || E'\n' as line
    from todoitems.item where json is not null order by version`.forEach(({ line }) => {
    lines.push(line);
    if (lines.length === linesInPage) turnPage();
  });
  turnPage();
  return readPages(pages);
}

const tab = 0x09;
const lineBreak = 0x0a;

/** Lets go of each page once it is read. */
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
      yield { version: Number(field(tab)), position: Number(field(tab)), id: field(tab), json: field(lineBreak) };
    }
  }
}

/** A tombstone's line ends before its JSON. */
function changeOf(line: string): Change {
  const [version, position, id = "", json = null] = line.split("\t");
  return { version: Number(version), position: Number(position), id, json };
}

interface ToldClock extends Clock {
  readonly prunedThrough: Version;
  /** The batch that led to the version asked about, if the store still knows. */
  readonly batchThen: string | undefined;
}

function clockOf(line: string): ToldClock {
  const [epoch = "", version, batch = "", prunedThrough, standby, batchThen] = line.split("\t");
  return {
    epoch,
    version: Number(version),
    batch,
    prunedThrough: Number(prunedThrough),
    standby: standby === "t",
    batchThen,
  };
}

/** Whether the store's history goes through a point, as far as can be told: its batch may be unknown here, or forgotten there. */
function continues({ version }: Clock, point: Point, batchThen: string | undefined): boolean {
  if (point.version > version) return false;
  const isForgotten = batchThen === undefined && point.version < version - historyLength;
  return point.batch === "" || point.batch === batchThen || isForgotten;
}

export function checked<Row extends Clock>(clock: Row | undefined): Row {
  if (!clock)
    throw new StoreError("the store has lost its clock, the row of todoitems.store; restore it from a backup");
  if (clock.standby) throw standbyError();
  return clock;
}
