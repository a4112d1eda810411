// The embedded engine: one SQLite file, which one thread has open. The thread that answers requests never opens the
// file, so no disk slows a reader, and every commit takes the same path: one message with the rows, and one answer
// once they are on disk.
// Why: docs/decisions/0080-one-owner-one-thread.md

import type { Batch, Engine, ListNames, ListPage, News, StoredLists, StoreState } from "../../collection/engine.ts";
import { type Limits, realLimits } from "../../collection/limits.ts";
import type { ListKey } from "../../collection/list-key.ts";
import { SqliteStoreError } from "./sqlite-errors.ts";
import type { StoreReports } from "./sqlite-store.ts";
import { type FoundLists, marks, type OpenOptions, type ThreadRequests } from "./thread-messages.ts";

interface SqliteEngineOptions extends Partial<StoreReports & OpenOptions> {
  /** Called with what is in the store, before anything is written. If it throws, the store is not opened. */
  readonly onFound?: (found: FoundLists) => void;
}

interface Waiting {
  answer(text: string): void;
  fail(error: Error): void;
}

type AnswerTo<Name extends keyof ThreadRequests> = Awaited<ReturnType<ThreadRequests[Name]>>;

export class SqliteEngine implements Engine {
  readonly #path: string;
  readonly #options: SqliteEngineOptions;
  readonly #limits: Limits;
  readonly #worker: Worker;
  /** The requests that wait for an answer, in order. */
  readonly #waiting: Waiting[] = [];
  /** The state of the store when it was last asked for, or after the last commit. Nobody else commits. */
  #state: StoreState | undefined;
  #doubt: string | undefined;
  /** Why the thread has ended. Undefined while it runs. */
  #end: string | undefined;

  private constructor(path: string, options: SqliteEngineOptions) {
    this.#path = path;
    this.#options = options;
    this.#limits = options.limits ?? realLimits;
    this.#worker = new Worker(new URL("./sqlite-thread.ts", import.meta.url));
    this.#worker.onmessage = ({ data }: MessageEvent<string>) => this.#receive(data.charAt(0), data.slice(1));
    this.#worker.onerror = ({ message }) => this.#ended(message);
    this.#worker.addEventListener("close", () => this.#ended("it has ended"));
  }

  /** Opens the store, or creates it. */
  static async open(path: string, options: SqliteEngineOptions = {}): Promise<SqliteEngine> {
    const { readOnly = false, lockWaitMs = 0, limits = realLimits, onFound } = options;
    const engine = new SqliteEngine(path, options);
    try {
      const found = onFound && (await engine.#ask("look", path, lockWaitMs));
      if (found) onFound(found);
      await engine.#ask("open", path, { readOnly, lockWaitMs, limits });
      return engine;
    } catch (error) {
      // The thread may have the file open, and terminating it would close the file. So it is left alone.
      engine.#worker.unref();
      throw error;
    }
  }

  /** Nobody else commits. Rejects if somebody else has touched the files: reads fail then, until the process ends. */
  hasNews(): false | Promise<boolean> {
    if (this.#doubt === undefined) return false;
    return Promise.reject(new SqliteStoreError(this.#doubt, { trouble: "in doubt", needsRestart: true }));
  }

  /** Settles a commit of unknown outcome: from then on it is certain that it was not stored. */
  async pull(since: StoreState): Promise<News | undefined> {
    // A commit that is under way may end first. Whoever made it knows its changes.
    const isNewest = this.#isAt(since);
    await this.state();
    return isNewest ? { state: since, lists: [] } : undefined;
  }

  async state(): Promise<StoreState> {
    this.#state = await this.#ask("state");
    return this.#state;
  }

  /** The collection commits nothing to a list that it is loading, and nobody else does. */
  load(list: ListKey, previous?: ListPage): Promise<ListPage> {
    const { rowsInPage, bytesInPage } = this.#limits;
    return this.#ask("load", list, previous?.rows.at(-1)?.position ?? 0, rowsInPage, bytesInPage);
  }

  names(owner: string): Promise<ListNames> {
    return this.#ask("names", owner);
  }

  bytesOf(owner: string): Promise<number> {
    return this.#ask("bytesOf", owner);
  }

  lists(): Promise<StoredLists> {
    return this.#ask("lists");
  }

  async commit(batch: Batch): Promise<boolean> {
    if (!this.#isAt(batch.since)) return false;
    const plan = batch.decide(undefined);
    if (!plan) return false;
    // A plan may have more fields than an engine needs, and the message must not.
    const lists = plan.lists.map(({ list, changes, hasItems }) => ({ list, changes, hasItems }));
    await this.#ask("commit", lists, plan.state);
    this.#state = plan.state;
    return true;
  }

  async checkReady(): Promise<void> {
    await this.#ask("checkReady");
  }

  /** Closes the store, and ends the thread. If this fails, end the process soon, with `process.exit`. */
  async close(): Promise<void> {
    const isClosed = await this.#ask("close");
    this.#end = `${this.#path}: the store is closed`;
    if (isClosed) this.#worker.terminate();
    else this.#worker.unref();
  }

  #isAt({ epoch, clock }: StoreState): boolean {
    return epoch === this.#state?.epoch && clock === this.#state.clock;
  }

  #ask<Name extends keyof ThreadRequests>(
    name: Name,
    ...args: Parameters<ThreadRequests[Name]>
  ): Promise<AnswerTo<Name>> {
    if (this.#end !== undefined) return Promise.reject(new SqliteStoreError(this.#end, { needsRestart: true }));
    return new Promise((resolve, fail) => {
      this.#waiting.push({ answer: (text) => resolve(JSON.parse(text)), fail });
      this.#worker.postMessage(JSON.stringify([name, ...args]));
    });
  }

  #receive(mark: string, text: string): void {
    if (mark === marks.answer) this.#waiting.shift()?.answer(text);
    else if (mark === marks.failure) {
      const failure: ConstructorParameters<typeof SqliteStoreError> = JSON.parse(text);
      this.#waiting.shift()?.fail(new SqliteStoreError(...failure));
    } else if (mark === marks.warning) this.#options.onWarning?.(text);
    else if (mark === marks.doubt) {
      this.#doubt = text;
      this.#options.onDoubt?.(text);
    }
  }

  #ended(reason: string): void {
    this.#end ??= `${this.#path}: the thread of the store has failed: ${reason}. Start the service again`;
    for (const { fail } of this.#waiting.splice(0)) fail(new SqliteStoreError(this.#end, { undecided: true }));
  }
}
