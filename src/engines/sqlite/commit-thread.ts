// A thread that commits to a store, so that the thread that answers requests does not wait for the disk. The thread has
// a SqliteEngine of its own: for the other engines on the same file, it is like another process.
//
// The two threads exchange arrays as JSON text, which takes a fraction of the time that copies of objects take. Each
// request gets one answer, and there is one request at a time. Only a commit may need more: if the thread finds that
// others have committed first, it sends their changes, keeps its lock, and gets another plan.

import { type Batch, type Bookmark, type News, type PlannedChange, StoreError } from "../../collection/engine.ts";
import { type FromThread, newsOf, rowsOf, type ToThread } from "./commit-messages.ts";

export interface CommitThreadOptions {
  readonly onWarning: (message: string) => void;
  /** Called if the thread has found that the files of the store were replaced, removed or changed. */
  readonly onRetired: (reason: string) => void;
}

interface Waiting {
  answer(message: FromThread): void;
  fail(error: Error): void;
}

export class CommitThread {
  readonly #path: string;
  readonly #worker: Worker;
  readonly #options: CommitThreadOptions;
  readonly #opened: Promise<FromThread>;
  /** Settles when the last request is done. Requests are sent one after the other. */
  #last: Promise<unknown>;
  #waiting: Waiting | undefined;
  /** Why the thread has ended. Undefined while it runs. */
  #end: string | undefined;

  constructor(path: string, options: CommitThreadOptions) {
    this.#path = path;
    this.#options = options;
    this.#worker = new Worker(new URL("./commit-thread-main.ts", import.meta.url));
    this.#worker.onmessage = ({ data }) => this.#receive(JSON.parse(data));
    this.#worker.onerror = ({ message }) => this.#ended(message);
    this.#worker.addEventListener("close", () => this.#ended("it has ended"));
    this.#opened = this.#ask(["open", path]);
    this.#last = this.#opened;
  }

  /** Resolves once the thread has opened the store. */
  async opened(): Promise<void> {
    await this.#opened;
  }

  /**
   * Stores a batch, and returns the state of the store after it. `onPlan` is called for each plan, with the state that
   * the plan leads to.
   */
  commit(batch: Batch, onPlan: (planned: Bookmark) => void): Promise<Bookmark | undefined> {
    return this.#inTurn(async () => {
      const defects: unknown[] = [];
      let planned = batch.since;
      const decide = (missed: News | undefined): ToThread => {
        try {
          const plan = batch.decide(missed);
          planned = stateAfter(missed ?? batch.since, plan);
          onPlan(planned);
          return missed ? ["plan", rowsOf(plan)] : ["commit", batch.since, rowsOf(plan)];
        } catch (error) {
          defects.push(error);
          return ["abandon"];
        }
      };
      const first = decide(undefined);
      if (defects.length > 0) throw defects[0];
      try {
        let answer = await this.#ask(first);
        while (answer[0] === "missed") answer = await this.#ask(decide(newsOf(answer)));
        if (answer[0] === "behind") return undefined;
      } catch (error) {
        throw defects.length > 0 ? defects[0] : error;
      }
      return planned;
    });
  }

  async checkReady(): Promise<void> {
    await this.#inTurn(() => this.#ask(["check-ready"]));
  }

  /** Lets the thread close the store, and ends the thread. */
  async close(): Promise<void> {
    try {
      await this.#inTurn(() => this.#ask(["close"]));
    } finally {
      this.#worker.terminate();
    }
  }

  #inTurn<Result>(request: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(request, request);
    this.#last = result;
    return result;
  }

  #ask(message: ToThread): Promise<FromThread> {
    if (this.#end !== undefined) return Promise.reject(new StoreError(this.#end, { needsRestart: true }));
    return new Promise((resolve, reject) => {
      this.#waiting = { answer: resolve, fail: reject };
      this.#worker.postMessage(JSON.stringify(message));
    });
  }

  #receive(message: FromThread): void {
    if (message[0] === "warning") {
      this.#options.onWarning(message[1]);
      return;
    }
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (message[0] !== "failed") {
      waiting?.answer(message);
      return;
    }
    const [, reason, undecided, retired] = message;
    if (retired) this.#options.onRetired(reason);
    waiting?.fail(new StoreError(reason, { undecided, needsRestart: retired }));
  }

  #ended(reason: string): void {
    this.#end ??= `${this.#path}: the thread that commits has failed: ${reason}. Writes are refused; start the service again`;
    this.#waiting?.fail(new StoreError(this.#end, { undecided: true }));
    this.#waiting = undefined;
  }
}

function stateAfter({ epoch, version }: Bookmark, changes: readonly PlannedChange[]): Bookmark {
  return { epoch, version: changes.at(-1)?.version ?? version };
}
