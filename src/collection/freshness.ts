// Keeps this process's copy of the store fresh: learns what other processes have committed, before every read.

import { type Engine, StoreError } from "./engine.ts";
import type { Replica } from "./replica.ts";

export interface StoreNotices {
  /** The store failed to answer. Clients only learn that it is unavailable. */
  readonly onStoreError: (error: StoreError) => void;
  /** The store answers again, after a question that failed. */
  readonly onStoreBack: () => void;
}

export class Freshness {
  readonly #engine: Engine;
  readonly #replica: Replica;
  readonly #notices: StoreNotices;
  /** The engine's last promise of an answer, and the refresh that all who share that answer wait for. */
  #shared: { readonly question: Promise<boolean>; readonly refreshed: Promise<void> } | undefined;
  /** The pull under way, if there is one. */
  #taking: Promise<void> | undefined;
  /** The turn token with which the engine was last asked, and had no news. */
  #askedInTurn: object | undefined;
  /** How often the engine has come to know more than the replica, and how many of those times a pull has made up for. */
  #doubtCount = 0;
  #settledCount = 0;
  #storeAway = false;
  #freshAtMs = performance.now();

  constructor(engine: Engine, replica: Replica, notices: StoreNotices) {
    this.#engine = engine;
    this.#replica = replica;
    this.#notices = notices;
  }

  /** For how long, in seconds, changes of other processes may have been missed. */
  get ageSeconds(): number {
    return (performance.now() - this.#freshAtMs) / 1_000;
  }

  /**
   * Learns what other processes have committed. Await the result, if there is one.
   *
   * A turn token proves that its request was sent before the turn began. If the engine had no news when it was asked
   * with the same token, later in that turn, then it had none when this request was sent: the answer serves both.
   * wire/turn.ts explains when a request gets a token.
   */
  refresh(turn?: object): undefined | Promise<void> {
    // Once the engine has handed out news it no longer reports them, so wait until they are taken.
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
   * Call this when the engine may know more than the replica: after a failed commit, which may have happened, and
   * after a pull for somebody else. `hasNews` would not report that, so the next refresh pulls in any case.
   */
  doubt(): void {
    this.#doubtCount++;
  }

  /** The replica has everything that was stored before this moment. */
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
      // A shared pull may have begun before the doubt came up.
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

  /** All who learn of news at the same time wait for one pull. */
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
      // A commit may have moved the replica on in the meantime. Changes of the same history may overlap with it. A
      // whole store, or another history, would undo it.
      const isOvertaken =
        this.#replica.bookmark !== since && (news.whole || news.epoch !== this.#replica.bookmark.epoch);
      if (isOvertaken) continue;
      this.#replica.take(news);
      // This answer does not settle a doubt that came up after the question.
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
