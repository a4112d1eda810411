// Gathers writes and commits them in batches. Writes that arrive while a commit is under way form the next batch. So
// one sync to disk serves many writers.
// Why: docs/decisions/0010-do-less-for-each-request.md

import { StoreError, WriteError } from "./engine.ts";
import { type Limits, realLimits } from "./limits.ts";
import { type ListKey, listKey } from "./list-key.ts";
import type { AddressedWrite, DecidedOutcome } from "./write-rules.ts";

export interface WriteQueueOptions {
  /** At most this many writes may wait to become part of a batch. Any more are rejected as "queue-full". */
  readonly max: number;
  /**
   * Stores a batch and resolves to the outcome of each of its writes. `fill` returns the batch. Each call of `fill`
   * first adds the writes that have arrived since the last call, as long as the batch has room.
   */
  readonly commit: (fill: () => readonly AddressedWrite[]) => Promise<readonly DecidedOutcome[]>;
  /** Called when a commit is stored, with the time that it took and the number of its writes. */
  readonly onCommit?: ((ms: number, writeCount: number) => void) | undefined;
  readonly limits?: Limits | undefined;
  /** Called when a commit has failed. */
  readonly onStoreError: (error: StoreError) => void;
}

interface PendingWrite {
  readonly queued: AddressedWrite;
  readonly resolve: (outcome: DecidedOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/** Waiting for more writes usually ends once this many turns of the event loop in a row have brought none. */
const quietTurnsMin = 2;
/** A commit waits for more writes for at most half the time that commits usually take, within these bounds. */
const gatherMsMin = 1;
const gatherMsMax = 10;
/** The shortest delay that a timer can have. */
const timerMs = 1;
/** A commit that has at least this share of the usual number of writes sets no timer to wait for the rest. */
const mostOfThem = 0.9;

export class WriteQueue {
  readonly #options: WriteQueueOptions;
  readonly #queue: PendingWrite[] = [];
  /** The writes of the commit that is under way. */
  #underWay: readonly PendingWrite[] = [];
  #committing = false;
  /** How many writes recent commits usually had, and how long those commits took on average. */
  #usualBatch = 0;
  #commitMs = 0;
  #whenIdle: (() => void) | undefined;

  constructor(options: WriteQueueOptions) {
    this.#options = options;
  }

  /** How many writes wait to become part of a batch. */
  get length(): number {
    return this.#queue.length;
  }

  /** The lists that a write waits for, or is being committed to. */
  get targets(): ReadonlySet<ListKey> {
    return new Set([...this.#underWay, ...this.#queue].map(({ queued }) => queued.target.key));
  }

  /** Whether a commit to a list of this owner is under way. The owner must have a name. */
  isCommitting(owner: string): boolean {
    const end = listKey("", owner);
    return this.#underWay.some(({ queued }) => queued.target.key.endsWith(end));
  }

  /** Resolves once the write is stored, or once it is clear that it changes nothing. Rejects with a `WriteError`. */
  add(queued: AddressedWrite): Promise<DecidedOutcome> {
    if (this.#queue.length >= this.#options.max) {
      return Promise.reject(new WriteError("queue-full", "the write queue is full"));
    }
    return new Promise((resolve, reject) => {
      this.#queue.push({ queued, resolve, reject });
      this.#schedule();
    });
  }

  /** Resolves once no write is waiting and no commit is under way. */
  async idle(): Promise<void> {
    if (this.#committing) await new Promise<void>((resolve) => (this.#whenIdle = resolve));
  }

  #schedule(): void {
    if (this.#committing) return;
    this.#committing = true;
    this.#gather(0, performance.now() + this.#gatherMs);
  }

  // Clients that were answered together send their next writes at nearly the same time. A commit costs many times
  // as much as a turn of the event loop. So if there are fewer writes than usual, the commit waits until a few turns
  // have brought no more. If commits take long, it waits a little longer, because a write that just misses this
  // commit would have to wait for the next one.
  #gather(count: number, until: number, quietTurns = 0): void {
    setImmediate(() => {
      const quiet = this.#queue.length > count ? 0 : quietTurns + 1;
      const mayWait = performance.now() < until && this.#queue.length < this.#usualBatch;
      if (mayWait && quiet < quietTurnsMin) this.#gather(this.#queue.length, until, quiet);
      else if (mayWait && this.#gatherMs > gatherMsMin && this.#queue.length < this.#usualBatch * mostOfThem) {
        setTimeout(() => this.#gather(this.#queue.length, until), timerMs);
      } else void this.#commitBatch();
    });
  }

  /** How long a commit may wait for more writes. */
  get #gatherMs(): number {
    return Math.min(Math.max(this.#commitMs / 2, gatherMsMin), gatherMsMax);
  }

  async #commitBatch(): Promise<void> {
    const batch: PendingWrite[] = [];
    this.#underWay = batch;
    let byteCount = 0;
    const { batchWrites, batchBytes } = this.#options.limits ?? realLimits;
    const fill = () => {
      let count = 0;
      for (const { queued } of this.#queue) {
        const { write } = queued;
        if (batch.length + count === batchWrites || byteCount >= batchBytes) break;
        byteCount += write.kind === "delete" ? 0 : write.item.json.length;
        count++;
      }
      batch.push(...this.#queue.splice(0, count));
      return batch.map(({ queued }) => queued);
    };
    try {
      const startedAt = performance.now();
      const outcomes = await this.#options.commit(fill);
      const ms = performance.now() - startedAt;
      this.#options.onCommit?.(ms, batch.length);
      this.#commitMs = (this.#commitMs + ms) / 2;
      // The number rises at once but falls slowly: a batch that started too early must not make the next one start too
      // early as well.
      this.#usualBatch = Math.max(batch.length, (this.#usualBatch + batch.length) / 2);
      for (const [index, outcome] of outcomes.entries()) batch[index]?.resolve(outcome);
    } catch (error) {
      // If the commit failed before it asked for its batch, take the batch now and reject it. Otherwise the same
      // writes would be tried forever.
      if (batch.length === 0) fill();
      if (error instanceof StoreError) this.#options.onStoreError(error);
      const answer = error instanceof StoreError ? writeErrorFrom(error) : error;
      for (const { reject } of batch) reject(answer);
    }
    this.#committing = false;
    this.#underWay = [];
    if (this.#queue.length > 0) this.#schedule();
    else this.#whenIdle?.();
  }
}

function writeErrorFrom(cause: StoreError): WriteError {
  const notStored = cause.needsRestart ? "needs-restart" : "not-stored";
  return new WriteError(cause.undecided ? "unknown" : notStored, cause.message, { cause });
}
