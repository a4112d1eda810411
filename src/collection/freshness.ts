// Keeps this process's copy of the store fresh: before every read, it finds out what other processes have committed.

import { type Engine, StoreError } from "./engine.ts";
import type { Replica } from "./replica.ts";

export interface StoreNotices {
  /** Called when the store has failed to answer. Clients never see the error, only that the store is unavailable. */
  readonly onStoreError: (error: StoreError) => void;
  /** Called when the store answers again after it had failed. */
  readonly onStoreBack: () => void;
}

export class Freshness {
  readonly #engine: Engine;
  readonly #replica: Replica;
  readonly #notices: StoreNotices;
  /** The last promise from `hasNews`, and the refresh that all readers who got that promise wait for. */
  #shared: { readonly question: Promise<boolean>; readonly refreshed: Promise<void> } | undefined;
  /** The pull under way, if there is one. */
  #taking: Promise<void> | undefined;
  /** The turn token of the last refresh that found no news. `refresh` explains tokens. */
  #askedInTurn: object | undefined;
  /** How often `doubt` was called, and how many of these calls a later pull has settled. */
  #doubtCount = 0;
  #settledCount = 0;
  #storeAway = false;
  #freshAtMs = performance.now();

  constructor(engine: Engine, replica: Replica, notices: StoreNotices) {
    this.#engine = engine;
    this.#replica = replica;
    this.#notices = notices;
  }

  /** How long ago, in seconds, the copy was last known to be up to date. Changes made since then may be missing. */
  get ageSeconds(): number {
    return (performance.now() - this.#freshAtMs) / 1_000;
  }

  /**
   * Takes over what other processes have committed. Await the result, if there is one.
   *
   * A turn token proves that a request was sent before the current turn of the event loop began. If a refresh with
   * the same token has already found no news in this turn, that answer is newer than this request. So it is good
   * enough for this request too. wire/turn.ts explains when a request gets a token.
   */
  refresh(turn?: object): undefined | Promise<void> {
    // Once a pull has read the news, `hasNews` no longer reports it. So wait until the replica has taken it.
    if (this.#taking) return this.#taking.then(() => this.refresh());
    if (turn !== undefined && turn === this.#askedInTurn && !this.#isUnsure) return undefined;
    try {
      const hasNews = this.#isUnsure || this.#engine.hasNews();
      if (hasNews === false) {
        if (turn) this.#askedInTurn = turn;
        return undefined;
      }
      if (hasNews === true) return this.#catchUp(hasNews);
      if (hasNews !== this.#shared?.question) {
        this.#shared = { question: hasNews, refreshed: this.#catchUp(hasNews) };
      }
      return this.#shared.refreshed;
    } catch (error) {
      this.#noteFailure(error);
      throw error;
    }
  }

  /**
   * Call this if the engine may know of changes that the replica lacks: after a commit that failed but may have been
   * stored anyway, or after a pull that was not for the replica. `hasNews` would not report such changes, so the next
   * refresh pulls in any case.
   */
  doubt(): void {
    this.#doubtCount++;
  }

  /** Call this when it is certain that the replica has everything that was stored before the time `ms`. */
  wasFreshAt(ms: number): void {
    this.#freshAtMs = Math.max(this.#freshAtMs, ms);
  }

  get #isUnsure(): boolean {
    return this.#settledCount < this.#doubtCount;
  }

  async #catchUp(hasNews: boolean | Promise<boolean>): Promise<void> {
    const startedAtMs = performance.now();
    try {
      if (await hasNews) await this.#takeNewsOnce();
      else await this.#taking;
      // The shared pull may have started before the last call of `doubt`. Then it has not settled that doubt.
      while (this.#isUnsure) await this.#takeNewsOnce();
    } catch (error) {
      this.#noteFailure(error);
      throw error;
    }
    this.wasFreshAt(startedAtMs);
    if (this.#storeAway) {
      this.#storeAway = false;
      this.#notices.onStoreBack();
    }
  }

  /** Readers that find news at the same time share one pull. */
  #takeNewsOnce(): Promise<void> {
    this.#taking ??= this.#takeNews().finally(() => {
      this.#taking = undefined;
    });
    return this.#taking;
  }

  async #takeNews(): Promise<void> {
    for (;;) {
      const doubtCount = this.#doubtCount;
      const since = this.#replica.bookmark;
      const news = await this.#engine.pull(since);
      // A commit may have advanced the replica during the pull. Changes of the same history may overlap with that
      // commit without harm. But a whole store, or another history, would undo the commit, so pull again.
      const isOvertaken =
        this.#replica.bookmark !== since && (news.whole || news.epoch !== this.#replica.bookmark.epoch);
      if (isOvertaken) continue;
      this.#replica.take(news);
      // If `doubt` was called during the pull, this pull does not settle that doubt.
      this.#settledCount = doubtCount;
      return;
    }
  }

  #noteFailure(error: unknown): void {
    if (!(error instanceof StoreError)) return;
    this.#storeAway = true;
    this.#notices.onStoreError(error);
  }
}
