// The operations on items. Each operation reads the request, lets the collection decide, and turns the outcome into an
// answer.

import type { Bookmark } from "../collection/engine.ts";
import type { CurrentItem } from "../collection/item-list.ts";
import type { TodoCollection } from "../collection/todo-collection.ts";
import type { DecidedOutcome } from "../collection/write-rules.ts";
import type { FieldNames } from "../items/field-names.ts";
import { checkRequiredFields } from "../items/required-fields.ts";
import { checkAgainstPath, identify, parsePathId, parseTodoItem, type TodoItemDraft } from "../items/todo-item.ts";
import { Answer, type HeaderFields, type HttpRequest, PieceBody } from "../wire/message.ts";
import { checkMediaType, decodeBody } from "./body.ts";
import { checkIfMatch, entityTag, ifMatchHolds, ifNoneMatchHits, writeCondition } from "./conditions.ts";
import { jsonHeaders, serviceLinks } from "./headers.ts";
import type { Log } from "./log.ts";
import { prefersMinimal } from "./prefer.ts";
import { Problem, problemAnswer } from "./problem.ts";
import type { ItemRoute, Route } from "./routes.ts";

export interface ItemOperationsOptions {
  readonly fieldNames: FieldNames;
  readonly bodyBytesMax: number;
  /** A create or an update is refused if the item lacks one of these fields. */
  readonly requiredFields: readonly string[];
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
  readonly #collection: TodoCollection;
  readonly #options: ItemOperationsOptions;
  #list: SentList | undefined;
  #warnedOfListSize = false;

  constructor(collection: TodoCollection, options: ItemOperationsOptions) {
    this.#collection = collection;
    this.#options = options;
    this.#warnOfListSize();
  }

  /** Answers with the list or with one item. */
  get(request: HttpRequest, route: Route): Answer | Promise<Answer> {
    const pathId = pathIdOf(route);
    checkIfMatch(request.headers);
    const answer = () => (pathId === undefined ? this.#answerList(request) : this.#answerItem(request, pathId));
    const refreshed = this.#collection.refresh();
    return refreshed ? refreshed.then(answer) : answer();
  }

  async create(request: HttpRequest, route: Route): Promise<Answer> {
    const draft = await this.#readDraft(request);
    const item = identify(draft, pathIdOf(route), true);
    const outcome = await this.#collection.write({ kind: "create", item });
    if (outcome.kind !== "done") return this.#notDone(request, outcome, item.id);
    const ETag = this.#tagOfWrite(outcome);
    const Location = `/api/todoitems/${item.id}`;
    if (prefersMinimal(request.headers)) {
      return new Answer(201, { ETag, Location, "Preference-Applied": "return=minimal" });
    }
    return new Answer(201, { ...jsonHeaders, ETag, Location }, this.#collection.render(item.json));
  }

  async update(request: HttpRequest, route: Route): Promise<Answer> {
    const draft = await this.#readDraft(request);
    const item = identify(draft, pathIdOf(route), false);
    const outcome = await this.#collection.write({ kind: "update", item, condition: this.#condition(request) });
    if (outcome.kind !== "done") return this.#notDone(request, outcome, item.id);
    return new Answer(204, { ETag: this.#tagOfWrite(outcome) });
  }

  async delete(request: HttpRequest, route: ItemRoute): Promise<Answer> {
    const draft = await this.#readOptionalDraft(request);
    const id = parsePathId(route.segment);
    if (draft) checkAgainstPath(draft, id);
    const outcome = await this.#collection.write({ kind: "delete", id, condition: this.#condition(request) });
    if (outcome.kind !== "done") return this.#notDone(request, outcome, id);
    return new Answer(204, outcome.kept ? {} : { ETag: this.#tagOfWrite(outcome) });
  }

  #answerList({ headers }: HttpRequest): Answer {
    const list = this.#currentList();
    if (!ifMatchHolds(headers, list.etag)) throw listChanged(list.etag);
    return ifNoneMatchHits(headers, list.etag) ? list.notModified : list.whole;
  }

  /**
   * Returns the same answer objects until something changes, so that their encoded and compressed forms can be kept.
   */
  #currentList(): SentList {
    const { epoch, version, count } = this.#collection;
    if (this.#list?.version === version && this.#list.epoch === epoch) return this.#list;
    this.#warnOfListSize();
    const etag = this.#tag(version);
    const caching = { ETag: etag, "Cache-Control": "no-cache", Vary: "Accept-Encoding" };
    const headers = { ...jsonHeaders, ...caching, "X-Total-Count": String(count), ...serviceLinks };
    const body = new PieceBody(this.#collection.list());
    this.#list = {
      epoch,
      version,
      etag,
      whole: new Answer(200, headers, body, { isStanding: true }),
      notModified: new Answer(304, caching, undefined, { isStanding: true }),
    };
    return this.#list;
  }

  #answerItem({ headers }: HttpRequest, id: string): Answer {
    const item = this.#collection.read(id);
    if (!item) throw recordNotFound(id);
    const etag = this.#tag(item.version);
    const caching = { ETag: etag, "Cache-Control": "no-cache" };
    if (!ifMatchHolds(headers, etag)) return this.#preconditionFailed(headers, item);
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

  #condition(request: HttpRequest) {
    return writeCondition(request.headers, (version) => this.#tag(version));
  }

  #notDone({ headers }: HttpRequest, outcome: Exclude<DecidedOutcome, { kind: "done" }>, id: string): Answer {
    switch (outcome.kind) {
      case "id-in-use":
        throw new Problem(
          "TodoItemIDInUse",
          `An item with ID ${id} already exists. Update it with PUT, or create yours with another ID.`,
        );
      case "not-found":
        throw recordNotFound(id);
      case "store-full":
        throw new Problem(
          "StoreFull",
          "The store has reached its size limit, so the change was not saved. Delete items, or ask the operator to raise --store-limit.",
        );
      case "condition-failed":
        return this.#preconditionFailed(headers, outcome.current, outcome.epoch);
    }
  }

  #preconditionFailed(headers: HeaderFields, { version, json }: CurrentItem, epoch?: string): Answer {
    const ETag = this.#tag(version, epoch);
    const detail = ifMatchHolds(headers, ETag)
      ? "The item is in a state that If-None-Match names, so nothing was changed. Its current state is in `current`. To change the item in any state, send the request without If-None-Match."
      : "The item has changed: it is not in the state that If-Match names. Its current state is in `current`. Merge your change into it, and send the request again with the ETag of this response in If-Match.";
    return problemAnswer(new Problem("PreconditionFailed", detail, { headers: { ETag } }), json);
  }

  #tag(version: number, epoch = this.#collection.epoch): string {
    return entityTag(epoch, version, this.#options.fieldNames);
  }

  /**
   * If `kept` is false, the instance is read-only: it answered a write but did not store it. The ETag of such a write
   * gets a suffix, because another write may later be stored under the same version and must have a different ETag. The
   * suffix also tells clients that nothing was stored. For this purpose, even a deletion that was not stored gets an
   * ETag.
   */
  #tagOfWrite({ epoch, version, kept }: Extract<DecidedOutcome, { kind: "done" }>): string {
    const tag = this.#tag(version, epoch);
    return kept ? tag : `${tag.slice(0, -1)}-not-kept"`;
  }

  #warnOfListSize(): void {
    if (this.#warnedOfListSize || this.#collection.listBytes <= clientBufferBytes) return;
    this.#warnedOfListSize = true;
    this.#options.log(
      "warn",
      `The list is longer than ${clientBufferBytes.toLocaleString("en")} bytes. The tutorial's Xamarin.Forms app of 2016 and 2017 cannot read it: raise MaxResponseContentBufferSize in its RestService.cs. Other clients are not affected.`,
      { listBytes: this.#collection.listBytes },
    );
  }
}

function pathIdOf(route: Route): string | undefined {
  return route.resource === "item" ? parsePathId(route.segment) : undefined;
}

function recordNotFound(id: string): Problem {
  return new Problem("RecordNotFound", `There is no item with the ID ${id}. GET /api/todoitems/ lists all items.`);
}

function listChanged(etag: string): Problem {
  const detail = "The list is not in the state that If-Match names. To read the list as it is now, leave out If-Match.";
  return new Problem("PreconditionFailed", detail, { headers: { ETag: etag } });
}
