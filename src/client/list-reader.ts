// Reads the list and keeps its text, so that the server does not have to send all of it the next time. If nothing has
// changed, the server sends no body. If a long list has changed, the server sends only the changes.

import { parseToken } from "../items/token.ts";
import { type ChangeDocument, readChangeDocument } from "./change-document.ts";
import { MethodNotAllowedError, NetworkError, NotFoundError, otherOrigin } from "./errors.ts";
import { idOf } from "./item-text.ts";
import type { ParseItem, Reply } from "./reply.ts";
import type { Requester, RequestOptions } from "./requester.ts";

/**
 * If a list has fewer characters than this, the client reads the whole list again after a change. Such a list,
 * compressed, fits into a few packets. So asking for only the changes would save very little.
 */
const changesFromCharacters = 8_192;
/** A list with more characters than this is not kept, because it would take too much memory. */
const keptCharactersMax = 16_777_216;

/** A list as the server sent it, or with changes applied to it. It never changes, so concurrent reads may share it. */
interface KeptList {
  readonly etag: string;
  readonly texts: readonly string[];
  readonly characters: number;
  /**
   * The items and their positions, by ID. Undefined until changes are first applied, because most lists never get any.
   */
  readonly places: ReadonlyMap<string, Place> | undefined;
  /**
   * The version of the list that was read from /api/todoitems/, or 0 if all items came from a document of changes. A
   * list from /api/todoitems/ has no positions, so its items get negative positions in `places`. If a later change says
   * that an item's position is at most `listedAt`, the item is one of these.
   */
  readonly listedAt: number;
}

interface Place {
  readonly json: string;
  readonly position: number;
}

export class ListReader {
  readonly #requester: Requester<unknown>;
  #kept: KeptList | undefined;
  /** False once the server has shown that it cannot list changes. */
  #offersChanges = true;

  constructor(requester: Requester<unknown>) {
    this.#requester = requester;
  }

  /** Reads every item, in the order of the list. */
  async read<Item>(options: RequestOptions, parseItem: ParseItem<Item>): Promise<Item[]> {
    const kept = this.#kept;
    try {
      const update = kept && (await this.#update(kept, options));
      if (!update) return await this.#readList(kept, options, parseItem);
      this.#keep(update.list);
      return update.list.texts.map((json) => parseItem(update.reply, json));
    } catch (error) {
      // If a server does not allow pages of another origin to send If-None-Match, the browser reports a network
      // failure. So the next attempt sends no If-None-Match, as in the first request, which was allowed.
      if (error instanceof NetworkError && otherOrigin(error) !== undefined) this.#kept = undefined;
      throw error;
    }
  }

  /**
   * Brings a list up to date. Returns undefined if the caller must read the whole list instead, or if reading the whole
   * list costs no more.
   */
  async #update(kept: KeptList, { signal }: RequestOptions): Promise<{ reply: Reply; list: KeptList } | undefined> {
    if (!this.#offersChanges || kept.characters < changesFromCharacters || !parseToken(kept.etag)) return undefined;
    const url = `${this.#requester.feedUrl}?since=${encodeURIComponent(kept.etag)}`;
    try {
      const reply = await this.#requester.send({ method: "GET", url, signal, ...onlyIfChanged(kept) });
      if (reply.status === 304) return { reply, list: kept };
      if (reply.isJson && reply.etag !== undefined) {
        const list = withChanges(kept, await readChangeDocument(reply), reply, reply.etag);
        return list && { reply, list };
      }
      reply.discard();
    } catch (error) {
      if (!(error instanceof NotFoundError || error instanceof MethodNotAllowedError)) throw error;
    }
    this.#offersChanges = false;
    return undefined;
  }

  async #readList<Item>(
    kept: KeptList | undefined,
    { signal }: RequestOptions,
    parseItem: ParseItem<Item>,
  ): Promise<Item[]> {
    const url = this.#requester.listUrl;
    const reply = await this.#requester.send({ method: "GET", url, signal, ...(kept && onlyIfChanged(kept)) });
    if (kept && reply.status === 304) return kept.texts.map((json) => parseItem(reply, json));
    const items: Item[] = [];
    const texts: string[] = [];
    let characters = 0;
    for await (const json of reply.objects()) {
      items.push(parseItem(reply, json));
      characters += json.length;
      if (reply.etag !== undefined && characters <= keptCharactersMax) texts.push(json);
    }
    const listedAt = parseToken(reply.etag ?? "")?.version ?? 0;
    this.#keep(
      reply.etag === undefined ? undefined : { etag: reply.etag, texts, characters, places: undefined, listedAt },
    );
    return items;
  }

  #keep(list: KeptList | undefined): void {
    this.#kept = list && list.characters <= keptCharactersMax ? list : undefined;
  }
}

function onlyIfChanged({ etag }: KeptList) {
  return { headers: { "If-None-Match": etag }, alsoAccept: 304 };
}

/**
 * Applies changes to a list. Returns undefined if the server now spells field names differently than in this list, and
 * has not sent every item: the list would then mix both spellings.
 */
function withChanges(
  kept: KeptList,
  { whole, changes }: ChangeDocument,
  reply: Reply,
  etag: string,
): KeptList | undefined {
  if (!whole && spellingOf(etag) !== spellingOf(kept.etag)) return undefined;
  const listedAt = whole ? 0 : kept.listedAt;
  const places = new Map<string, Place>(whole ? [] : (kept.places ?? placesIn(reply, kept.texts)));
  for (const { id, json, position } of changes) {
    const before = places.get(id);
    // An item with a position up to `listedAt` was already in the list that was read at that version. It keeps the
    // negative position that `placesIn` gave it, so it stays in its place.
    const placed = before && position <= listedAt ? before.position : position;
    if (json === undefined) places.delete(id);
    else places.set(id, { json, position: placed });
  }
  const texts = [...places.values()].sort((one, other) => one.position - other.position).map(({ json }) => json);
  const characters = texts.reduce((sum, { length }) => sum + length, 0);
  return { etag, texts, characters, places, listedAt };
}

/**
 * Gives negative positions to items whose positions are unknown, in the order of the list. Items that are added later
 * have positions above zero, so they come after these items.
 */
function placesIn(reply: Reply, texts: readonly string[]): [id: string, place: Place][] {
  return texts.map((json, index) => {
    const id = reply.parse(json, idOf)?.toLowerCase() ?? "";
    return [id, { json, position: index - texts.length }];
  });
}

/**
 * The part of an ETag that says how the service spells field names. Undefined if the service leaves them as clients
 * sent them.
 */
function spellingOf(etag: string): string | undefined {
  return ["-camel", "-pascal"].find((suffix) => etag.includes(suffix));
}
