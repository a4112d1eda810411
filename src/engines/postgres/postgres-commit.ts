// One commit of a batch of writes to PostgreSQL, from the first attempt to the final result. Each attempt has up to
// three steps:
//
// - settle: if a batch was sent and its answer was lost, find out whether it was stored.
// - optimistic: decide the batch on the state that this instance knows, and store it in one round trip. The database
//   stores it only on exactly this state. If other instances have committed since, it stores nothing.
// - locked: lock the clock, which is the row that orders all commits. Read what others have committed, decide, and store
//   the batch. This takes two round trips, and nobody else can commit in between.
// Why: docs/decisions/0020-postgresql.md

import { type Batch, newEpoch, type Plan, StoreError } from "../../collection/engine.ts";
import type { Limits } from "../../collection/limits.ts";
import { isConflict, isServerError } from "./postgres-failures.ts";
import type { KnownHistory } from "./postgres-history.ts";
import { type PostgresSession, type Sql, timeoutsMs, withTimeout } from "./postgres-session.ts";
import {
  type ClockAndChanges,
  commitBatch,
  findBatch,
  isSamePoint,
  lockClock,
  nowhere,
  type Point,
  type SentBatch,
  touchClock,
  voidBatch,
} from "./postgres-statements.ts";

/** What the commits of one engine share. */
export interface CommitContext {
  readonly writer: PostgresSession;
  readonly known: KnownHistory;
  readonly limits: Limits;
  /**
   * True if other instances have committed since this one last did. Then the next commit locks the clock first, because
   * an attempt without the lock would probably be refused.
   */
  contended: boolean;
}

export class PostgresCommit {
  readonly #batch: Batch;
  readonly #context: CommitContext;
  readonly #giveUpAtMs = performance.now() + timeoutsMs.commit;
  #attempt = 0;
  /** The batch that was sent and has not been answered yet. */
  #sent: SentBatch | undefined;

  constructor(batch: Batch, context: CommitContext) {
    this.#batch = batch;
    this.#context = context;
  }

  /** As `Engine.commit`. */
  async run(): Promise<boolean> {
    for (;;) {
      this.#attempt++;
      const unanswered = this.#sent;
      try {
        // Before the batch is decided again, find out whether it was stored as it was sent. The batch reports the
        // outcomes of its latest decision, and that must be the one that was stored.
        if (unanswered && (await this.#settle(unanswered))) return true;
        this.#sent = undefined;
        if (!this.#context.contended && (await this.#optimistic())) return true;
        return await this.#locked();
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        this.#giveUpOrGoOn(error, unanswered);
      }
      if (this.#attempt > 1) await Bun.sleep(50 + Math.random() * 100);
    }
  }

  /**
   * Returns whether the unanswered batch was stored. While this has the lock, the batch cannot be in the middle of being
   * stored. If it was not stored, its statement may still be waiting in the server's socket, to be executed later. So
   * we void the batch, and the database will never store it.
   */
  async #settle(unanswered: SentBatch): Promise<boolean> {
    const { writer, known } = this.#context;
    return writer.use(async (sql) => {
      const [, clock, found] = await withTimeout(
        timeoutsMs.commit,
        Promise.all([lockClock(sql), this.#readUnderLock(sql, nowhere), findBatch(sql, unanswered)]),
      );
      const isStored = found.length > 0;
      // If the batch is stored, its answer was lost, so perhaps the standbys do not have it yet. So we commit another
      // write here. The server answers this write only when its synchronous standbys have everything up to this point.
      const write = isStored ? touchClock(sql) : voidBatch(sql, unanswered);
      await withTimeout(timeoutsMs.commit, Promise.all([write.execute(), this.#end(sql)]));
      // If the store was rolled back, the known point stays as it is. Then the next read notices the rollback too.
      if (isStored && !known.isCut(clock, unanswered.epoch)) known.learn(unanswered);
      return isStored;
    });
  }

  /** Returns false if nothing was stored. The usual reason is that other instances have committed. */
  async #optimistic(): Promise<boolean> {
    const isStored = await this.#context.writer.use(async (sql) => {
      const { known } = this.#context;
      if (!known.isAt(this.#batch.since)) return false;
      const start = known.newest;
      const plan = this.#batch.decide(undefined);
      // Perhaps the batch changes nothing only because this state is out of date. So the locked step decides again,
      // with the newest state.
      if (!plan || plan.lists.length === 0) return false;
      const sent = this.#send(start, plan);
      const stored = await withTimeout(
        timeoutsMs.commit,
        this.#replicated(commitBatch(sql, sent, plan, this.#context.limits)),
      );
      if (stored) known.learn(sent);
      else this.#sent = undefined;
      return stored;
    });
    this.#context.contended = !isStored;
    return isStored;
  }

  /** The batch is decided once the clock is locked, so it gets all writes that have arrived while this waited. */
  async #locked(): Promise<boolean> {
    const { writer, known } = this.#context;
    const { since } = this.#batch;
    return writer.use(async (sql) => {
      const [, answer] = await withTimeout(
        timeoutsMs.commit,
        Promise.all([lockClock(sql), this.#readUnderLock(sql, since)]),
      );
      const { epoch, clock, batch } = answer;
      const news = known.newsFrom(answer, since);
      const isMissed = clock !== since.clock;
      const plan = news && this.#batch.decide(isMissed ? news : undefined);
      if (news) known.learn(answer);
      this.#context.contended = isMissed;
      if (!plan || plan.lists.length === 0) {
        await withTimeout(timeoutsMs.answer, this.#end(sql));
        return plan !== undefined;
      }
      const sent = this.#send({ epoch, clock, batch }, plan);
      const [stored] = await withTimeout(
        timeoutsMs.commit,
        Promise.all([commitBatch(sql, sent, plan, this.#context.limits), this.#end(sql)]),
      );
      if (!stored) throw new StoreError("the connection was lost in the middle of a transaction");
      known.learn(sent);
      return true;
    });
  }

  /** Called after an error. Throws if the commit has failed for good. Returns if another attempt is worthwhile. */
  #giveUpOrGoOn(error: StoreError, unanswered: SentBatch | undefined): void {
    const isOver = performance.now() > this.#giveUpAtMs;
    if (isServerError(error)) {
      this.#context.contended = true;
      // If this attempt has sent a batch, the server has refused it, so it is no longer unanswered. But if the error
      // comes from `#settle`, `#sent` is still the unanswered batch of an earlier attempt, so keep it.
      if (this.#sent !== unanswered) this.#sent = undefined;
    }
    if (this.#sent) {
      if (!isOver) return;
      const message = `${error.message}. Whether the last commit happened is not known`;
      throw new StoreError(message, { cause: error, undecided: true });
    }
    // If the server refused the statement, it would refuse it again, unless the reason was a conflict with another
    // transaction. If a connection turns out to be dead, a second attempt may succeed on a new connection. If the
    // second attempt fails too, the server probably cannot be reached, so give up.
    const tryAgain = isServerError(error) ? isConflict(error) && !isOver : this.#attempt === 1;
    if (!tryAgain) throw error;
  }

  #send(since: Point, { state }: Plan): SentBatch {
    this.#sent = { since, epoch: since.epoch, clock: state.clock, batch: newEpoch() };
    return this.#sent;
  }

  /**
   * Reads the changes since a state while the clock is locked. A concurrent `pull` or `load` may add a known point in
   * the meantime. That is harmless only if it is the point of the answer, because nobody else can commit now.
   */
  #readUnderLock(sql: Sql, since: Omit<Point, "batch">): Promise<ClockAndChanges> {
    return this.#context.known.read(sql, since, isSamePoint);
  }

  async #end(sql: Sql): Promise<void> {
    const { command } = await this.#replicated(sql`commit`);
    if (command !== "COMMIT") throw new StoreError("the server rolled the transaction back");
  }

  /**
   * Waits for a commit. Throws if the server has sent a warning in the meantime. The server may then have stopped
   * waiting for its standbys to confirm the commit, and a failover may undo the commit.
   */
  async #replicated<Result>(commit: PromiseLike<Result>): Promise<Result> {
    const { writer } = this.#context;
    const warningsBefore = writer.warningCount;
    const result = await commit;
    if (writer.warningCount === warningsBefore) return result;
    throw new StoreError("the server stopped waiting for its standbys before they had the commit");
  }
}
