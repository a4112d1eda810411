// One commit of a batch of writes to PostgreSQL, from the first attempt to the final result. Each attempt has up to
// three steps:
//
// - settle: if a batch was sent and its answer was lost, find out whether it was stored.
// - optimistic: make a plan, which is a list of changes, for the state that this instance knows. Store the plan in one
//   round trip. If other instances have committed since, the database stores the plan after their changes, under higher
//   versions. But if they have changed an item that the plan depends on, it stores nothing.
// - locked: lock the clock, which is the row that orders all commits. Make a plan for the newest state, and store it.
//   This takes two round trips, and nobody else can commit in between.

import { type Batch, type Change, type News, newEpoch, type Plan, StoreError } from "../../collection/engine.ts";
import { isConflict, isServerError } from "./postgres-failures.ts";
import { type KnownHistory, newsFrom, otherHistoryMessage } from "./postgres-history.ts";
import { type PostgresSession, type Sql, timeoutsMs, withTimeout } from "./postgres-session.ts";
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
  /**
   * True while other instances seem to change the same items. Then a plan that is made before the clock is locked would
   * probably be refused. So every commit first locks the clock, which is the row that orders all commits.
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

  async run(): Promise<void> {
    for (;;) {
      this.#attempt++;
      const unanswered = this.#sent;
      try {
        // Before the batch makes another plan, find out whether the sent plan was stored. The batch reports the
        // outcomes of its latest plan, and that must be the plan that was stored.
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
   * Returns whether the unanswered batch was stored. This first locks the clock, the row that every commit has to lock.
   * So the batch cannot be in the middle of being stored. If the batch was not stored, its statement may still be
   * waiting in the server's socket, to be executed later. So we void the batch, and the database will never store it.
   */
  async #settle(unanswered: SentBatch): Promise<boolean> {
    const { writer, known } = this.#context;
    return writer.use(async (sql) => {
      const [, answer, [found]] = await withTimeout(
        timeoutsMs.commit,
        Promise.all([lockClock(sql), this.#readMissed(sql), findBatch(sql, unanswered)]),
      );
      if (!found) {
        await withTimeout(timeoutsMs.commit, Promise.all([voidBatch(sql, unanswered).execute(), this.#end(sql)]));
        return false;
      }
      const { start, missed } = await this.#missedFrom(sql, answer);
      // The batch is stored. But its answer was lost, so perhaps the standbys do not have the batch yet. So we commit
      // another write here. The server answers this write only when its synchronous standbys have everything up to this
      // point.
      await withTimeout(timeoutsMs.commit, Promise.all([touchClock(sql).execute(), this.#end(sql)]));
      if (missed) {
        this.#batch.moved(missed, found.version - unanswered.version);
        // If the store was rolled back to an older version, do not make `start` the newest known point. Then the next
        // read of changes notices the rollback too. It gives the store a new epoch, which is the name of a history.
        if (!known.isCut(answer)) known.learn(start);
      }
      return true;
    });
  }

  /**
   * Tries to store the batch without first locking the clock, which is the row that orders all commits. Returns false
   * if nothing was stored. The usual reason is that other instances have changed something that the plan depends on.
   */
  async #optimistic(): Promise<boolean> {
    const isStored = await this.#context.writer.use(async (sql) => {
      const { since } = this.#batch;
      const { known } = this.#context;
      if (!known.isAt(since)) return false;
      const start = known.newest;
      const plan = this.#batch.decide(undefined);
      // Perhaps the batch changes nothing only because this state is out of date. So the locked step decides again,
      // with the newest state.
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

  /**
   * Locks the clock, which is the row that orders all commits, and then stores the batch. Returns false, and stores
   * nothing, if another attempt is needed. Either the store was rolled back to an older version, and has now got a new
   * epoch (a new name for its history). Or it is not clear yet whether the store was rolled back, and the next attempt
   * finds out.
   */
  async #locked(): Promise<boolean> {
    const { writer, known } = this.#context;
    return writer.use(async (sql) => {
      const [, answer] = await withTimeout(timeoutsMs.commit, Promise.all([lockClock(sql), this.#readMissed(sql)]));
      if (known.isCut(answer)) {
        // The store has lost its newest versions, so it gets a new epoch, which is a new name for its history. The
        // epoch is committed in a transaction of its own. If the batch were in the same transaction and failed, the new
        // epoch would be lost too, and the loss of versions might never be noticed again.
        await withTimeout(timeoutsMs.answer, Promise.all([renameHistory(sql, answer.epoch).execute(), this.#end(sql)]));
        known.leave(answer.epoch);
        return false;
      }
      const { newest } = known;
      const { start, missed } = await this.#missedFrom(sql, answer);
      // While the whole store was being read, a concurrent `pull` may have replaced the newest known point. If the new
      // point is not `start`, the store may have been rolled back. The next attempt checks this.
      if (known.newest !== newest && !known.isNewest(start)) {
        await withTimeout(timeoutsMs.answer, this.#end(sql));
        return false;
      }
      const plan = this.#batch.decide(missed);
      known.learn(start);
      this.#context.contended = missed?.whole === true || isTouched(plan, answer.changes);
      if (plan.changes.length === 0) {
        await withTimeout(timeoutsMs.answer, this.#end(sql));
        return true;
      }
      const sent = this.#send(start, plan);
      // This plan is only valid for the locked state. If the connection is lost, the lock is lost too, and other
      // instances may commit first. Because `dependsOn` is undefined, the database then refuses the plan, instead of
      // storing it after their changes.
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

  #send(start: Point, { changes }: Plan): SentBatch {
    const version = changes.at(-1)?.version ?? start.version;
    this.#sent = { since: start.version, version, batch: newEpoch() };
    return this.#sent;
  }

  /**
   * Reads the changes that other instances have committed since `batch.since`. The same query checks that the store's
   * history contains the newest known point. A concurrent `pull` may replace that point while the query runs. The new
   * point is then unchecked, and a rollback may have removed it. So the query is sent again, unless the answer is at
   * the new point. Nobody else can commit while the clock is locked, so the loop ends soon.
   */
  async #readMissed(sql: Sql): Promise<ClockAndChanges> {
    const { known } = this.#context;
    for (;;) {
      const { newest } = known;
      const answer = await readChanges(sql, known.pointAt(this.#batch.since), newest);
      if (known.newest === newest || known.isNewest(answer)) return answer;
    }
  }

  async #missedFrom(sql: Sql, answer: ClockAndChanges): Promise<{ start: Point; missed: News | undefined }> {
    const { since } = this.#batch;
    const { epoch, version, batch } = answer;
    const start = { epoch, version, batch };
    const news = newsFrom(answer, since);
    if (news) return { start, missed: version === since.version ? undefined : news };
    const missed = { epoch, version, whole: true, changes: await withTimeout(timeoutsMs.load, everything(sql)) };
    if (epoch !== since.epoch) {
      this.#context.known.leave(since.epoch);
      this.#context.onOtherHistory(otherHistoryMessage(since, missed));
    }
    return { start, missed };
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

/**
 * True if these changes, which other instances have made, touch something that the plan depends on. Then an attempt
 * without the lock would have failed.
 */
function isTouched({ dependsOn }: Plan, changes: readonly Change[]): boolean {
  if (!dependsOn) return changes.length > 0;
  const ids = new Set(dependsOn);
  return changes.some(({ id }) => ids.has(id));
}
