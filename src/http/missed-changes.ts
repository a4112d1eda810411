// The changes that readers missed, encoded once for all readers that missed the same ones. Limits bound how many are
// encoded at the same time, and how much memory the encoded changes take.

import type { Bookmark, Change } from "../collection/engine.ts";
import type { TodoCollection } from "../collection/todo-collection.ts";
import { Problem } from "./problem.ts";

/** The maximum number of characters for one reader. Beyond this, fetching the whole list is cheaper. */
const charactersMax = 8 * 1024 ** 2;
/** Up to this many bytes, changes are encoded again for each reader. Longer ones are kept for other readers. */
const shortBytesMax = 64 * 1024;
/**
 * The maximum number of bytes that are kept. While there is no room, a reader that missed a lot gets the whole list or
 * has to fetch it. That list is shared, so readers with many different tokens cannot exhaust the memory.
 */
const keptBytesMax = 32 * 1024 ** 2;
/** How long they are kept. A feed that needs longer to send them gets a resync. */
const keptMs = 30_000;
/** The maximum number of results that are kept, including those without changes. */
const keptMax = 1_000;
/** A token that is at most this many versions old is always looked up, because that is cheap. */
const youngAge = 1_000;
/** At most this many requests are worked on at the same time. Further ones wait. */
const encodingMax = 2;
const waitingMax = 1_000;

/** Everything between a reader's token and this bookmark. */
export interface MissedChanges extends Bookmark {
  /** The encoded changes, to be sent in this order. Undefined once they are no longer kept. */
  portions: readonly Uint8Array[] | undefined;
}

interface MissedChangesOptions {
  /** The texts to send for these changes. The bookmark is the state that they lead to. */
  readonly textsOf: (until: Bookmark, changes: readonly Change[]) => Iterable<string>;
  /** How many characters a portion has, unless one text is longer. */
  readonly portionCharacters: number;
}

type Result = Promise<MissedChanges | undefined>;

const encoder = new TextEncoder();

export class MissedChangesCache {
  readonly #collection: TodoCollection;
  readonly #options: MissedChangesOptions;
  /** By token and current version: the results that are being worked on, and those that are kept. */
  readonly #results = new Map<string, Result>();
  /** Each function starts a request that had to wait. */
  readonly #waiting: (() => void)[] = [];
  #encodingCount = 0;
  #keptBytes = 0;
  /** The age, in versions, of the last token whose changes found no room. Reset when there is more room. */
  #ageWithoutRoom = Number.POSITIVE_INFINITY;

  constructor(collection: TodoCollection, options: MissedChangesOptions) {
    this.#collection = collection;
    this.#options = options;
  }

  /**
   * The changes that a reader with this token missed. Refresh the collection first. Undefined if the store no longer
   * has these changes, if they are too long, or if there is no room to keep them.
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
      // Answer other requests before the next long piece of work.
      if (start) setImmediate(start);
      else this.#encodingCount--;
    }
  }

  async #encode(since: Bookmark, key: string): Result {
    // While there is no room, do not read the changes since every other old token just to find no room for them either.
    const isHopeless = this.#collection.version - since.version > Math.max(youngAge, this.#ageWithoutRoom / 2);
    const news = await (isHopeless ? undefined : this.#collection.changesSince(since));
    const room = Math.max(shortBytesMax, keptBytesMax - this.#keptBytes);
    const portions = news && this.#portions(this.#options.textsOf(news, news.changes), Math.min(charactersMax, room));
    if (news && !portions && room < charactersMax) this.#ageWithoutRoom = news.version - since.version;
    const missed = news && portions && { epoch: news.epoch, version: news.version, portions };
    const byteCount = portions?.reduce((sum, { length }) => sum + length, 0) ?? 0;
    // To find out that changes are too long takes about as long as to encode them, so this is remembered, too.
    const isKept = missed ? byteCount > shortBytesMax : this.#results.size <= keptMax;
    if (isKept) this.#keep(key, missed, byteCount);
    else this.#results.delete(key);
    return missed;
  }

  /** Undefined if the texts have more characters than `max`. */
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
