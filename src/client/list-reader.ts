// Reads the list and keeps its text, so that the server sends no body the next time if nothing has changed.

import { NetworkError, otherOrigin } from "./errors.ts";
import type { ParseItem } from "./reply.ts";
import type { Requester, RequestOptions } from "./requester.ts";

/** A list with more characters than this is not kept, because it would take too much memory. */
const keptCharactersMax = 16_777_216;

/** A list as the server sent it. It never changes, so concurrent reads may share it. */
interface KeptList {
  readonly etag: string;
  readonly texts: readonly string[];
}

export class ListReader {
  readonly #requester: Requester<unknown>;
  #kept: KeptList | undefined;

  constructor(requester: Requester<unknown>) {
    this.#requester = requester;
  }

  /** Reads every item, in the order of the list. */
  async read<Item>({ signal }: RequestOptions, parseItem: ParseItem<Item>): Promise<Item[]> {
    const kept = this.#kept;
    const url = this.#requester.listUrl;
    try {
      const headers = { "If-None-Match": kept?.etag };
      const reply = await this.#requester.send({ method: "GET", url, signal, headers, alsoAccept: 304 });
      if (kept && reply.status === 304) return kept.texts.map((json) => parseItem(reply, json));
      const items: Item[] = [];
      const texts: string[] = [];
      let characters = 0;
      for await (const json of reply.objects()) {
        items.push(parseItem(reply, json));
        characters += json.length;
        if (reply.etag !== undefined && characters <= keptCharactersMax) texts.push(json);
      }
      const isKept = reply.etag !== undefined && characters <= keptCharactersMax;
      this.#kept = isKept ? { etag: reply.etag, texts } : undefined;
      return items;
    } catch (error) {
      // If a server does not allow pages of another origin to send If-None-Match, the browser reports a network
      // failure. So the next attempt sends no If-None-Match, as in the first request, which was allowed.
      if (error instanceof NetworkError && otherOrigin(error) !== undefined) this.#kept = undefined;
      throw error;
    }
  }
}
