// The engine for many machines: any number of instances share one PostgreSQL database. A single row, the clock,
// orders their commits (see postgres-commit.ts). Before a read, the engine asks for the clock's version. All reads
// that wait at the same time share one such query.
// Why: docs/decisions/0021-fresh-reads.md

import type { Batch, Engine, ListNames, ListPage, News, StoreState } from "../../collection/engine.ts";
import { type Limits, realLimits } from "../../collection/limits.ts";
import type { ListKey } from "../../collection/list-key.ts";
import type { PostgresAddress } from "./postgres-address.ts";
import { type CommitContext, PostgresCommit } from "./postgres-commit.ts";
import { KnownHistory } from "./postgres-history.ts";
import { prepareStore, requireStore } from "./postgres-schema.ts";
import { PostgresSession, timeoutsMs, withTimeout } from "./postgres-session.ts";
import {
  type ClockAndChanges,
  nowhere,
  type Point,
  readBytes,
  readClock,
  readList,
  readNames,
  renameHistory,
  usableClock,
} from "./postgres-statements.ts";

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
  readonly #options: PostgresOptions;
  /**
   * The connection for `hasNews` queries and for reading changes. It is also used to prepare the store, and to give it
   * a new epoch.
   */
  readonly #reader: PostgresSession;
  /** The connection for commits. */
  readonly #writer: PostgresSession;
  /** The connection for lists and their names, because reading them may take longer than readers can wait. */
  readonly #loader: PostgresSession;
  readonly #limits: Limits;
  readonly #known: KnownHistory;
  readonly #commits: CommitContext;
  /** The clock at which the first page of a list was read, for each of its pages. */
  readonly #begunAt = new WeakMap<ListPage, number>();
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
    this.#known = new KnownHistory(!options.readOnly);
    this.#limits = options.limits ?? realLimits;
    this.#commits = { writer: this.#writer, known: this.#known, limits: this.#limits, contended: false };
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
    const answer = this.#reader.read(async (sql) => {
      const clock = usableClock((await readClock(sql))[0]);
      return !this.#known.isNewest(clock);
    });
    this.#asked = answer;
    answer.catch(() => {
      this.#asked = Promise.resolve();
    });
    return answer;
  }

  async pull(since: StoreState): Promise<News | undefined> {
    const answer = await this.#changesSince(since);
    const news = this.#known.newsFrom(answer, since);
    if (news) this.#known.learn(answer);
    return news;
  }

  #changesSince(since: Omit<Point, "batch">): Promise<ClockAndChanges> {
    // If a commit of this instance has overtaken the answer, `learn` ignores the answer, and the next pull checks the
    // point that the commit led to. So the query need not be sent again. Otherwise an instance that commits all the
    // time would send it forever.
    const isOvertaken = ({ epoch, clock }: Point, by: Point) => by.epoch === epoch && by.clock >= clock;
    return this.#reader.read((sql, onFirst) => this.#known.read(sql, since, isOvertaken, onFirst));
  }

  /** If the store was rolled back, it first gets a new epoch, unless this engine is read-only. */
  async state(): Promise<StoreState> {
    for (;;) {
      const { newest } = this.#known;
      const answer = await this.#changesSince(nowhere);
      const { epoch, clock, state } = answer;
      if (this.#known.isCut(answer, newest.epoch) && !this.#options.readOnly) {
        await this.#reader.use((sql) => withTimeout(timeoutsMs.answer, renameHistory(sql, epoch)));
        continue;
      }
      // If a commit has changed the known point in the meantime, the caller does not use this state.
      if (this.#known.newest !== newest) return state;
      this.#known.restart(answer);
      if (newest.epoch !== "" && newest.epoch !== epoch)
        this.#options.onOtherHistory(
          `The store has another history than this instance knew: it was restored from a backup, replaced, or failed over to a standby that lacked the latest changes. This instance was at change ${newest.clock} of ${newest.epoch}. It loads everything again, at change ${clock} of ${epoch}`,
        );
      return state;
    }
  }

  /**
   * Pages are in order of version, so whatever others commit meanwhile is on a later page. But tombstones may have been
   * dropped that were never read, of items that were; and the store may have been replaced. Items that were deleted before
   * the first page was read are on no page. So it does not matter if only tombstones of that time were dropped: otherwise
   * a long list from which others keep deleting would be read again and again.
   */
  async load(list: ListKey, previous?: ListPage): Promise<ListPage> {
    const after = previous?.rows.at(-1)?.version ?? 0;
    const { points } = this.#known;
    const page = await this.#loader.read((sql, onFirst) =>
      readList(sql, list, after, this.#limits, { points, onFirst }),
    );
    const { epoch, clock, continues, prunedThrough, pruned, rows, isLast } = page;
    if (continues) this.#known.note(page);
    const begunAt = (previous && this.#begunAt.get(previous)) ?? clock;
    const isComplete = !previous || pruned <= Math.max(previous.prunedThrough, after) || prunedThrough <= begunAt;
    const fits = isComplete && (!previous || previous.storeEpoch === epoch);
    // If the history was cut, the caller must ask for the state before it can use the list. Every other epoch makes it
    // do so.
    const storeEpoch = continues && fits ? epoch : nowhere.epoch;
    const found = { storeEpoch, prunedThrough: pruned, rows, isLast };
    this.#begunAt.set(found, begunAt);
    return found;
  }

  async names(owner: string): Promise<ListNames> {
    const { points } = this.#known;
    const { names, ...moment } = await this.#loader.read((sql, onFirst) => readNames(sql, owner, { points, onFirst }));
    this.#known.note(moment);
    return { listsMark: moment.state.listsMark, names };
  }

  bytesOf(owner: string): Promise<number> {
    return this.#loader.read((sql, onFirst) => {
      // There is one row, which comes when all items were looked at.
      onFirst();
      return withTimeout(timeoutsMs.commit, readBytes(sql, owner));
    });
  }

  async commit(batch: Batch): Promise<boolean> {
    return new PostgresCommit(batch, this.#commits).run();
  }

  async close(): Promise<void> {
    await Promise.all([this.#reader.close(), this.#writer.close(), this.#loader.close()]);
  }
}
