// The engine for many machines: any number of instances share one PostgreSQL database. A single row,
// the clock, orders their commits. A batch is one call of a function in the database, which puts it behind
// whatever others have committed meanwhile; only if they have changed the same items, the clock is locked
// first and the batch decided again. Reads ask for the clock's version, all who wait with one tiny query.

import {
  type Bookmark,
  type Change,
  type Engine,
  type MovablePlan,
  type News,
  newEpoch,
  type PlannedChange,
  StoreError,
} from "../../collection/engine.ts";
import type { Log } from "../../http/log.ts";
import type { PostgresAddress } from "./postgres-address.ts";
import { prepareStore } from "./postgres-schema.ts";
import { isConflict, isRefusal, PostgresSession, type Sql, within } from "./postgres-session.ts";
import {
  type ClockAndChanges,
  checked,
  commitBatch,
  everything,
  findBatch,
  lockClock,
  type Point,
  readChanges,
  readClock,
  renameHistory,
  type Sent,
  voidBatch,
} from "./postgres-statements.ts";

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

export class PostgresEngine implements Engine {
  readonly #readOnly: boolean;
  readonly #log: Log;
  /** For what every read asks. */
  readonly #reader: PostgresSession;
  /** For commits. */
  readonly #writer: PostgresSession;
  /** For reading everything, which must not fall into a commit's transaction; connected only while it is used. */
  readonly #loader: PostgresSession;
  #loadCount = 0;
  #known: Point = { epoch: "", version: 0, batch: "" };
  /** The question under way, and the one that will be asked when it is answered. */
  #asked: Promise<unknown> = Promise.resolve();
  #toAsk: Promise<boolean> | undefined;
  /** True while nobody else seems to change the items that are changed here, so that a commit may do without the lock at first. */
  #hopeful = true;

  private constructor(address: PostgresAddress, { readOnly, log }: PostgresOptions) {
    this.#readOnly = readOnly;
    this.#log = log;
    this.#reader = new PostgresSession(address);
    this.#writer = new PostgresSession(address);
    this.#loader = new PostgresSession(address);
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
    const told = await this.#reader.read((sql) => within(loadMs, readChanges(sql, this.#pointOf(since))));
    const news = newsFrom(told, since);
    if (news) {
      this.#learn(told);
      return news;
    }
    if (isCut(told, since) && !this.#readOnly) {
      await this.#reader.use((sql) => within(answerMs, renameHistory(sql, since.epoch)));
    }
    const whole = await this.#load();
    this.#tellOfOtherHistory(since, whole);
    return whole;
  }

  async commit(
    since: Bookmark,
    plan: (missed: News | undefined) => readonly PlannedChange[],
    movable?: MovablePlan,
  ): Promise<void> {
    const startedAt = performance.now();
    const isOver = () => performance.now() - startedAt > doubtMs;
    /** The batch that was sent and not answered, if there is one. */
    let sent: Sent | undefined;
    const onSend = (batch: Sent | undefined) => {
      sent = batch;
    };
    for (let attempt = 1; ; attempt++) {
      const doubtful = sent;
      try {
        // Settled before anything is decided again: the plan it was made from is still the newest one.
        if (doubtful && (await this.#hasHappened(doubtful, since, movable))) return;
        sent = undefined;
        if (this.#hopeful && (await this.#commitAtOnce(since, plan, movable, onSend))) return;
        if (await this.#commitLocked(since, plan, movable, onSend)) return;
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        if (isRefusal(error)) {
          this.#hopeful = false;
          // Settles what was sent, unless it was the question about it that was refused.
          if (sent !== doubtful) sent = undefined;
        }
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
    await Promise.all([this.#reader.close(), this.#writer.close(), this.#loader.close()]);
  }

  /**
   * One round trip: the changes are planned on what is known, and stored behind what others have committed.
   * Says whether they were: if not, nothing was written, and others have changed what the plan depends on.
   */
  async #commitAtOnce(
    since: Bookmark,
    plan: (missed: News | undefined) => readonly PlannedChange[],
    movable: MovablePlan | undefined,
    onSend: (batch: Sent | undefined) => void,
  ): Promise<boolean> {
    this.#hopeful = await this.#writer.use(async (sql) => {
      const start = this.#known;
      if (start.epoch !== since.epoch || start.version !== since.version) return false;
      const changes = plan(undefined);
      const last = changes.at(-1);
      // That nothing is to be changed can only be said of the newest state.
      if (!last) return false;
      const sent = { since: since.version, version: last.version, batch: newEpoch() };
      onSend(sent);
      const write = commitBatch(sql, start, sent, changes, movable?.dependsOn());
      const written = await within(doubtMs, this.#waitedFor(write));
      if (!written) {
        onSend(undefined);
        return false;
      }
      const { missed, by } = written;
      if (by > 0) movable?.moved({ ...since, version: since.version + by, whole: false, changes: missed }, by);
      this.#learn({ epoch: start.epoch, version: sent.version + by, batch: sent.batch });
      return true;
    });
    return this.#hopeful;
  }

  /**
   * Two round trips: one locks the clock and learns what was missed, the other writes and commits. Says
   * whether that is done; if not, the history had been cut, and the next attempt finds a new one.
   */
  async #commitLocked(
    since: Bookmark,
    plan: (missed: News | undefined) => readonly PlannedChange[],
    movable: MovablePlan | undefined,
    onSend: (batch: Sent) => void,
  ): Promise<boolean> {
    return this.#writer.use(async (sql) => {
      const [, told] = await within(doubtMs, Promise.all([lockClock(sql), readChanges(sql, this.#pointOf(since))]));
      if (isCut(told, since)) {
        // By itself: were the commit undone that it is noticed by, nobody would notice it again.
        await within(answerMs, Promise.all([renameHistory(sql, since.epoch).execute(), this.#end(sql)]));
        return false;
      }
      const { start, missed } = await this.#missed(sql, told, since);
      const changes = plan(missed);
      this.#learn(start);
      this.#hopeful = !missed?.whole && !isTouched(movable?.dependsOn(), told.changes);
      const last = changes.at(-1);
      if (!last) {
        await within(answerMs, this.#end(sql));
        return true;
      }
      const sent = { since: start.version, version: last.version, batch: newEpoch() };
      onSend(sent);
      const [written] = await within(doubtMs, Promise.all([commitBatch(sql, start, sent, changes), this.#end(sql)]));
      if (!written) throw new StoreError("the connection was lost in the middle of a transaction");
      this.#learn({ epoch: start.epoch, version: sent.version, batch: sent.batch });
      return true;
    });
  }

  /**
   * Settles whether a batch whose answer was lost was stored. Whoever has the clock's lock knows that the
   * batch is not being stored just now; if it was not, it may still lie unread at the server, so it is voided.
   */
  async #hasHappened(sent: Sent, since: Bookmark, movable: MovablePlan | undefined): Promise<boolean> {
    return this.#writer.use(async (sql) => {
      const [, told, [happened]] = await within(
        doubtMs,
        Promise.all([lockClock(sql), readChanges(sql, this.#pointOf(since)), findBatch(sql, sent)]),
      );
      if (!happened) {
        await within(doubtMs, Promise.all([voidBatch(sql, sent).execute(), this.#end(sql)]));
        return false;
      }
      const { start, missed } = await this.#missed(sql, told, since);
      // Committed once more, so that this answer waits for the standbys the lost one may not have waited for.
      await within(doubtMs, Promise.all([sql`update todoitems.store set batch = batch`.execute(), this.#end(sql)]));
      if (missed && movable) {
        movable.moved(missed, happened.version - sent.version);
        this.#learn(start);
      }
      return true;
    });
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
    const { epoch, version, batch } = told;
    const start = { epoch, version, batch };
    const news = newsFrom(told, since);
    if (news) return { start, missed: version === since.version ? undefined : news };
    const whole = { epoch, version, whole: true, changes: await within(loadMs, everything(sql)) };
    this.#tellOfOtherHistory(since, whole);
    return { start, missed: whole };
  }

  // Not over the reader's connection, where a question could fall into this transaction and be answered
  // as of its beginning.
  async #load(): Promise<News> {
    this.#loadCount++;
    try {
      const [, clocks, changes] = await this.#loader.read((sql) =>
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
    } finally {
      if (--this.#loadCount === 0) void this.#loader.close();
    }
  }

  /** Notes where the store is; an answer that was overtaken by a newer one changes nothing. */
  #learn({ epoch, version, batch }: Point): void {
    if (epoch === this.#known.epoch && version < this.#known.version) return;
    this.#known = { epoch, version, batch };
  }

  /** Which batch led to a bookmark is known only of the newest one. */
  #pointOf(bookmark: Bookmark): Point {
    const { epoch, version, batch } = this.#known;
    return { ...bookmark, batch: epoch === bookmark.epoch && version === bookmark.version ? batch : "" };
  }

  #tellOfOtherHistory(since: Bookmark, { epoch, version }: Bookmark): void {
    if (since.epoch === epoch) return;
    this.#log(
      "warn",
      `The store has another history than this instance knew: it was restored from a backup, replaced, or failed over to a standby that had not everything. This instance was at version ${since.version} of ${since.epoch} and has loaded everything anew, at version ${version} of ${epoch}`,
    );
  }
}

/** Whether a plan that depends on these items would have had to be made anew behind these changes. */
function isTouched(dependsOn: readonly string[] | undefined, changes: readonly Change[]): boolean {
  if (!dependsOn) return changes.length > 0;
  const ids = new Set(dependsOn);
  return changes.some(({ id }) => ids.has(id));
}

/** Nothing where the changes do not lead from the bookmark to now, and everything must be read. */
function newsFrom(told: ClockAndChanges, since: Bookmark): News | undefined {
  const { epoch, version, changes } = told;
  if (epoch !== since.epoch || !told.continues || since.version < told.prunedThrough) return undefined;
  return { epoch, version, whole: false, changes };
}

/**
 * True if the store has the bookmark's epoch but not its history: versions were taken back. Such a store
 * gets a new epoch, so that no client takes what it knows for what is stored.
 */
function isCut(clock: ClockAndChanges, since: Bookmark): boolean {
  return clock.epoch === since.epoch && !clock.continues;
}
