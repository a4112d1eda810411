// The engine for many machines: any number of instances share one PostgreSQL database. A single row, the clock,
// orders their commits (see postgres-commit.ts). Before a read, the engine asks for the clock's version. All reads
// that wait at the same time share one such query.

import type { Batch, Bookmark, Change, Engine, News, WholeStore } from "../../collection/engine.ts";
import type { PostgresAddress } from "./postgres-address.ts";
import { type CommitContext, PostgresCommit } from "./postgres-commit.ts";
import { KnownHistory, newsFrom, otherHistoryMessage, readNews } from "./postgres-history.ts";
import { checkReadable, prepareStore } from "./postgres-schema.ts";
import { PostgresSession, timeoutsMs, withTimeout, withTimeouts } from "./postgres-session.ts";
import {
  type ClockAndChanges,
  everything,
  type Point,
  readClock,
  renameHistory,
  usableClock,
} from "./postgres-statements.ts";

export interface PostgresOptions {
  /**
   * If true, the engine changes nothing: it makes no tables and brings none up to date, `commit` is not called, and a
   * store that was rolled back does not get a new epoch (a new name for its history).
   */
  readonly readOnly: boolean;
  /** Called with a message for the operator if the store turns out to have a different history than before. */
  readonly onOtherHistory: (message: string) => void;
}

export class PostgresEngine implements Engine {
  readonly #options: PostgresOptions;
  /**
   * The connection for `hasNews` queries and for reading changes. It is also used to prepare the store, and to give it
   * a new epoch.
   */
  readonly #reader: PostgresSession;
  /** The connection for commits. */
  readonly #writer: PostgresSession;
  /**
   * The connection for loading the whole store. The load is a transaction that must not mix with commits or `hasNews`
   * queries. Connected only while in use.
   */
  readonly #loader: PostgresSession;
  #loadCount = 0;
  readonly #known = new KnownHistory();
  readonly #commits: CommitContext;
  /** How many reads of changes use the reader's connection at present. */
  #pullCount = 0;
  /**
   * `#asked` is the latest `hasNews` query that was sent. `#toAsk` is the next one, which is sent once `#asked` is
   * answered.
   */
  #asked: Promise<unknown> = Promise.resolve();
  #toAsk: Promise<boolean> | undefined;

  private constructor(address: PostgresAddress, options: PostgresOptions) {
    this.#options = options;
    this.#reader = new PostgresSession(address);
    this.#writer = new PostgresSession(address);
    this.#loader = new PostgresSession(address);
    const { onOtherHistory } = options;
    this.#commits = { writer: this.#writer, known: this.#known, onOtherHistory, contended: false };
  }

  /** Connects to the store. Creates it if it does not exist, unless the engine is read-only. */
  static async open(address: PostgresAddress, options: PostgresOptions): Promise<PostgresEngine> {
    const engine = new PostgresEngine(address, options);
    try {
      await (options.readOnly ? checkReadable(engine.#reader) : prepareStore(engine.#reader));
      return engine;
    } catch (error) {
      await engine.close();
      throw error;
    }
  }

  // A caller that arrives while a query is under way waits for the next query. The answer to the query under way may be
  // older than a write that another instance has acknowledged in the meantime. But if the query under way fails, the
  // next one is not sent: its callers have waited long enough, and the server would probably not answer now.
  hasNews(): Promise<boolean> {
    this.#toAsk ??= this.#asked.then(
      () => this.#ask(),
      (error: unknown) => {
        this.#toAsk = undefined;
        throw error;
      },
    );
    return this.#toAsk;
  }

  #ask(): Promise<boolean> {
    this.#toAsk = undefined;
    const answer = this.#reader.read(this.#attemptMs, async (sql, leftMs) => {
      const clock = usableClock((await withTimeout(leftMs, readClock(sql)))[0]);
      return !this.#known.isNewest(clock);
    });
    this.#asked = answer;
    answer.catch(() => {
      this.#asked = Promise.resolve();
    });
    return answer;
  }

  /**
   * How long a query may take. While changes are being read, a query gets more time. It uses the same connection, and
   * has to wait until all rows of these changes have arrived.
   */
  get #attemptMs(): number {
    return this.#pullCount > 0 ? timeoutsMs.answer : timeoutsMs.question;
  }

  async load(): Promise<WholeStore> {
    const whole = await this.#load();
    this.#known.restart(whole);
    return whole;
  }

  async pull(since: Bookmark): Promise<News | undefined> {
    const answer = await this.#readNews(() => this.#known.pointAt(since));
    // If `hasLeft` is true, the store has returned to an epoch (the name of a history) that was already over. So it was
    // rolled back, perhaps to a point before the bookmark, and others may have committed since. Then it is not certain
    // that the changes continue from the bookmark, so they are not used.
    const news = this.#known.hasLeft(answer.epoch) ? undefined : newsFrom(answer, since);
    if (news) {
      // If this pull did not start from the known point, the caller's copy of the store may still be at that point. A
      // read-only engine then keeps the known point, because it needs the point's batch name to notice a rollback.
      // Other engines need not keep it: they give a store that was rolled back a new epoch (a new name for its
      // history).
      if (!this.#options.readOnly || this.#known.isAt(since)) this.#known.learn(answer);
      return news;
    }
    const whole = await this.#replace(since, answer);
    // If this pull did not start from the known point, the caller's copy of the store may still be at that point. The
    // next pull must then check whether the history still contains the point, so the point is kept. If the loaded store
    // has another epoch, the next pull loads the whole store anyway, and the point can be dropped. But a read-only
    // engine keeps it even then: it cannot give the store a new epoch, so the store could return to the point's epoch
    // unnoticed.
    const keepsKnown = this.#options.readOnly || whole.epoch === this.#known.newest.epoch;
    // Do this after everything that can fail. A failed pull must not change the known point: the caller's copy would be
    // at another point, and `hasNews` would not notice.
    if (this.#known.isAt(since) || !keepsKnown) this.#known.restart(whole);
    if (whole.epoch !== since.epoch) this.#options.onOtherHistory(otherHistoryMessage(since, whole));
    return undefined;
  }

  /**
   * Loads the whole store, because `answer` does not lead from the bookmark to the current state. If the store was
   * rolled back, it first gets a new epoch, unless this engine is read-only.
   */
  async #replace(since: Bookmark, answer: ClockAndChanges): Promise<WholeStore & Point> {
    if (this.#options.readOnly) return this.#load();
    if (answer.epoch !== since.epoch) this.#known.leave(since.epoch);
    if (this.#known.isCut(answer)) {
      this.#known.leave(answer.epoch);
      await this.#rename(answer.epoch);
    }
    for (;;) {
      const whole = await this.#load();
      // The store may have got a new epoch (a new name for its history) after `answer` was sent. Then the epoch of the
      // bookmark is over.
      if (whole.epoch !== since.epoch) this.#known.leave(since.epoch);
      // If the epoch of the loaded store was already over, the store was rolled back just before it was loaded, and has
      // its old epoch again. Then this block is skipped, and `#rename` gives the store another epoch.
      if (!this.#known.hasLeft(whole.epoch)) {
        if (whole.epoch !== since.epoch || (await this.#learnsLoaded(whole))) return whole;
        this.#known.leave(whole.epoch);
      }
      await this.#rename(whole.epoch);
    }
  }

  /**
   * Makes the loaded point the newest known point, if it is newer. Returns false if the store was rolled back: its
   * history lacks the loaded point or the newest known point, or its epoch is already over. A version that is higher
   * than before does not rule out a rollback, because others may have committed since.
   */
  async #learnsLoaded(whole: Point): Promise<boolean> {
    const { continues } = await this.#readNews(() => whole);
    if (!continues || this.#known.hasLeft(whole.epoch)) return false;
    this.#known.learn(whole);
    return true;
  }

  async #rename(epoch: string): Promise<void> {
    await this.#reader.use((sql) => withTimeout(timeoutsMs.answer, renameHistory(sql, epoch)));
  }

  async #readNews(since: () => Point): Promise<ClockAndChanges> {
    const attemptMs = this.#attemptMs;
    this.#pullCount++;
    try {
      return await this.#reader.read(attemptMs, (sql, firstMs) =>
        withTimeouts({ firstMs, ms: timeoutsMs.load }, (onFirst) => readNews(sql, this.#known, since, onFirst)),
      );
    } finally {
      this.#pullCount--;
    }
  }

  async commit(batch: Batch): Promise<boolean> {
    return new PostgresCommit(batch, this.#commits).run();
  }

  async close(): Promise<void> {
    await Promise.all([this.#reader.close(), this.#writer.close(), this.#loader.close()]);
  }

  // This does not use the reader's connection. On that connection, a `hasNews` query could become part of this
  // transaction. It would then see the store as it was when the transaction began.
  async #load(): Promise<WholeStore & Point> {
    this.#loadCount++;
    try {
      const [, clocks, changes] = await this.#loader.read(timeoutsMs.load, (sql) =>
        withTimeout(
          timeoutsMs.load,
          Promise.all([
            sql`begin isolation level repeatable read read only`.execute(),
            readClock(sql).execute(),
            everything(sql),
            sql`commit`,
          ]),
        ),
      );
      const { epoch, version, batch, prunedThrough } = usableClock(clocks[0]);
      return { epoch, version, batch, prunedThrough, pages: onePage(changes) };
    } finally {
      if (--this.#loadCount === 0) void this.#loader.close();
    }
  }
}

async function* onePage(changes: Iterable<Change>): AsyncGenerator<readonly Change[]> {
  yield [...changes];
}
