// The list as the service has it: the items in their order, with their exact texts, and the token that names this state.
// It is data only: its follower brings what has changed, and the response to a write brings the state of its item.

import { parseToken } from "../../items/token.ts";
import type { ItemText, ListChange, WatchedItem } from "./watch.ts";

/** An item of the list with its exact text. */
export interface Entry<Item> extends WatchedItem<Item> {
  readonly json: string;
}

/** The text and the ETag of an item at one moment. It has no text if the item is gone. */
export type ItemState = Partial<Pick<ItemText, "json" | "etag">>;

/** A list that was kept on the device, or is to be kept there, with the token that names its state. */
export type ListCopy = Omit<ListChange, "whole">;

export class Mirror<Item> {
  readonly parse: (json: string) => Item;
  #entries = new Map<string, Entry<Item>>();
  #items: readonly Entry<Item>[] = [];
  #isSorted = true;
  /** Names the state of the list. Undefined if there is no list yet, or if the server has no change feed. */
  token: string | undefined;
  /** False until there are items to show. */
  isLoaded = false;

  constructor(parse: (json: string) => Item) {
    this.parse = parse;
  }

  /** Names the history of the store that the list is from. */
  get epoch(): string | undefined {
    return parseToken(this.token ?? "")?.epoch;
  }

  /** The items in the order of the list. The same array until one of them changes. */
  get items(): readonly Entry<Item>[] {
    if (!this.#isSorted) {
      const sorted = [...this.#entries.values()].sort((one, other) => one.position - other.position);
      this.#items = unchanged(this.#items, sorted);
      this.#isSorted = true;
    }
    return this.#items;
  }

  /** The list as it can be kept on the device. */
  get copy(): ListCopy {
    return { token: this.token, items: this.items.map(({ item: _, ...kept }) => kept) };
  }

  stateOf(id: string): ItemState | undefined {
    return this.#entries.get(id);
  }

  /** Starts from a kept list. Without one, forgets the list. */
  startFrom(copy: ListCopy | undefined): void {
    this.apply({ whole: true, items: copy?.items ?? [], token: copy?.token });
    this.isLoaded = copy !== undefined;
  }

  /**
   * Takes over what the response to a write says about an item, so that the change feed need not repeat it first. If
   * `json` is undefined, the state with this ETag was removed. The feed may have been faster, and know something newer,
   * or another store.
   */
  put(id: string, { json, etag }: ItemState): void {
    const before = this.#entries.get(id);
    const state = parseToken(etag ?? "");
    if (state && this.epoch !== undefined && state.epoch !== this.epoch) return;
    if (isOlder(etag, before?.etag) || (json !== undefined && isOlder(etag, this.token))) return;
    const position = before?.position ?? state?.version ?? Number.MAX_SAFE_INTEGER;
    this.#set(this.#entries, { id, json, etag, position }, before);
  }

  /** Takes over what has changed. If an item cannot be parsed, throws, and a whole list changes nothing. */
  apply({ whole, items, token }: ListChange): void {
    const entries = whole ? new Map<string, Entry<Item>>() : this.#entries;
    for (const item of items) this.#set(entries, item, this.#entries.get(item.id));
    this.#entries = entries;
    this.token = token;
    this.#isSorted = false;
    this.isLoaded = true;
  }

  /**
   * Keeps the earlier entry if nothing has changed. If only the ETag or the position has changed, the new entry has the
   * same `item` object as the earlier one.
   */
  #set(
    entries: Map<string, Entry<Item>>,
    { id, json, etag, position }: ItemText,
    before: Entry<Item> | undefined,
  ): void {
    this.#isSorted = false;
    if (json === undefined) entries.delete(id);
    // A write may have told us about a newer state than this change does.
    else if (before && isOlder(etag, before.etag)) entries.set(id, before);
    else {
      const item = before?.json === json ? before.item : this.parse(json);
      const entry = { id, item, etag, position, json };
      entries.set(id, before ? unchanged(before, entry) : entry);
    }
  }
}

/** The earlier object or array, if the new one has the same members. */
export function unchanged<Value extends object>(before: Value, after: Value): Value {
  if (Array.isArray(before) && Array.isArray(after))
    return before.length === after.length && after.every((member, index) => member === before[index]) ? before : after;
  const names = Object.keys(after);
  const isSame = (name: string) => Reflect.get(before, name) === Reflect.get(after, name);
  return names.length === Object.keys(before).length && names.every(isSame) ? before : after;
}

/** Whether the first ETag or token names an older state than the second, in the same history of the store. */
export function isOlder(one: string | undefined, other: string | undefined): boolean {
  const [first, second] = [parseToken(one ?? ""), parseToken(other ?? "")];
  return first !== undefined && first.epoch === second?.epoch && first.version < second.version;
}
