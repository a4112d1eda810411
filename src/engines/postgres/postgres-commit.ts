// One commit to PostgreSQL, from its first attempt to its answer. Each attempt has up to three steps:
//
// - settle: if a batch was sent and its answer was lost, find out whether it was stored.
// - optimistic: store a plan that was made without asking, in one round trip. The database puts it after what others
//   have committed, unless they have changed items that it depends on.
// - locked: lock the clock, decide on the newest state, store that. It takes two round trips, and always fits.

import { type Batch, type Change, type News, newEpoch, type Plan, StoreError } from "../../collection/engine.ts";
import { isCut, type KnownHistory, newsFrom, otherHistoryMessage } from "./postgres-history.ts";
import {
  isConflict,
  isServerError,
  type PostgresSession,
  type Sql,
  timeoutsMs,
  withTimeout,
} from "./postgres-session.ts";
import {
  type ClockAndChanges,
  commitBatch,
  everything,
  findBatch,
  lockClock,
  type Point,
  readChanges,
  renameHistory,
  type SentBatch,
  touchClock,
  voidBatch,
} from "./postgres-statements.ts";

/** What the commits of one engine share. */
export interface CommitContext {
  readonly writer: PostgresSession;
  readonly known: KnownHistory;
  readonly onOtherHistory: (message: string) => void;
  /** True while other instances seem to change the same items, so that the optimistic step would be in vain. */
  contended: boolean;
}

export class PostgresCommit {
  readonly #batch: Batch;
  readonly #context: CommitContext;
  readonly #giveUpAtMs = performance.now() + timeoutsMs.commit;
  #attempt = 0;
  /** What was sent and not answered yet. */
  #sent: SentBatch | undefined;

  constructor(batch: Batch, context: CommitContext) {
    this.#batch = batch;
    this.#context = context;
  }

  async run(): Promise<void> {
    for (;;) {
      this.#attempt++;
      const unanswered = this.#sent;
      try {
        // Settled before the batch decides again: if it was stored, its newest plan is the one that was stored.
        if (unanswered && (await this.#settle(unanswered))) return;
        this.#sent = undefined;
        if (!this.#context.contended && (await this.#optimistic())) return;
        if (await this.#locked()) return;
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        this.#giveUpOrGoOn(error, unanswered);
      }
      if (this.#attempt > 1) await Bun.sleep(50 + Math.random() * 100);
    }
  }

  /**
   * Returns whether the unanswered batch was stored. Under the clock's lock it is not being stored just now. If it
   * was not stored, its statement may still lie unread in the server's socket, so it is voided: it never will be.
   */
  async #settle(unanswered: SentBatch): Promise<boolean> {
    return this.#context.writer.use(async (sql) => {
      const [, answer, [found]] = await withTimeout(
        timeoutsMs.commit,
        Promise.all([lockClock(sql), this.#readMissed(sql), findBatch(sql, unanswered)]),
      );
      if (!found) {
        await withTimeout(timeoutsMs.commit, Promise.all([voidBatch(sql, unanswered).execute(), this.#end(sql)]));
        return false;
      }
      const { start, missed } = await this.#missedFrom(sql, answer);
      // A commit of its own, so that this answer waits for the standbys. The lost answer may not have waited.
      await withTimeout(timeoutsMs.commit, Promise.all([touchClock(sql).execute(), this.#end(sql)]));
      if (missed) {
        this.#batch.moved(missed, found.version - unanswered.version);
        this.#context.known.learn(start);
      }
      return true;
    });
  }

  /** Returns false if nothing was written, because others have changed something that the plan depends on. */
  async #optimistic(): Promise<boolean> {
    const isStored = await this.#context.writer.use(async (sql) => {
      const { since } = this.#batch;
      const { known } = this.#context;
      if (!known.isAt(since)) return false;
      const start = known.newest;
      const plan = this.#batch.decide(undefined);
      // That nothing changes can only be said of the newest state.
      if (plan.changes.length === 0) return false;
      const sent = this.#send(start, plan);
      const stored = await withTimeout(timeoutsMs.commit, this.#replicated(commitBatch(sql, start, sent, plan)));
      if (!stored) {
        this.#sent = undefined;
        return false;
      }
      const { missed, by } = stored;
      if (by > 0) this.#batch.moved({ ...since, version: since.version + by, whole: false, changes: missed }, by);
      known.learn({ epoch: start.epoch, version: sent.version + by, batch: sent.batch });
      return true;
    });
    this.#context.contended = !isStored;
    return isStored;
  }

  /** Returns false if the history was cut. It has a new epoch now, and the next attempt finds that. */
  async #locked(): Promise<boolean> {
    const { since } = this.#batch;
    const { writer, known } = this.#context;
    return writer.use(async (sql) => {
      const [, answer] = await withTimeout(timeoutsMs.commit, Promise.all([lockClock(sql), this.#readMissed(sql)]));
      if (isCut(answer, since)) {
        // In a commit of its own. If it were rolled back with this batch, nobody might notice the cut again.
        await withTimeout(timeoutsMs.answer, Promise.all([renameHistory(sql, since.epoch).execute(), this.#end(sql)]));
        return false;
      }
      const { start, missed } = await this.#missedFrom(sql, answer);
      const plan = this.#batch.decide(missed);
      known.learn(start);
      this.#context.contended = missed?.whole === true || isTouched(plan, answer.changes);
      if (plan.changes.length === 0) {
        await withTimeout(timeoutsMs.answer, this.#end(sql));
        return true;
      }
      const sent = this.#send(start, plan);
      // Must not be moved: if the transaction is lost, and the lock with it, others may have committed.
      const fixed = { ...plan, dependsOn: undefined };
      const [stored] = await withTimeout(
        timeoutsMs.commit,
        Promise.all([commitBatch(sql, start, sent, fixed), this.#end(sql)]),
      );
      if (!stored) throw new StoreError("the connection was lost in the middle of a transaction");
      known.learn({ epoch: start.epoch, version: sent.version, batch: sent.batch });
      return true;
    });
  }

  /** After an error: throws if the commit is over, returns if it is worth another attempt. */
  #giveUpOrGoOn(error: StoreError, unanswered: SentBatch | undefined): void {
    const isOver = performance.now() > this.#giveUpAtMs;
    if (isServerError(error)) {
      this.#context.contended = true;
      // The server has refused what was sent, unless it was the question about an earlier batch that it refused.
      if (this.#sent !== unanswered) this.#sent = undefined;
    }
    if (this.#sent) {
      if (!isOver) return;
      const message = `${error.message}. Whether the last commit happened is not known`;
      throw new StoreError(message, { cause: error, undecided: true });
    }
    // A connection may turn out to be dead, so it is worth a second attempt. A server that cannot be reached is not.
    const tryAgain = isServerError(error) ? isConflict(error) && !isOver : this.#attempt === 1;
    if (!tryAgain) throw error;
  }

  #send(start: Point, { changes }: Plan): SentBatch {
    const version = changes.at(-1)?.version ?? start.version;
    this.#sent = { since: start.version, version, batch: newEpoch() };
    return this.#sent;
  }

  #readMissed(sql: Sql): Promise<ClockAndChanges> {
    return readChanges(sql, this.#context.known.pointAt(this.#batch.since));
  }

  async #missedFrom(sql: Sql, answer: ClockAndChanges): Promise<{ start: Point; missed: News | undefined }> {
    const { since } = this.#batch;
    const { epoch, version, batch } = answer;
    const start = { epoch, version, batch };
    const news = newsFrom(answer, since);
    if (news) return { start, missed: version === since.version ? undefined : news };
    const missed = { epoch, version, whole: true, changes: await withTimeout(timeoutsMs.load, everything(sql)) };
    const message = otherHistoryMessage(since, missed);
    if (message !== undefined) this.#context.onOtherHistory(message);
    return { start, missed };
  }

  async #end(sql: Sql): Promise<void> {
    const { command } = await this.#replicated(sql`commit`);
    if (command !== "COMMIT") throw new StoreError("the server rolled the transaction back");
  }

  /** A commit does not count as done if the server stopped waiting for its standbys. */
  async #replicated<Result>(commit: PromiseLike<Result>): Promise<Result> {
    const { writer } = this.#context;
    const warningsBefore = writer.warningCount;
    const result = await commit;
    if (writer.warningCount === warningsBefore) return result;
    throw new StoreError("the server stopped waiting for its standbys before they had the commit");
  }
}

/** True if the plan would not have held after these changes, so that the optimistic step would have been in vain. */
function isTouched({ dependsOn }: Plan, changes: readonly Change[]): boolean {
  if (!dependsOn) return changes.length > 0;
  const ids = new Set(dependsOn);
  return changes.some(({ id }) => ids.has(id));
}
