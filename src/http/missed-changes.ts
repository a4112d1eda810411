// Encodes the changes that readers missed. Long results are kept for a while and shared by all readers that missed the
// same changes. There are limits on how many results are encoded at the same time, and on how much memory the kept
// results take.

import type { Bookmark, Change } from "../collection/engine.ts";
import type { TodoCollection } from "../collection/todo-collection.ts";
import { Problem } from "./problem.ts";

/**
 * If the changes that a reader missed have more characters than this, they are not sent, because the whole list is
 * cheaper.
 */
const charactersMax = 8 * 1024 ** 2;
/**
 * Encoded changes of at most this many bytes are not kept, but encoded again for each reader. Longer ones are kept for
 * other readers.
 */
const shortBytesMax = 64 * 1024;
/**
 * A cache keeps encoded changes of about this many bytes at most, all together. While there is no room, a reader that
 * missed a lot gets no changes. A change document then contains the whole list, and a feed tells its reader to fetch
 * the list. All readers share that list, so readers with many different tokens cannot exhaust the memory.
 */
const keptBytesMax = 32 * 1024 ** 2;
/**
 * How long encoded changes are kept. A feed that has not sent all of them by then tells its reader to fetch the list
 * again.
 */
const keptMs = 30_000;
/**
 * If changes cannot be sent, the result is `undefined`. Such a result is not kept if `#results` has more entries than
 * this.
 */
const keptMax = 1_000;
/**
 * If a reader is at most this many versions behind, the changes that it missed are always read, because reading so few
 * is cheap.
 */
const youngAge = 1_000;
/** At most this many results are encoded at the same time. Further ones wait. */
const encodingMax = 2;
const waitingMax = 1_000;

/** The changes between the state that a reader has seen and the state that this bookmark names. */
export interface MissedChanges extends Bookmark {
  /** The encoded changes, to be sent in this order. Undefined once they are no longer kept. */
  portions: readonly Uint8Array[] | undefined;
}

interface MissedChangesOptions {
  /** Returns the texts to send for these changes. `until` names the state after the last change. */
  readonly textsOf: (until: Bookmark, changes: readonly Change[]) => Iterable<string>;
  /** How many characters one element of `portions` may have. A longer text gets an element of its own. */
  readonly portionCharacters: number;
}

type Result = Promise<MissedChanges | undefined>;

const encoder = new TextEncoder();

export class MissedChangesCache {
  readonly #collection: TodoCollection;
  readonly #options: MissedChangesOptions;
  /**
   * The results that are being encoded, and those that are kept. The key consists of the reader's token and the current
   * version.
   */
  readonly #results = new Map<string, Result>();
  /** One function for each result that has to wait. Calling it starts the work. */
  readonly #waiting: (() => void)[] = [];
  #encodingCount = 0;
  #keptBytes = 0;
  /**
   * The last reader whose changes could not be kept for lack of room was this many versions behind. Reset to infinity
   * whenever a kept result is dropped, because there may be room again.
   */
  #ageWithoutRoom = Number.POSITIVE_INFINITY;

  constructor(collection: TodoCollection, options: MissedChangesOptions) {
    this.#collection = collection;
    this.#options = options;
  }

  /**
   * Returns the changes that a reader with this token missed. Undefined if the store no longer has these changes, if
   * they are too long, or if there is no room to keep them. The caller must refresh the collection first.
   */
  since(since: Bookmark): Result {
    const { epoch, version } = this.#collection;
    if (since.epoch !== epoch) return Promise.resolve(undefined);
    const key = `${epoch} ${since.version} ${version}`;
    const known = this.#results.get(key);
    if (known) return known;
    const result = this.#inTurn(() => this.#encode(since, key)).catch((error) => {
      this.#results.delete(key);
      throw error;
    });
    this.#results.set(key, result);
    return result;
  }

  async #inTurn(work: () => Result): Result {
    if (this.#waiting.length >= waitingMax) {
      const detail = "Too many readers are waiting for past changes. Send the request again shortly.";
      throw new Problem("Overloaded", detail, { retryAfterSeconds: 1 });
    }
    if (this.#encodingCount < encodingMax) this.#encodingCount++;
    else await new Promise<void>((start) => this.#waiting.push(start));
    try {
      return await work();
    } finally {
      const start = this.#waiting.shift();
      // The next piece of work may take long, so let other requests be answered before it starts.
      if (start) setImmediate(start);
      else this.#encodingCount--;
    }
  }

  async #encode(since: Bookmark, key: string): Result {
    // The last reader whose changes did not fit was `#ageWithoutRoom` versions behind. If this reader is more than half
    // as far behind, its changes will probably not fit either, so they are not even read. Readers that are at most
    // `youngAge` versions behind are exempt.
    const isHopeless = this.#collection.version - since.version > Math.max(youngAge, this.#ageWithoutRoom / 2);
    const news = await (isHopeless ? undefined : this.#collection.changesSince(since));
    const room = Math.max(shortBytesMax, keptBytesMax - this.#keptBytes);
    const portions = news && this.#portions(this.#options.textsOf(news, news.changes), Math.min(charactersMax, room));
    if (news && !portions && room < charactersMax) this.#ageWithoutRoom = news.version - since.version;
    const missed = news && portions && { epoch: news.epoch, version: news.version, portions };
    const byteCount = portions?.reduce((sum, { length }) => sum + length, 0) ?? 0;
    // Finding out that changes are too long takes about as long as encoding them. So a result of `undefined` may be
    // kept too.
    const isKept = missed ? byteCount > shortBytesMax : this.#results.size <= keptMax;
    if (isKept) this.#keep(key, missed, byteCount);
    else this.#results.delete(key);
    return missed;
  }

  /**
   * Joins the texts into portions, which are sent one at a time, and encodes them. Returns undefined if all texts
   * together have more than `max` characters.
   */
  #portions(texts: Iterable<string>, max: number): Uint8Array[] | undefined {
    const portions: Uint8Array[] = [];
    let portion = "";
    let characters = 0;
    for (const text of texts) {
      characters += text.length;
      if (characters > max) return undefined;
      if (portion !== "" && portion.length + text.length > this.#options.portionCharacters) {
        portions.push(encoder.encode(portion));
        portion = "";
      }
      portion += text;
    }
    if (portion !== "") portions.push(encoder.encode(portion));
    return portions;
  }

  #keep(key: string, missed: MissedChanges | undefined, byteCount: number): void {
    this.#keptBytes += byteCount;
    setTimeout(() => {
      this.#results.delete(key);
      this.#keptBytes -= byteCount;
      this.#ageWithoutRoom = Number.POSITIVE_INFINITY;
      if (missed) missed.portions = undefined;
    }, keptMs).unref();
  }
}
