// Answers with one JSON document of changes. A reader sends a token, which names the last state that the reader has
// seen, and gets all changes since then. A reader without a usable token gets every item. Readers that ask for the same
// changes share one document.

import type { Bookmark, Change } from "../collection/engine.ts";
import type { TodoCollection } from "../collection/todo-collection.ts";
import type { FieldNames } from "../items/field-names.ts";
import { Answer, type HttpRequest } from "../wire/message.ts";
import { entityTag, ifNoneMatchHits, readOnlyTag } from "./conditions.ts";
import { jsonHeaders } from "./headers.ts";
import { MissedChangesCache } from "./missed-changes.ts";

/** A document that contains every item is cached for other readers, but no longer than this. */
const wholeKeptMs = 10_000;

const encoder = new TextEncoder();

export class ChangeDocuments {
  readonly #collection: TodoCollection;
  readonly #fieldNames: FieldNames;
  readonly #missed: MissedChangesCache;
  #whole: { readonly etag: string; readonly document: Uint8Array } | undefined;

  constructor(collection: TodoCollection, fieldNames: FieldNames) {
    this.#collection = collection;
    this.#fieldNames = fieldNames;
    this.#missed = new MissedChangesCache(collection, {
      textsOf: (until, changes) => this.#delta(until, changes),
      portionCharacters: Number.POSITIVE_INFINITY,
    });
  }

  async answer(request: HttpRequest, since: Bookmark | undefined): Promise<Answer> {
    await this.#collection.refresh();
    const unchanged = this.#headers(this.#collection);
    if (ifNoneMatchHits(request.headers, unchanged.ETag)) return new Answer(304, unchanged);
    const missed = since && (await this.#missed.since(since));
    const headers = this.#headers(missed ?? this.#collection);
    const document = missed?.portions?.[0] ?? this.#wholeDelta(headers.ETag);
    return new Answer(200, { ...jsonHeaders, ...headers }, document);
  }

  /**
   * Returns a change as JSON. `spelled` is the changed item as JSON, with field names spelled as this instance sends
   * them. If `spelled` is missing, it is made from the stored JSON.
   */
  changeJson(epoch: string, { version, position, id, json }: Change, spelled?: string): string {
    const place = `{"version":${version},"position":${position},"id":"${id}"`;
    if (json === null) return `${place},"item":null}`;
    const item = spelled ?? this.#collection.render(json);
    const etag = JSON.stringify(entityTag(epoch, version, this.#fieldNames));
    return `${place},"etag":${etag},"item":${item}}`;
  }

  #headers({ epoch, version }: Bookmark) {
    const tag = entityTag(epoch, version, this.#fieldNames);
    return {
      ETag: this.#collection.readOnly ? readOnlyTag(tag) : tag,
      "Cache-Control": "no-cache",
      Vary: "Accept, Last-Event-ID",
    };
  }

  *#delta(until: Bookmark, changes: readonly Change[]): Generator<string> {
    yield this.#beginning(until, false);
    for (const [index, change] of changes.entries())
      yield `${index === 0 ? "" : ","}${this.changeJson(until.epoch, change)}`;
    yield "]}";
  }

  #beginning({ epoch, version }: Bookmark, whole: boolean): string {
    const { readOnly } = this.#collection;
    return `{"epoch":"${epoch}","version":${version},"readOnly":${readOnly},"whole":${whole},"changes":[`;
  }

  // The document with every item. Readers that ask for it at the same version share it.
  #wholeDelta(etag: string): Uint8Array {
    if (this.#whole?.etag === etag) return this.#whole.document;
    const { epoch } = this.#collection;
    const parts = [this.#beginning(this.#collection, true)];
    for (const item of this.#collection.items()) {
      if (parts.length > 1) parts.push(",");
      parts.push(this.changeJson(epoch, item, item.json));
    }
    parts.push("]}");
    const document = encoder.encode(parts.join(""));
    this.#whole = { etag, document };
    setTimeout(() => (this.#whole = undefined), wholeKeptMs).unref();
    return document;
  }
}
