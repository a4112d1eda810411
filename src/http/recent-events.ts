// The latest events of the change feed, stored once for all of its readers.

import { firstIndexWhere } from "../collection/binary-search.ts";
import type { Version } from "../collection/engine.ts";

/** How many characters of events are kept for readers that are behind. Beyond this, the oldest events are dropped. */
const charactersMax = 4 * 1024 ** 2;
/**
 * A reader is sent at most this many characters at a time, or a single event if that event is longer. Because of this
 * limit, not much has to be buffered for a slow reader.
 */
export const portionCharacters = 64 * 1024;

interface RecentEvent {
  readonly version: Version;
  readonly text: string;
}

/** Several events in a row, encoded to be sent together. */
interface Portion {
  /** The version that a reader has reached before it gets these events. */
  readonly from: Version;
  /** The version of the last event. */
  readonly to: Version;
  readonly bytes: Uint8Array;
}

const encoder = new TextEncoder();

export class RecentEvents {
  readonly #events: RecentEvent[] = [];
  #since: Version;
  #characters = 0;
  /** The portion that was encoded last. It is cached, because all readers that keep up ask for the same portion. */
  #portion: Portion | undefined;

  constructor(since: Version) {
    this.#since = since;
  }

  /** All events after this version are here. Older events may have been dropped. */
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

  /** The next events after a version, encoded to be sent together. Undefined if there are none yet. */
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
