// The SQLite engine of a running service. On a fast disk it commits in the thread that answers requests, because waking
// another thread would take as long as half a commit. Once commits turn out to be slow, it hands them to a thread of
// their own. Then requests are answered while the disk syncs.

import {
  type Batch,
  type Bookmark,
  type Engine,
  type News,
  StoreError,
  type WholeStore,
} from "../../collection/engine.ts";
import { CommitThread } from "./commit-thread.ts";
import { SqliteEngine } from "./sqlite-engine.ts";

export interface ServedSqliteOptions {
  readonly onWarning: (message: string) => void;
  /** Called when commits have moved to a thread of their own, with the average time of a sync before. */
  readonly onThread?: (syncMs: number) => void;
  /** Commits move to a thread of their own once their syncs take longer than this, on average. */
  readonly slowSyncMs?: number;
}

/** How much the newest sync counts in the average. */
const newestShare = 1 / 8;
const defaultSlowSyncMs = 2;

export class ServedSqliteEngine implements Engine {
  readonly #path: string;
  readonly #options: ServedSqliteOptions;
  readonly #slowSyncMs: number;
  readonly #engine: SqliteEngine;
  #thread: CommitThread | undefined;
  /** True once the thread has opened the store. From then on, the thread makes the commits. */
  #isInThread = false;
  /** True if the thread could not open the store. It is not tried again. */
  #hasFailedToStart = false;
  #syncMs = 0;
  /** True if a commit of the thread has failed, but may have been stored anyway. */
  #isUndecided = false;
  /**
   * The commit that the thread is working on. `planned` is the state that the commit leads to. `settled` waits for the
   * end of the commit, and then asks `hasNews` again.
   */
  #underWay: { planned: Bookmark; readonly settled: () => Promise<boolean> } | undefined;

  constructor(path: string, options: ServedSqliteOptions) {
    this.#path = path;
    this.#options = options;
    this.#slowSyncMs = options.slowSyncMs ?? defaultSlowSyncMs;
    this.#engine = new SqliteEngine(path, { readOnly: false, onWarning: options.onWarning });
  }

  hasNews(): false | Promise<boolean> {
    const news = this.#engine.newState();
    if (!news) return false;
    // If the new state is the planned state, it is very likely the result of our own commit, which the thread has not
    // reported yet. Then wait for that report, instead of reading the changes from the file.
    const { planned, settled } = this.#underWay ?? {};
    return planned?.version === news.version && planned.epoch === news.epoch && settled
      ? settled()
      : Promise.resolve(true);
  }

  async pull(since: Bookmark): Promise<News | undefined> {
    // The outcome of a commit may be unknown. `checkReady` makes sure that this commit either is in the file for good,
    // or never will be.
    if (this.#isUndecided && !this.#engine.isRetired) await this.#thread?.checkReady();
    this.#isUndecided = false;
    return this.#watched(this.#engine.pull(since));
  }

  load(): Promise<WholeStore> {
    return this.#watched(this.#engine.load());
  }

  async commit(batch: Batch): Promise<boolean> {
    if (this.#thread && this.#isInThread && !this.#engine.isRetired) return this.#commitInThread(this.#thread, batch);
    const isStored = await this.#watched(this.#engine.commit(batch));
    // Limit the time of a single sync, because one very slow sync does not mean that the disk is slow.
    const syncMs = Math.min(this.#engine.syncMs, 2 * this.#slowSyncMs);
    this.#syncMs += (syncMs - this.#syncMs) * newestShare;
    if (this.#syncMs > this.#slowSyncMs) this.#startThread();
    return isStored;
  }

  /**
   * Waits for the engine's work. If the work fails because another program has replaced, removed or changed the files,
   * ends the commit thread too, so that the thread no longer touches the files.
   */
  async #watched<Result>(work: Promise<Result>): Promise<Result> {
    try {
      return await work;
    } catch (error) {
      if (this.#engine.isRetired) await this.#closeThread();
      throw error;
    }
  }

  /**
   * Ends the thread, if there is one. Ignores a failure to close the store, because the caller reports what made it end
   * the thread.
   */
  async #closeThread(): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    try {
      await thread?.close();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
    }
  }

  #startThread(): void {
    if (this.#thread || this.#hasFailedToStart) return;
    const { onWarning, onThread } = this.#options;
    const syncMs = this.#syncMs;
    this.#thread = new CommitThread(this.#path, {
      onWarning: (message) => {
        if (!this.#engine.isRetired) onWarning(message);
      },
      onRetired: (reason) => this.#engine.retireToo(reason),
    });
    this.#thread
      .opened()
      .then(() => {
        // From now on, the thread notices what is done to the files. But only this engine can notice what was done
        // before.
        this.#engine.checkFiles();
        this.#isInThread = true;
        onThread?.(syncMs);
      })
      .catch(async (error: unknown) => {
        // The thread cannot be used, so commits stay in the thread that answers requests.
        this.#hasFailedToStart = true;
        await this.#closeThread();
        if (!this.#engine.isRetired) onWarning(String(error));
      });
  }

  async #commitInThread(thread: CommitThread, batch: Batch): Promise<boolean> {
    const visible = Promise.withResolvers<void>();
    let settled: Promise<boolean> | undefined;
    const underWay = {
      planned: batch.since,
      settled: () => (settled ??= visible.promise.then(() => this.hasNews())),
    };
    this.#underWay = underWay;
    try {
      const state = await thread.commit(batch, (planned) => (underWay.planned = planned));
      if (state) this.#engine.noteCommit(state);
      return state !== undefined;
    } catch (error) {
      this.#isUndecided ||= error instanceof StoreError && error.undecided;
      throw error;
    } finally {
      this.#underWay = undefined;
      // Do not resolve this earlier. The collection must have made the changes visible before a reader is told that
      // there is no news.
      setImmediate(visible.resolve);
    }
  }

  async checkReady(): Promise<void> {
    await this.#watched(this.#engine.checkReady());
    if (this.#isInThread) await this.#thread?.checkReady();
  }

  async close(): Promise<void> {
    await this.#engine.close(async () => this.#thread?.close());
  }
}
