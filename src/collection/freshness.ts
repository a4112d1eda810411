// Keeps the lists in memory fresh: before every read, it finds out what other processes have committed.

import { type Engine, type News, StoreError, type StoreState } from "./engine.ts";

export interface StoreNotices {
  /** Called when the store has failed to answer. Clients never see the error, only that the store is unavailable. */
  readonly onStoreError: (error: StoreError) => void;
  /** Called when the store answers again after it had failed. */
  readonly onStoreBack: () => void;
}

/** The lists in memory. */
export interface FollowedStore {
  /**
   * The state that they have reached. Whatever brings them up to date makes a new object. So if this is still the same
   * object as before, nothing did so in between.
   */
  readonly state: StoreState;
  take(news: News): void;
  /** Every list has to be loaded again before it is next used. */
  restart(state: StoreState): void;
}

export class Freshness {
  readonly #engine: Engine;
  readonly #followed: FollowedStore;
  readonly #notices: StoreNotices;
  /**
   * The last promise that `hasNews` returned, and the refresh that waits for it. All readers that get the same promise
   * share this refresh.
   */
  #shared: { readonly question: Promise<boolean>; readonly refreshed: Promise<void> } | undefined;
  /** Set while changes are being read from the engine. Resolves once the lists have them. */
  #taking: Promise<void> | undefined;
  /** How many times `doubt` was called. */
  #doubtCount = 0;
  /** How many of these calls are settled: all changes were read from the engine after the call. */
  #settledCount = 0;
  readonly #inProgress = new Set<Promise<void>>();
  #isStoreAway = false;

  constructor(engine: Engine, followed: FollowedStore, notices: StoreNotices) {
    this.#engine = engine;
    this.#followed = followed;
    this.#notices = notices;
  }

  /** Brings the lists up to date with what other processes have committed. Await the result, if there is one. */
  refresh(): undefined | Promise<void> {
    // Changes are being read from the engine, and `hasNews` may no longer report them. So wait until the lists have them,
    // then start again.
    if (this.#taking) return this.#taking.then(() => this.refresh());
    if (this.#isUnsure) return this.#noted(this.#catchUp(true));
    const question = this.#engine.hasNews();
    if (question === false) return undefined;
    if (question !== this.#shared?.question) {
      this.#shared = { question, refreshed: this.#noted(this.#catchUp(question)) };
    }
    return this.#shared.refreshed;
  }

  /** Resolves once no refresh is in progress, so that the engine can be closed. */
  async idle(): Promise<void> {
    while (this.#inProgress.size > 0) await Promise.allSettled(this.#inProgress);
  }

  #noted(refresh: Promise<void>): Promise<void> {
    this.#inProgress.add(refresh);
    const forget = () => this.#inProgress.delete(refresh);
    refresh.then(forget, forget);
    return refresh;
  }

  /**
   * Call this if the engine may have seen changes that the lists lack, such as a failed commit that may have been
   * stored anyway. `hasNews` does not report changes that the engine has seen, so the next refresh pulls without asking.
   */
  doubt(): void {
    this.#doubtCount++;
  }

  get #isUnsure(): boolean {
    return this.#settledCount < this.#doubtCount;
  }

  /** Reports it if the store fails, and if it answers again. */
  async reporting<Result>(action: () => Promise<Result>): Promise<Result> {
    try {
      const result = await action();
      if (this.#isStoreAway) this.#notices.onStoreBack();
      this.#isStoreAway = false;
      return result;
    } catch (error) {
      if (error instanceof StoreError) {
        this.#isStoreAway = true;
        this.#notices.onStoreError(error);
      }
      throw error;
    }
  }

  #catchUp(hasNews: boolean | Promise<boolean>): Promise<void> {
    return this.reporting(async () => {
      if (await hasNews) await this.#takeNewsOnce();
      else await this.#taking;
      // We may have waited for a pull that another reader had started before the last call of `doubt`. Such a pull may
      // lack the changes that the call was about, so pull again.
      while (this.#isUnsure) await this.#takeNewsOnce();
    });
  }

  /** Reads the changes from the engine, once for all readers that ask for this at the same time. */
  #takeNewsOnce(): Promise<void> {
    this.#taking ??= this.#takeNews().finally(() => {
      this.#taking = undefined;
    });
    return this.#taking;
  }

  async #takeNews(): Promise<void> {
    for (;;) {
      // Call `doubt` first, so that the next refresh pulls too if this pull fails or its result is not used. `hasNews`
      // would not report the changes again, because the engine may have seen them already.
      this.doubt();
      const doubtCount = this.#doubtCount;
      if (!(await this.#pullOrRestart())) continue;
      // Count only the calls of `doubt` before the pull as settled. If `doubt` was called during the pull, the pull may
      // lack the changes that the call was about.
      this.#settledCount = doubtCount;
      return;
    }
  }

  /** Returns false if the lists have to be brought up to date once more. */
  async #pullOrRestart(): Promise<boolean> {
    const since = this.#followed.state;
    const news = await this.#engine.pull(since);
    if (!news) {
      const state = await this.#engine.state();
      // A commit may have advanced the lists in the meantime, and the state may be older than that.
      if (this.#followed.state !== since) return false;
      this.#followed.restart(state);
      return true;
    }
    // A commit may have advanced the lists during the pull. Changes of the same history may overlap with that commit
    // without harm. But changes of another history do not fit.
    if (news.state.epoch !== this.#followed.state.epoch) return false;
    this.#followed.take(news);
    return true;
  }
}
