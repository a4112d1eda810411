// The list, served by the runtime itself while many ask for it at once. A response that stands in the
// runtime's own table of routes is sent without a line of JavaScript, two to three times as fast as by a
// handler. It is put there when several lists were asked for in one turn of the event loop and the
// collection holds still, and taken out before the next change is acknowledged.

import type { TodoCollection } from "../todo-collection.ts";

/** A listener that can answer GET on some paths by itself. */
export interface NativeRoutes {
  publish(paths: readonly string[], response: () => Response): void;
  withdraw(): void;
}

// Putting the list there and taking it out again costs about as much as answering two lists.
const listsInOneTurn = 8;
/** How long it stands there at most: other processes' writers wait meanwhile, and limits are not looked at. */
const publishedMs = 100;
const paths = ["/api/todoitems/", "/api/todoitems"];

export class HotList {
  readonly #collection: TodoCollection;
  readonly #listeners = new Set<NativeRoutes>();
  #listsThisTurn = 0;
  #published = false;
  #timer: Timer | undefined;

  constructor(collection: TodoCollection) {
    this.#collection = collection;
  }

  serveBy(listener: NativeRoutes): void {
    this.#listeners.add(listener);
  }

  /** To be told of every list that a handler answers. */
  listed(response: () => Response): void {
    if (this.#listsThisTurn++ === 0) setImmediate(() => (this.#listsThisTurn = 0));
    if (this.#listsThisTurn < listsInOneTurn || this.#published || this.#listeners.size === 0) return;
    if (!this.#collection.holdStill(() => this.#withdraw())) return;
    this.#published = true;
    this.#timer = setTimeout(() => this.#collection.letMove(), publishedMs);
    for (const listener of this.#listeners) listener.publish(paths, response);
  }

  #withdraw(): void {
    this.#published = false;
    clearTimeout(this.#timer);
    for (const listener of this.#listeners) listener.withdraw();
  }
}
