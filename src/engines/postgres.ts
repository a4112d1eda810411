// The engine for many machines: any number of instances share one PostgreSQL database. A single row,
// the clock, orders their commits: a batch locks it, learns what it missed, and writes, in two round
// trips. Reads ask for the clock's version with one tiny query, shared by all who wait at that moment.

import {
  type Bookmark,
  type Change,
  type Engine,
  type News,
  newEpoch,
  type PlannedChange,
  StoreError,
  tombstonesMax,
  type Version,
} from "../engine.ts";
import type { Log } from "../log.ts";
import type { PostgresAddress } from "./postgres-address.ts";
import { prepareStore } from "./postgres-schema.ts";
import { isConflict, isRefusal, PostgresSession, type Sql, standbyError, within } from "./postgres-session.ts";

export interface PostgresOptions {
  /** A read-only engine never commits. */
  readonly readOnly: boolean;
  readonly log: Log;
}

/** How long the store may take for what takes milliseconds. */
const answerMs = 5_000;
/** How long it may take to send everything there is. */
const loadMs = 300_000;
/** How long a writer is kept waiting while it is not known whether its commit happened. */
const doubtMs = 10_000;
const pruneEvery = 1_000;
const linesInPage = 1_000;
/** How many versions back the history of batches reaches. */
const historyLength = 100_000;

/** A point in the store's history, with the batch that led to it: two histories may have the same version, not the same batch. */
interface Point extends Bookmark {
  readonly batch: string;
}

interface Clock extends Point {
  readonly standby: boolean;
}

interface ClockAndChanges extends Clock {
  readonly prunedThrough: Version;
  /** Whether the store's history goes through the point that was asked about. */
  readonly continues: boolean;
  readonly changes: readonly Change[];
}

export class PostgresEngine implements Engine {
  readonly #readOnly: boolean;
  readonly #log: Log;
  /** For what every read asks. */
  readonly #reader: PostgresSession;
  /** For commits, and for reading everything. */
  readonly #writer: PostgresSession;
  #known: Point = { epoch: "", version: 0, batch: "" };
  /** The question under way, and the one that will be asked when it is answered. */
  #asked: Promise<unknown> = Promise.resolve();
  #toAsk: Promise<boolean> | undefined;
  #changesSincePrune = 0;
  /** True while nobody else seems to commit, so that a commit may do without the lock at first. */
  #alone = false;

  private constructor(address: PostgresAddress, { readOnly, log }: PostgresOptions) {
    this.#readOnly = readOnly;
    this.#log = log;
    this.#reader = new PostgresSession(address);
    this.#writer = new PostgresSession(address);
  }

  /** Connects to the store, or makes it. */
  static async open(address: PostgresAddress, options: PostgresOptions): Promise<PostgresEngine> {
    const engine = new PostgresEngine(address, options);
    try {
      await prepareStore(engine.#reader);
      return engine;
    } catch (error) {
      await engine.close();
      throw error;
    }
  }

  // Whoever comes while a question is under way waits for the next one: the answer to the first may be
  // older than a write that somebody has been told of in the meantime.
  hasNews(): Promise<boolean> {
    this.#toAsk ??= this.#asked.then(() => {
      this.#toAsk = undefined;
      const answer = this.#ask();
      this.#asked = answer.catch(() => {});
      return answer;
    });
    return this.#toAsk;
  }

  async #ask(): Promise<boolean> {
    return this.#reader.read(async (sql) => {
      const { epoch, version, batch } = checked((await within(answerMs, readClock(sql)))[0]);
      const known = this.#known;
      return version !== known.version || batch !== known.batch || epoch !== known.epoch;
    });
  }

  async pull(since?: Bookmark): Promise<News> {
    if (!since) return this.#load();
    const told = await this.#reader.read((sql) => within(loadMs, this.#changesSince(sql, since)));
    const news = this.#newsFrom(told, since);
    if (news) return news;
    if (isCut(told, since) && !this.#readOnly) {
      await this.#writer.use((sql) =>
        within(answerMs, sql`update todoitems.store set epoch = ${newEpoch()} where epoch = ${since.epoch}`),
      );
    }
    const whole = await this.#load();
    this.#tellOfOtherHistory(since, whole);
    return whole;
  }

  async commit(since: Bookmark, plan: (missed: News | undefined) => readonly PlannedChange[]): Promise<void> {
    const startedAt = performance.now();
    const isOver = () => performance.now() - startedAt > doubtMs;
    /** The batch that was sent and not answered, if there is one. */
    let sent: Point | undefined;
    for (let attempt = 1; ; attempt++) {
      const doubtful = sent;
      try {
        const onSend = (point: Point | undefined) => {
          sent = point;
        };
        if (doubtful || !this.#alone || this.#mustPrune || !(await this.#commitAlone(since, plan, onSend))) {
          await this.#commitLocked(since, plan, doubtful, onSend);
        }
        return;
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        // A refusal settles what this attempt sent, not what an earlier one did.
        if (isRefusal(error)) sent = doubtful;
        if (sent && isOver()) {
          throw new StoreError(`${error.message}. Whether the last commit happened is not known`, {
            cause: error,
            undecided: true,
          });
        }
        // A connection found dead is tried once more; a server that cannot be reached is not waited for.
        const tryAgain = isRefusal(error) ? isConflict(error) && !isOver() : attempt === 1;
        if (!sent && !tryAgain) throw error;
      }
      if (attempt > 1) await Bun.sleep(50 + Math.random() * 100);
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#reader.close(), this.#writer.close()]);
  }

  /**
   * Two round trips: one locks the clock and learns what was missed, the other writes and commits. Where an
   * earlier attempt was `sent` and its answer lost, the lock also settles whether it happened: its
   * transaction is over, or this one could not have the lock.
   */
  async #commitLocked(
    since: Bookmark,
    plan: (missed: News | undefined) => readonly PlannedChange[],
    sent: Point | undefined,
    onSend: (point: Point) => void,
  ): Promise<void> {
    const committed = await this.#writer.use(async (sql) => {
      const [, , told, happened] = await within(
        doubtMs,
        Promise.all([
          sql`begin`.execute(),
          sql`select from todoitems.store for update`.execute(),
          this.#changesSince(sql, since),
          sent ? sql`select from todoitems.history where version = ${sent.version} and batch = ${sent.batch}` : [],
        ]),
      );
      if (sent && happened.length > 0) {
        // Committed once more, so that this answer waits for the standbys the lost one may not have waited for.
        await within(doubtMs, Promise.all([sql`update todoitems.store set batch = batch`, this.#end(sql)]));
        return sent;
      }
      const { start, missed } = await this.#missed(sql, told, since);
      this.#alone = missed === undefined;
      const changes = plan(missed);
      const last = changes.at(-1);
      if (!last) {
        await within(answerMs, this.#end(sql));
        return start;
      }
      const point = { epoch: start.epoch, version: last.version, batch: newEpoch() };
      onSend(point);
      const [isWritten] = await within(
        doubtMs,
        Promise.all([this.#write(sql, start, point, changes), this.#prune(sql, point, changes), this.#end(sql)]),
      );
      if (!isWritten) throw new StoreError("the connection was lost in the middle of a transaction");
      return point;
    });
    this.#learn(committed);
  }

  /**
   * One round trip: the changes are planned on what is known, and written if the clock still stands there.
   * Says whether it did; if not, nothing was written, and somebody else has committed.
   */
  async #commitAlone(
    since: Bookmark,
    plan: (missed: News | undefined) => readonly PlannedChange[],
    onSend: (point: Point | undefined) => void,
  ): Promise<boolean> {
    const committed = await this.#writer.use(async (sql) => {
      const start = this.#known;
      if (start.epoch !== since.epoch || start.version !== since.version) return undefined;
      const changes = plan(undefined);
      const last = changes.at(-1);
      // That nothing is to be changed can only be said of the newest state.
      if (!last) return undefined;
      const point = { epoch: start.epoch, version: last.version, batch: newEpoch() };
      onSend(point);
      // One statement, which is a transaction by itself: its answer comes when that is over.
      const isWritten = await within(doubtMs, this.#waitedFor(this.#write(sql, start, point, changes)));
      this.#changesSincePrune += changes.length;
      if (isWritten) return point;
      onSend(undefined);
      return undefined;
    });
    if (committed) this.#learn(committed);
    else this.#alone = false;
    return committed !== undefined;
  }

  async #end(sql: Sql): Promise<void> {
    const { command } = await this.#waitedFor(sql`commit`);
    if (command !== "COMMIT") throw new StoreError("the server rolled the transaction back");
  }

  /** A commit must not count as done if the server gave up waiting for its standbys. */
  async #waitedFor<Result>(commit: PromiseLike<Result>): Promise<Result> {
    const warningsBefore = this.#writer.warningCount;
    const result = await commit;
    if (this.#writer.warningCount === warningsBefore) return result;
    throw new StoreError("the server stopped waiting for its standbys before they had the commit");
  }

  async #missed(sql: Sql, told: ClockAndChanges, since: Bookmark): Promise<{ start: Point; missed: News | undefined }> {
    const { version, batch } = told;
    const news = this.#newsFrom(told, since);
    if (news) return { start: { ...news, batch }, missed: news.version === since.version ? undefined : news };
    const epoch = isCut(told, since) ? newEpoch() : told.epoch;
    if (epoch !== told.epoch) await sql`update todoitems.store set epoch = ${epoch}`;
    const whole = { epoch, version, whole: true, changes: await within(loadMs, everything(sql)) };
    this.#tellOfOtherHistory(since, whole);
    return { start: { epoch, version, batch }, missed: whole };
  }

  // Sets the clock only if it stands where the plan began, and writes only if the clock was set: right by
  // itself, whatever became of the transaction around it.
  async #write(sql: Sql, start: Point, { version, batch }: Point, changes: readonly PlannedChange[]): Promise<boolean> {
    // To look out for a row that may be there costs a third more, and what is new has none.
    const areNew = changes.every(({ replaces }) => replaces === undefined);
    const replacing = sql`on conflict (position) do update set version = excluded.version, json = excluded.json`;
    const { count } = await sql`
      with clock as (
        update todoitems.store set version = ${version}, batch = ${batch}
        where epoch = ${start.epoch} and version = ${start.version} and batch = ${start.batch}
        returning version, batch
      ), history as (
        insert into todoitems.history (version, batch) select version, batch from clock
      )
      insert into todoitems.item (version, position, id, json)
      select split_part(line, E'\t', 1)::bigint, split_part(line, E'\t', 2)::bigint, split_part(line, E'\t', 3),
        nullif(split_part(line, E'\t', 4), '')
      from clock, unnest(string_to_array(${changes.map(lineOf).join("\n")}, E'\n')) as line
      ${areNew ? sql`` : replacing}`;
    return count === changes.length;
  }

  get #mustPrune(): boolean {
    return this.#changesSincePrune >= pruneEvery;
  }

  /** Every now and then, the oldest tombstones and the oldest history go. */
  async #prune(sql: Sql, { version }: Point, changes: readonly PlannedChange[]): Promise<void> {
    this.#changesSincePrune += changes.length;
    if (!this.#mustPrune) return;
    this.#changesSincePrune = 0;
    await sql`
      with oldest as (
        select version from todoitems.item where json is null order by version desc offset ${tombstonesMax} limit 1
      ), pruned as (
        delete from todoitems.item using oldest where json is null and item.version <= oldest.version
      ), forgotten as (
        delete from todoitems.history where version < ${version - historyLength}
      )
      update todoitems.store set pruned_through = oldest.version from oldest`;
  }

  /** One statement, so that clock and changes are of one moment: the first line is the clock. */
  async #changesSince(sql: Sql, { epoch, version }: Bookmark): Promise<ClockAndChanges> {
    // Which batch led to the bookmark is known only of the newest one.
    const batch = this.#known.epoch === epoch && this.#known.version === version ? this.#known.batch : null;
    const [clock, ...changes] = await sql<{ line: string }[]>`
      select line from (
        select 0 as version, concat_ws(E'\t', epoch, version, batch, pruned_through, pg_is_in_recovery(),
          ${version}::bigint <= version and (
            ${batch}::text is null
            or ${version} < (select coalesce(min(history.version), 0) from todoitems.history)
            or ${version} = 0
            or exists (select from todoitems.history where history.version = ${version} and history.batch = ${batch})
          )) as line
        from todoitems.store
        union all
        select item.version, concat_ws(E'\t', item.version, item.position, item.id, item.json)
        from todoitems.store join todoitems.item on item.version > ${version}
          and store.epoch = ${epoch} and store.pruned_through <= ${version}
      ) as told
      order by version`;
    return {
      ...checked(clock && clockOf(clock.line)),
      changes: changes.map(({ line }) => changeOf(line)),
    };
  }

  /** Nothing where the changes do not lead from the bookmark to now, and everything must be read. */
  #newsFrom(told: ClockAndChanges, since: Bookmark): News | undefined {
    const { epoch, version, batch, continues, prunedThrough, changes } = told;
    if (epoch !== since.epoch || !continues || since.version < prunedThrough) return undefined;
    this.#learn({ epoch, version, batch });
    return { epoch, version, whole: false, changes };
  }

  // Not over the reader's connection, where a question could fall into this transaction and be answered
  // as of its beginning.
  async #load(): Promise<News> {
    const [, clocks, changes] = await this.#writer.read((sql) =>
      within(
        loadMs,
        Promise.all([
          sql`begin isolation level repeatable read read only`.execute(),
          readClock(sql).execute(),
          everything(sql),
          sql`commit`,
        ]),
      ),
    );
    const { epoch, version, batch } = checked(clocks[0]);
    this.#known = { epoch, version, batch };
    return { epoch, version, whole: true, changes };
  }

  /** Notes where the store is; an answer that was overtaken by a newer one changes nothing. */
  #learn({ epoch, version, batch }: Point): void {
    if (epoch === this.#known.epoch && version < this.#known.version) return;
    this.#known = { epoch, version, batch };
  }

  #tellOfOtherHistory(since: Bookmark, { epoch, version }: Bookmark): void {
    if (since.epoch === epoch) return;
    this.#log(
      "warn",
      `The store has another history than this instance knew: it was restored from a backup, replaced, or failed over to a standby that had not everything. This instance was at version ${since.version} of ${since.epoch} and has loaded everything anew, at version ${version} of ${epoch}`,
    );
  }
}

// A query is sent when it is first waited for; what must go out in order, before that, is executed.

function readClock(sql: Sql) {
  return sql<Clock[]>`select epoch, version, batch, pg_is_in_recovery() as standby from todoitems.store`;
}

// Rows go to the server, and many come from it, as lines of text: to quote and parse arrays, or to make an
// object of each row of a large store, costs several times as much. No field holds a tab or a line break:
// IDs have none, and JSON text has them only as escapes.

/** A tombstone has nothing in the place of its JSON, which is never empty. */
function lineOf({ version, position, id, json }: Change): string {
  return `${version}\t${position}\t${id}\t${json ?? ""}`;
}

/** Every item there is. */
async function everything(sql: Sql): Promise<Iterable<Change>> {
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

function clockOf(line: string): Omit<ClockAndChanges, "changes"> {
  const [epoch = "", version, batch = "", prunedThrough, standby, continues] = line.split("\t");
  return {
    epoch,
    version: Number(version),
    batch,
    prunedThrough: Number(prunedThrough),
    standby: standby === "t",
    continues: continues === "t",
  };
}

/**
 * True if the store has the bookmark's epoch but not its history: versions were taken back. Such a store
 * gets a new epoch, so that no client takes what it knows for what is stored.
 */
function isCut(clock: ClockAndChanges, since: Bookmark): boolean {
  return clock.epoch === since.epoch && !clock.continues;
}

function checked<Row extends Clock>(clock: Row | undefined): Row {
  if (!clock)
    throw new StoreError("the store has lost its clock, the row of todoitems.store; restore it from a backup");
  if (clock.standby) throw standbyError();
  return clock;
}
