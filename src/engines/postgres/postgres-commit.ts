// One commit of a batch of writes to PostgreSQL, from the first attempt to the final result. Each attempt has up to
// three steps:
//
// - settle: if a batch was sent and its answer was lost, find out whether it was stored.
// - optimistic: make a plan, which is a list of changes, for the state that this instance knows. Store the plan in one
//   round trip. If other instances have committed since, the database stores the plan after their changes, under higher
//   versions. But if they have changed an item that the plan depends on, it stores nothing.
// - locked: lock the clock, which is the row that orders all commits. Make a plan for the newest state, and store it.
//   This takes two round trips, and nobody else can commit in between.

import { type Batch, newEpoch, type PlannedChange, StoreError } from "../../collection/engine.ts";
import { isConflict, isServerError } from "./postgres-failures.ts";
import { type KnownHistory, newsFrom } from "./postgres-history.ts";
import { type PostgresSession, type Sql, timeoutsMs, withTimeout } from "./postgres-session.ts";
import {
  type ClockAndChanges,
  commitBatch,
  findBatch,
  lockClock,
  type Point,
  readChanges,
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

  /** Returns false, with nothing stored, if the store's history does not continue from `batch.since`. */
  async run(): Promise<boolean> {
    for (;;) {
      this.#attempt++;
      const unanswered = this.#sent;
      try {
        // Before the batch makes another plan, find out whether the sent plan was stored. The batch reports the
        // outcomes of its latest plan, and that must be the plan that was stored.
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
      // The batch is stored. But its answer was lost, so perhaps the standbys do not have the batch yet. So we commit
      // another write here. The server answers this write only when its synchronous standbys have everything up to this
      // point.
      await withTimeout(timeoutsMs.commit, Promise.all([touchClock(sql).execute(), this.#end(sql)]));
      // If the store was rolled back to an older version, do not make this the newest known point. Then the next read of
      // changes notices the rollback. Nor if others have committed since: the next read has to ask for their changes.
      if (!known.isCut(answer) && answer.version === unanswered.version) known.learn(answer);
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
      const changes = this.#batch.decide(undefined);
      // Perhaps the batch changes nothing only because this state is out of date. So the locked step decides again,
      // with the newest state.
      if (changes.length === 0) return false;
      const sent = this.#send(start, changes);
      const stored = await withTimeout(timeoutsMs.commit, this.#replicated(commitBatch(sql, start, sent, changes)));
      if (!stored) {
        this.#sent = undefined;
        return false;
      }
      known.learn({ epoch: start.epoch, version: sent.version, batch: sent.batch });
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
      const news = known.isCut(answer) ? undefined : newsFrom(answer, this.#batch.since);
      if (!news) {
        await withTimeout(timeoutsMs.answer, this.#end(sql));
        return false;
      }
      const start = { epoch: answer.epoch, version: answer.version, batch: answer.batch };
      const hasMissed = start.version !== this.#batch.since.version;
      const changes = this.#batch.decide(hasMissed ? news : undefined);
      known.learn(start);
      this.#context.contended = hasMissed;
      if (changes.length === 0) {
        await withTimeout(timeoutsMs.answer, this.#end(sql));
        return true;
      }
      const sent = this.#send(start, changes);
      const [stored] = await withTimeout(
        timeoutsMs.commit,
        Promise.all([commitBatch(sql, start, sent, changes), this.#end(sql)]),
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

  #send(start: Point, changes: readonly PlannedChange[]): SentBatch {
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
