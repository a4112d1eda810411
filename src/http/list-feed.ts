// The change feed of one list. It exists while it has readers. For each reader we store little more than the state that
// it has reached. What it has to get next is read from the list, at the pace of the reader. So a slow reader needs no
// more memory than a fast one. A reader that is too far behind is told to fetch the list again.
// Why: docs/decisions/0040-a-feed-reader-is-a-version.md

import type { Bookmark, Change } from "../collection/engine.ts";
import type { Limits } from "../collection/limits.ts";
import type { TodoCollection } from "../collection/todo-collection.ts";
import { formatToken } from "../items/token.ts";
import type { StreamSink } from "../wire/message.ts";
import type { ChangeDocuments } from "./change-documents.ts";
import { hasEnded, type SignedIn } from "./signed-in.ts";

/**
 * The state of a reader that must fetch the list again. No store has an empty epoch, which is the name of its history.
 */
export const unknownState: Bookmark = { epoch: "", version: 0 };

const encoder = new TextEncoder();
const heartbeat = encoder.encode(": still here\n\n");

export interface Reader {
  readonly address: string;
  /** Undefined if feeds need no credentials. */
  readonly signedIn: SignedIn | undefined;
  /** Every event up to this state was written to the reader's sink. Undefined while the feed is being opened. */
  reached: Bookmark | undefined;
  sink: StreamSink | undefined;
  /** True if everything written to the reader's sink has been sent, so more may be written. */
  hungry: boolean;
}

/** Several events in a row, encoded to be sent together. They lead from one state to another. */
interface Portion {
  readonly from: Bookmark;
  readonly to: Bookmark;
  readonly bytes: Uint8Array;
}

export class ListFeed {
  readonly readers = new Set<Reader>();
  /** Watching it keeps this object in use, but not its items in memory. */
  readonly #list: TodoCollection;
  readonly #documents: ChangeDocuments;
  readonly #portionCharacters: number;
  readonly #stopWatching: () => void;
  /** The portion that was encoded last. It is kept, because all readers that keep up get the same portion. */
  #portion: Portion | undefined;
  /** True if a reader could not be fed, because the items are not in memory. */
  #needsItems = false;

  constructor(list: TodoCollection, documents: ChangeDocuments, limits: Limits) {
    this.#list = list;
    this.#documents = documents;
    this.#portionCharacters = limits.portionCharacters;
    this.#stopWatching = list.watch((isReplaced) => this.#feedAll(isReplaced));
  }

  close(): void {
    this.#stopWatching();
  }

  /**
   * Returns the first event of a feed, `ready`. If we cannot send the changes that the reader missed, a `resync` event
   * follows, which tells the reader to fetch the list again.
   */
  async beginning(reader: Reader, since: Bookmark | undefined): Promise<string> {
    await this.#list.refresh();
    const { epoch, version, readOnly } = this.#list;
    const ready = `event: ready\ndata: ${JSON.stringify({ epoch, version, readOnly })}\n`;
    const isKnown = since && this.#list.changesSince(since) !== undefined;
    reader.reached = isKnown ? since : { epoch, version };
    // If a `resync` event follows, `ready` has no `id`. Otherwise a reader might lose its connection between the two
    // events and reconnect with that `id`. It would never learn that it must fetch the list again.
    return since && !isKnown ? `${ready}\n${this.#resync()}` : `${ready}id: ${formatToken(reader.reached)}\n\n`;
  }

  /** Call this now and then: another process may have changed the list, or the items may have been dropped. */
  async catchUp(): Promise<void> {
    if (this.#list.isBehind || this.#needsItems) await this.#list.refresh();
  }

  #feedAll(isReplaced: boolean): void {
    this.#needsItems = false;
    // A store that is only read can be replaced by one with the same epoch. Then a portion may be of the lost history.
    if (isReplaced) this.#portion = undefined;
    for (const reader of this.readers) {
      if (isReplaced && reader.reached) reader.reached = unknownState;
      if (reader.hungry) this.feed(reader);
    }
  }

  /**
   * Writes a reader's next events, or a `resync` event if the reader must fetch the list again. Does nothing if there
   * is nothing to write, or if the reader's sign-in has ended: then the feed is about to end.
   */
  feed(reader: Reader): void {
    const { reached, sink, signedIn } = reader;
    if (signedIn && hasEnded(signedIn)) return;
    const next = reached && sink && this.#next(reached);
    if (!next) return;
    reader.reached = next.to;
    reader.hungry = false;
    sink.write(next.bytes);
  }

  #next(from: Bookmark): Portion | undefined {
    const { epoch, version } = this.#list;
    if (isSame(from, this.#list)) return undefined;
    if (this.#portion && isSame(from, this.#portion.from)) return this.#portion;
    if (!this.#list.isCurrent) {
      this.#needsItems = true;
      return undefined;
    }
    const changes = this.#list.changesSince(from);
    if (!changes) return { from, to: { epoch, version }, bytes: encoder.encode(this.#resync()) };
    let text = "";
    let to = version;
    for (const change of changes) {
      const event = this.#event(epoch, change);
      if (text !== "" && text.length + event.length > this.#portionCharacters) break;
      text += event;
      to = change.version;
    }
    this.#portion = { from, to: { epoch, version: to }, bytes: encoder.encode(text) };
    return this.#portion;
  }

  beat(): void {
    for (const reader of this.readers) {
      if (!reader.hungry || !reader.sink) continue;
      reader.hungry = false;
      reader.sink.write(heartbeat);
    }
  }

  #resync(): string {
    const { epoch, version } = this.#list;
    return `event: resync\nid: ${formatToken({ epoch, version })}\ndata: ${JSON.stringify({ epoch, version })}\n\n`;
  }

  #event(epoch: string, change: Change): string {
    return `event: change\nid: ${formatToken({ epoch, version: change.version })}\ndata: ${this.#documents.changeJson(epoch, change)}\n\n`;
  }
}

function isSame(one: Bookmark, other: Bookmark): boolean {
  return one.epoch === other.epoch && one.version === other.version;
}
