// The client for a to-do service. It works with any server that implements the specification, in either of its two
// forms. If a server lacks something optional (status 201, ETags, problem documents, the request for one item), the
// client does without it.

import { scanIfObject } from "../items/json-text.ts";
import type {
  ChangeOptions,
  ItemsOptions,
  RequestOptions,
  Stored,
  TodoClientOptions,
  WriteOptions,
} from "./client-options.ts";
import type { NewItem, TodoItem } from "./codecs.ts";
import { hasStatus, isTodoError, type PreconditionFailedError } from "./errors.ts";
import { identified, idIn, idOf, sameContent, sameId, withEdits } from "./item-text.ts";
import { LiveList, type LiveListOptions } from "./live/live-list.ts";
import { type WatchEvent, type WatchOptions, watch } from "./live/watch.ts";
import { backoffMs, Requester } from "./requester.ts";
import { isBrowser, isReactNative } from "./runtime.ts";
import { pause } from "./time-limit.ts";

/** Of this many changes, a client remembers the ETags. */
const storedMax = 100;

export class TodoClient<Item = TodoItem> {
  /** @internal */
  readonly requester: Requester<Item>;
  /** The ETags of the last changes that this client knows to be stored. */
  #stored: readonly string[] = [];

  constructor(baseUrl: string | URL, options: TodoClientOptions<Item> = {}) {
    this.requester = new Requester(baseUrl, options);
  }

  /** The address of the list. */
  get url(): string {
    return this.requester.listUrl;
  }

  /** Reads every item, in the order of the list. */
  list(options: RequestOptions = {}): Promise<Item[]> {
    return this.requester.retrying(options, async () => {
      const items: Item[] = [];
      const reply = await this.requester.list(options);
      for await (const json of reply.objects()) items.push(this.requester.parseItem(reply.request, json));
      return items;
    });
  }

  /**
   * Yields the items as the list arrives. The client does not read far ahead of your loop and keeps nothing, so memory
   * use does not grow with the list. If the connection breaks, the loop throws.
   */
  async *items(options: ItemsOptions = {}): AsyncGenerator<Item, void, undefined> {
    const reply = await this.requester.retrying(options, () => this.requester.list(options));
    for await (const json of reply.objects(options.onProgress)) yield this.requester.parseItem(reply.request, json);
  }

  /**
   * Reads one item. If the server does not offer the request for one item, the client reads the list and looks for the
   * item there.
   */
  async get(id: string, options: RequestOptions = {}): Promise<Stored<Item>> {
    const { json: _, ...stored } = await this.#find(id, options);
    return stored;
  }

  /**
   * Stores a new item. If it has no ID, the client generates one. With the ID, the request can be sent again after a
   * lost response, without creating a second item. If a later attempt finds an item with this ID and this content, an
   * earlier attempt created it, and the call succeeds.
   */
  async create(item: NewItem<Item>, options: RequestOptions = {}): Promise<Stored<Item>> {
    const { codec, newId } = this.requester.options;
    const { text: json, id, isOwnId } = identified(codec.stringify(item), newId);
    // When a connection breaks, a browser may send a request again without telling us. So if an ID that we generated
    // just now is already taken, the browser's first attempt probably created the item. Then compare the stored item
    // with ours, as after a lost reply.
    return this.requester.retrying(options, async (replyWasLost) => {
      try {
        const { reply, text } = await this.requester.write("POST", id, options, json);
        // Some servers send an empty body, or something other than the item. Then the client returns the item that it
        // sent.
        const stored = sameId(idIn(scanIfObject(text)), id) ? text : json;
        return { id, item: this.requester.parseItem(reply.request, stored), etag: reply.etag };
      } catch (error) {
        if (!((replyWasLost || isOwnId) && hasStatus(error, 409))) throw error;
        const found = await this.#find(id, options);
        if (!sameContent(found.json, json)) throw error;
        return { id, item: found.item, etag: found.etag };
      }
    });
  }

  /** Replaces a whole item, and returns the ETag of the new state if the server has ETags. */
  async update(item: Item, options: WriteOptions = {}): Promise<{ readonly etag: string | undefined }> {
    const json = this.requester.options.codec.stringify(item);
    const id = idOf(json);
    if (id === undefined) throw new TypeError("An item to be updated needs its ID.");
    return this.requester.retrying(options, (replyWasLost) =>
      this.#updateOnce(id, json, replyWasLost, replyWasLost || maySendTwice(), options),
    );
  }

  /**
   * Changes an item: reads it, calls `edit` with it, and stores the fields in which the item that `edit` returns
   * differs. All other fields keep their exact text. If somebody else has changed the item in the meantime, it is read
   * again and `edit` is called again. So nobody's change is lost. If `edit` returns the item unchanged, nothing is
   * stored.
   *
   * If the server has no ETags, a change that somebody else makes at the same moment is overwritten.
   */
  async change(
    id: string,
    edit: (item: Item) => Item | Promise<Item>,
    { attempts = 10, signal }: ChangeOptions = {},
  ): Promise<Stored<Item>> {
    const { codec } = this.requester.options;
    /** Says that the item was already as this call wants it: the browser has sent the change twice, or others made it. */
    let doubt: PreconditionFailedError | undefined;
    for (let attempt = 1; ; attempt++) {
      const { id: found, item, json: before, etag: ifMatch } = await this.#find(id, { signal });
      const json = withEdits(before, codec.stringify(item), codec.stringify(await edit(item)));
      if (json === before) return { id: found, item: codec.parse(before), etag: ifMatch };
      if (doubt && !this.#stored.includes(doubt.currentEtag ?? "")) throw Object.assign(doubt, { mayBeStored: true });
      try {
        const { etag } = await this.requester.retrying({ signal }, (replyWasLost) =>
          this.#updateOnce(found, json, replyWasLost, replyWasLost, { ifMatch, signal }),
        );
        if (etag !== undefined) this.#stored = [...this.#stored, etag].slice(-storedMax);
        return { id: found, item: codec.parse(json), etag };
      } catch (error) {
        if (!isTodoError(error, "PreconditionFailedError") || error.mayBeStored || attempt >= attempts) throw error;
        doubt = maySendTwice() && isStored(error, json) ? error : undefined;
        await pause(backoffMs(attempt, 10, 500), signal);
      }
    }
  }

  /**
   * Deletes an item. A todoitems service returns an ETag only if it is read-only and therefore did not keep the
   * deletion. That ETag ends in `-not-kept"`, with the quotation mark.
   */
  async remove(id: string, options: WriteOptions = {}): Promise<{ readonly etag: string | undefined }> {
    return this.requester.retrying(options, async (replyWasLost) => {
      try {
        return { etag: (await this.requester.write("DELETE", id, options)).etag };
      } catch (error) {
        // If the reply to an earlier attempt was lost, "not found" probably means that the earlier attempt deleted the
        // item. So the call succeeds.
        if (!(replyWasLost && hasStatus(error, 404))) throw error;
        return { etag: undefined };
      }
    });
  }

  /**
   * Yields a `snapshot` of the list and then every change, until you leave the loop or abort `signal`. Changes arrive
   * live if the server has a change feed; otherwise the list is requested every `pollMs`. A lost connection is reported
   * to `onState` and retried.
   */
  watch(options: WatchOptions = {}): AsyncGenerator<WatchEvent<Item>, void, undefined> {
    return watch(this.requester, options);
  }

  /**
   * The list as a value that stays current, for user interfaces. It is connected while somebody subscribes to it. See
   * `LiveList`.
   */
  liveList(options: LiveListOptions = {}): LiveList<Item> {
    return new LiveList(this.requester, options);
  }

  async #updateOnce(id: string, json: string, replyWasLost: boolean, mayFindItself: boolean, options: WriteOptions) {
    try {
      return { etag: (await this.requester.write("PUT", id, options, json)).etag };
    } catch (error) {
      // An earlier attempt may have stored the item, so that `ifMatch` no longer matches. If the item on the server equals
      // ours, the update has succeeded.
      if (!isTodoError(error, "PreconditionFailedError")) throw error;
      if (mayFindItself && isStored(error, json)) return { etag: error.currentEtag };
      error.mayBeStored = replyWasLost;
      throw error;
    }
  }

  #find(id: string, options: RequestOptions): Promise<Stored<Item> & { readonly json: string }> {
    return this.requester.retrying(options, () => this.requester.find(id, options));
  }
}

/** Whether the item on the server is the one that was sent. */
function isStored({ currentText }: PreconditionFailedError, json: string): boolean {
  return currentText !== undefined && sameContent(currentText, json);
}

/** Browsers, and Android under React Native, send a request again when a kept connection breaks, without telling us. */
function maySendTwice(): boolean {
  return isBrowser() || isReactNative();
}
