// The engine for many machines: any number of instances share one PostgreSQL database. A single row, the clock,
// orders their commits (see postgres-commit.ts). Before a read, the engine asks for the clock's version. All reads
// that wait at the same time share one such query.
// Why: docs/decisions/0021-fresh-reads.md

import type { Batch, Bookmark, Change, Engine, News, WholeStore } from "../../collection/engine.ts";
import { type Limits, realLimits } from "../../collection/limits.ts";
import type { PostgresAddress } from "./postgres-address.ts";
import { type CommitContext, PostgresCommit } from "./postgres-commit.ts";
import { KnownHistory } from "./postgres-history.ts";
import { prepareStore, requireStore } from "./postgres-schema.ts";
import { PostgresSession, timeoutsMs, withTimeout, withTimeouts } from "./postgres-session.ts";
import { PostgresSnapshot } from "./postgres-snapshot.ts";
import { type Point, readClock, renameHistory, usableClock } from "./postgres-statements.ts";

export interface PostgresOptions {
  /**
   * If true, the engine changes nothing: it makes no tables, `commit` is not called, and a store that was rolled back
   * does not get a new epoch (a new name for its history).
   */
  readonly readOnly: boolean;
  readonly limits?: Limits | undefined;
  /** Called with a message for the operator if the store turns out to have a different history than before. */
  readonly onOtherHistory: (message: string) => void;
}

export class PostgresEngine implements Engine {
  readonly #address: PostgresAddress;
  readonly #options: PostgresOptions;
  /**
   * The connection for `hasNews` queries and for reading changes. It is also used to prepare the store, and to give it
   * a new epoch.
   */
  readonly #reader: PostgresSession;
  /** The connection for commits. */
  readonly #writer: PostgresSession;
  readonly #known: KnownHistory;
  readonly #commits: CommitContext;
  /**
   * `#asked` is the latest `hasNews` query that was sent. `#toAsk` is the next one, which is sent once `#asked` is
   * answered.
   */
  #asked: Promise<unknown> = Promise.resolve();
  #toAsk: Promise<boolean> | undefined;

  private constructor(address: PostgresAddress, options: PostgresOptions) {
    this.#address = address;
    this.#options = options;
    this.#reader = new PostgresSession(address);
    this.#writer = new PostgresSession(address);
    this.#known = new KnownHistory(!options.readOnly);
    const { limits = realLimits } = options;
    this.#commits = { writer: this.#writer, known: this.#known, limits, contended: false };
  }

  /** Connects to the store. Creates it if it does not exist, unless the engine is read-only. */
  static async open(address: PostgresAddress, options: PostgresOptions): Promise<PostgresEngine> {
    const engine = new PostgresEngine(address, options);
    const reader = engine.#reader;
    try {
      await (options.readOnly
        ? reader.use((sql) => withTimeout(timeoutsMs.answer, requireStore(sql)))
        : prepareStore(reader));
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
    const answer = this.#reader.read(timeoutsMs.question, async (sql, leftMs) => {
      const clock = usableClock((await withTimeout(leftMs, readClock(sql)))[0]);
      return !this.#known.isNewest(clock);
    });
    this.#asked = answer;
    answer.catch(() => {
      this.#asked = Promise.resolve();
    });
    return answer;
  }

  async pull(since: Bookmark): Promise<News | undefined> {
    const known = this.#known;
    // If a commit of this instance has overtaken the answer, `learn` ignores the answer, and the next pull checks the
    // point that the commit led to. So the query need not be sent again. Otherwise an instance that commits all the
    // time would send it forever.
    const isOvertaken = ({ epoch, version }: Point) => known.newest.epoch === epoch && known.newest.version >= version;
    const answer = await this.#reader.read(timeoutsMs.question, (sql, firstMs) =>
      withTimeouts({ firstMs, ms: timeoutsMs.load }, (onFirst) => known.read(sql, since, isOvertaken, onFirst)),
    );
    const news = known.newsFrom(answer, since);
    if (news) known.learn(answer);
    return news;
  }

  /**
   * Begins to read the whole store. If the store was rolled back, it first gets a new epoch, unless this engine is
   * read-only.
   */
  async load(): Promise<WholeStore> {
    for (;;) {
      const { newest } = this.#known;
      // This has a connection of its own. On the reader's connection, a `hasNews` query could become part of the
      // transaction, and would then see the store as it was when the transaction began.
      const snapshot = await PostgresSnapshot.begin(this.#address, newest);
      const { epoch, version, prunedThrough } = snapshot.clock;
      const isCut = this.#known.isCut(snapshot.clock, newest.epoch);
      if (!isCut || this.#options.readOnly)
        return { epoch, version, prunedThrough, pages: this.#pages(snapshot, newest) };
      await snapshot.close();
      await this.#reader.use((sql) => withTimeout(timeoutsMs.answer, renameHistory(sql, epoch)));
    }
  }

  async *#pages(snapshot: PostgresSnapshot, newest: Point): AsyncGenerator<readonly Change[]> {
    try {
      yield* snapshot.pages();
    } finally {
      await snapshot.close();
    }
    // Do this after everything that can fail. A load that fails must not change the known point: the caller's copy would
    // be at another point, and `hasNews` would not notice. If a commit has changed the known point in the meantime, the
    // caller does not use what it has loaded.
    if (this.#known.newest === newest) this.#known.restart(snapshot.clock);
    const { epoch, version } = snapshot.clock;
    if (newest.epoch === "" || newest.epoch === epoch) return;
    this.#options.onOtherHistory(
      `The store has another history than this instance knew: it was restored from a backup, replaced, or failed over to a standby that lacked the latest changes. This instance was at version ${newest.version} of ${newest.epoch} and has loaded everything again, at version ${version} of ${epoch}`,
    );
  }

  async commit(batch: Batch): Promise<boolean> {
    return new PostgresCommit(batch, this.#commits).run();
  }

  async close(): Promise<void> {
    await Promise.all([this.#reader.close(), this.#writer.close()]);
  }
}
