// The newest events of the change feed, kept once for all of its readers.

import { firstIndexWhere } from "../collection/binary-search.ts";
import type { Version } from "../collection/engine.ts";

/** What is kept for readers that are behind. */
const charactersMax = 4 * 1024 ** 2;
/** What a reader is handed at a time, and so the most that waits for a slow one. */
const portionCharacters = 64 * 1024;

interface RecentEvent {
  readonly version: Version;
  readonly text: string;
}

interface Portion {
  /** The events after this version … */
  readonly from: Version;
  /** … up to and including this one. */
  readonly to: Version;
  readonly bytes: Uint8Array;
}

const encoder = new TextEncoder();

export class RecentEvents {
  readonly #events: RecentEvent[] = [];
  #since: Version;
  #characters = 0;
  /** What was last handed out: readers that keep up all get the same. */
  #portion: Portion | undefined;

  constructor(since: Version) {
    this.#since = since;
  }

  /** Every event after this version is here. */
  get since(): Version {
    return this.#since;
  }

  add(events: readonly RecentEvent[]): void {
    for (const event of events) {
      this.#events.push(event);
      this.#characters += event.text.length;
    }
    this.#forget();
  }

  /** The events after a version, as many as are handed out at once; nothing if there are none yet. */
  after(version: Version): Portion | undefined {
    if (this.#portion?.from === version) return this.#portion;
    let text = "";
    let to = version;
    const first = firstIndexWhere(this.#events, (event) => event.version > version);
    for (let index = first; index < this.#events.length; index++) {
      const event = this.#events[index];
      if (!event || (text !== "" && text.length + event.text.length > portionCharacters)) break;
      text += event.text;
      to = event.version;
    }
    if (text === "") return undefined;
    this.#portion = { from: version, to, bytes: encoder.encode(text) };
    return this.#portion;
  }

  #forget(): void {
    let count = 0;
    while (this.#characters > charactersMax) {
      const oldest = this.#events[count];
      if (!oldest) break;
      this.#characters -= oldest.text.length;
      this.#since = oldest.version;
      count++;
    }
    this.#events.splice(0, count);
  }
}
