// The operations on items. Each operation reads the request, lets the collection decide, and turns the outcome into an
// answer.

import type { Bookmark } from "../collection/engine.ts";
import type { CurrentItem } from "../collection/item-list.ts";
import { type ListKey, rootList } from "../collection/list-key.ts";
import type { Replica } from "../collection/replica.ts";
import type { TodoCollection } from "../collection/todo-collection.ts";
import type { TodoStore } from "../collection/todo-store.ts";
import type { DecidedOutcome } from "../collection/write-rules.ts";
import { type FieldNames, respell } from "../items/field-names.ts";
import { checkRequiredFields } from "../items/required-fields.ts";
import { checkAgainstPath, identify, parsePathId, parseTodoItem, type TodoItemDraft } from "../items/todo-item.ts";
import { Answer, type HeaderFields, type HttpRequest, PieceBody } from "../wire/message.ts";
import { checkMediaType, decodeBody } from "./body.ts";
import {
  checkIfMatch,
  checkState,
  entityTag,
  ifMatchHolds,
  ifNoneMatchHits,
  withSuffix,
  writeCondition,
} from "./conditions.ts";
import { itemCaching, jsonHeaders, serviceLinks } from "./headers.ts";
import type { Log } from "./log.ts";
import { prefersMinimal } from "./prefer.ts";
import { Problem, problemAnswer } from "./problem.ts";
import { type ItemRoute, type ListMode, type ListRoute, listAddress } from "./routes.ts";

export interface ItemOperationsOptions {
  readonly fieldNames: FieldNames;
  readonly bodyBytesMax: number;
  /** A create or an update is refused if the item lacks one of these fields. */
  readonly requiredFields: readonly string[];
  readonly lists: ListMode;
  readonly log: Log;
}

/** The specification's own client does not read responses with more bytes than this (section Limits, note 2). */
const clientBufferBytes = 256_000;

/** The list at one version: its ETag, and the prepared answers with status 200 and 304. */
interface SentList extends Bookmark {
  readonly etag: string;
  readonly whole: Answer;
  readonly notModified: Answer;
}

export class ItemOperations {
  readonly #store: TodoStore;
  readonly #options: ItemOperationsOptions;
  readonly #caching: ReturnType<typeof itemCaching>;
  readonly #sent = new WeakMap<Replica, SentList>();
  #warnedOfListSize = false;

  constructor(store: TodoStore, options: ItemOperationsOptions) {
    this.#store = store;
    this.#options = options;
    this.#caching = itemCaching(options.lists);
    const root = store.list(rootList);
    if (root.isCurrent) this.#warnOfListSize(root);
  }

  /** Answers with the list or with one item. */
  get(request: HttpRequest, route: ListRoute, key: ListKey): Answer | Promise<Answer> {
    const pathId = pathIdOf(route);
    checkIfMatch(request.headers);
    const list = this.#store.list(key);
    const answer = () =>
      pathId === undefined ? this.#answerList(request, list) : this.#answerItem(request, route, list, pathId);
    const refreshed = list.refresh();
    return refreshed ? refreshed.then(answer) : answer();
  }

  async create(request: HttpRequest, route: ListRoute, key: ListKey): Promise<Answer> {
    const draft = await this.#readDraft(request);
    const item = identify(draft, pathIdOf(route), true);
    const outcome = await this.#store.list(key).write({ kind: "create", item });
    if (outcome.kind !== "done") return this.#notDone(request, route, outcome, item.id);
    const ETag = this.#tagOfWrite(outcome);
    const Location = `${listAddress(route)}/api/todoitems/${item.id}`;
    if (prefersMinimal(request.headers)) {
      return new Answer(201, { ETag, Location, "Preference-Applied": "return=minimal" });
    }
    const headers = this.#caching({ ...jsonHeaders, ETag, Location });
    return new Answer(201, headers, respell(item.json, this.#options.fieldNames));
  }

  async update(request: HttpRequest, route: ListRoute, key: ListKey): Promise<Answer> {
    const draft = await this.#readDraft(request);
    const item = identify(draft, pathIdOf(route), false);
    const list = this.#store.list(key);
    const outcome = await list.write({ kind: "update", item, condition: this.#condition(request, list) });
    if (outcome.kind !== "done") return this.#notDone(request, route, outcome, item.id);
    return new Answer(204, { ETag: this.#tagOfWrite(outcome) });
  }

  async delete(request: HttpRequest, route: ItemRoute, key: ListKey): Promise<Answer> {
    const draft = await this.#readOptionalDraft(request);
    const id = parsePathId(route.segment);
    if (draft) checkAgainstPath(draft, id);
    const list = this.#store.list(key);
    const outcome = await list.write({ kind: "delete", id, condition: this.#condition(request, list) });
    if (outcome.kind !== "done") return this.#notDone(request, route, outcome, id);
    return new Answer(204, outcome.kept ? {} : { ETag: this.#tagOfWrite(outcome) });
  }

  #answerList({ headers }: HttpRequest, list: TodoCollection): Answer {
    const sent = this.#currentList(list);
    checkState(headers, sent.etag);
    return ifNoneMatchHits(headers, sent.etag) ? sent.notModified : sent.whole;
  }

  /**
   * Returns the same answer objects until something changes, so that their encoded and compressed forms can be kept.
   * They are forgotten together with the list's items.
   */
  #currentList(list: TodoCollection): SentList {
    const { contents, epoch, version } = list;
    const sent = this.#sent.get(contents);
    if (sent?.version === version && sent.epoch === epoch) return sent;
    this.#warnOfListSize(list);
    const etag = this.#tag(epoch, version);
    const caching = this.#caching({ ETag: etag, "Cache-Control": "no-cache", Vary: "Accept-Encoding" });
    const headers = { ...jsonHeaders, ...caching, "X-Total-Count": String(list.count), ...serviceLinks };
    const current = {
      epoch,
      version,
      etag,
      whole: new Answer(200, headers, new PieceBody(list.pieces()), { isStanding: true }),
      notModified: new Answer(304, caching, undefined, { isStanding: true }),
    };
    this.#sent.set(contents, current);
    return current;
  }

  #answerItem({ headers }: HttpRequest, route: ListRoute, list: TodoCollection, id: string): Answer {
    const item = list.read(id);
    if (!item) throw recordNotFound(route, id);
    const etag = this.#tag(list.epoch, item.version);
    const caching = this.#caching({ ETag: etag, "Cache-Control": "no-cache" });
    if (!ifMatchHolds(headers, etag)) return this.#preconditionFailed(headers, item, list.epoch);
    if (ifNoneMatchHits(headers, etag)) return new Answer(304, caching);
    return new Answer(200, { ...jsonHeaders, ...caching }, item.json);
  }

  async #readDraft(request: HttpRequest): Promise<TodoItemDraft> {
    const bytes = await request.readBody(this.#options.bodyBytesMax);
    checkMediaType(request.headers.get("content-type"));
    const draft = parseTodoItem(decodeBody(bytes, request.headers));
    checkRequiredFields(draft.object, this.#options.requiredFields);
    return draft;
  }

  /**
   * A DELETE request may have an item as its body. The specification lists a body for URL form A, but none for form B.
   * The Content-Type is not checked, because clients in use send various types or none.
   */
  async #readOptionalDraft(request: HttpRequest): Promise<TodoItemDraft | undefined> {
    const bytes = await request.readBody(this.#options.bodyBytesMax);
    if (bytes.byteLength === 0) return undefined;
    return parseTodoItem(decodeBody(bytes, request.headers));
  }

  /** The list's epoch is read when the write is decided, because it may be another one by then. */
  #condition(request: HttpRequest, list: TodoCollection) {
    return writeCondition(request.headers, (version) => this.#tag(list.epoch, version));
  }

  #notDone(
    { headers }: HttpRequest,
    route: ListRoute,
    outcome: Exclude<DecidedOutcome, { kind: "done" }>,
    id: string,
  ): Answer {
    switch (outcome.kind) {
      case "id-in-use":
        throw new Problem(
          "TodoItemIDInUse",
          `An item with ID ${id} already exists. Update it with PUT, or create yours with another ID.`,
        );
      case "not-found":
        throw recordNotFound(route, id);
      case "store-full":
        throw storeFull("The store has reached its", "--store-limit");
      case "owner-full":
        throw storeFull("Your lists have reached their", "--user-limit");
      case "condition-failed":
        return this.#preconditionFailed(headers, outcome.current, outcome.epoch);
    }
  }

  #preconditionFailed(headers: HeaderFields, { version, json }: CurrentItem, epoch: string): Answer {
    const ETag = this.#tag(epoch, version);
    const detail = ifMatchHolds(headers, ETag)
      ? "The item is in a state that If-None-Match names, so nothing was changed. Its current state is in `current`. To change the item in any state, send the request without If-None-Match."
      : "The item has changed: it is not in the state that If-Match names. Its current state is in `current`. Merge your change into it, and send the request again with the ETag of this response in If-Match.";
    const answer = problemAnswer(new Problem("PreconditionFailed", detail, { headers: { ETag } }), json);
    return new Answer(answer.status, this.#caching(answer.headers), answer.body);
  }

  #tag(epoch: string, version: number): string {
    return entityTag(epoch, version, this.#options.fieldNames);
  }

  /**
   * If `kept` is false, the instance is read-only: it answered a write but did not store it. The ETag of such a write
   * gets a suffix, because another write may later be stored under the same version and must have a different ETag. The
   * suffix also tells clients that nothing was stored. For this purpose, even a deletion that was not stored gets an
   * ETag.
   */
  #tagOfWrite({ epoch, version, kept }: Extract<DecidedOutcome, { kind: "done" }>): string {
    const tag = this.#tag(epoch, version);
    return kept ? tag : withSuffix(tag, "not-kept");
  }

  #warnOfListSize({ listBytes }: TodoCollection): void {
    if (this.#warnedOfListSize || listBytes <= clientBufferBytes) return;
    this.#warnedOfListSize = true;
    this.#options.log(
      "warn",
      `The list is longer than ${clientBufferBytes.toLocaleString("en")} bytes. The tutorial's Xamarin.Forms app of 2016 and 2017 cannot read it: raise MaxResponseContentBufferSize in its RestService.cs. Other clients are not affected.`,
      { listBytes },
    );
  }
}

function pathIdOf(route: ListRoute): string | undefined {
  return route.resource === "item" ? parsePathId(route.segment) : undefined;
}

function recordNotFound(route: ListRoute, id: string): Problem {
  const address = `${listAddress(route)}/api/todoitems/`;
  return new Problem("RecordNotFound", `There is no item with the ID ${id}. GET ${address} lists all items.`);
}

function storeFull(whatReachedIts: string, setting: string): Problem {
  const advice = `Delete items, or ask the operator to raise ${setting}.`;
  return new Problem("StoreFull", `${whatReachedIts} size limit, so the change was not saved. ${advice}`);
}
