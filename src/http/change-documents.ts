// Answers with one JSON document of changes. A reader sends a token, which names the last state that the reader has
// seen, and gets all changes since then. A reader without a usable token gets every item. Readers that ask for the same
// changes share one document.

import type { Bookmark, Change } from "../collection/engine.ts";
import type { Limits } from "../collection/limits.ts";
import type { Replica } from "../collection/replica.ts";
import type { TodoCollection } from "../collection/todo-collection.ts";
import type { FieldNames } from "../items/field-names.ts";
import { formatToken } from "../items/token.ts";
import { Answer, type AnswerHeaders, type HttpRequest } from "../wire/message.ts";
import { checkState, entityTag, ifNoneMatchHits, withSuffix } from "./conditions.ts";
import { itemCaching, jsonHeaders } from "./headers.ts";
import type { ListMode } from "./routes.ts";

/** A document that contains every item is cached for other readers, but no longer than this. */
const wholeKeptMs = 10_000;

/**
 * If the changes that a reader missed have more characters than this, the reader gets the document that contains every
 * item, which all such readers share.
 */
const deltaCharactersMax = 4 * 1024 ** 2;

const encoder = new TextEncoder();

/** The documents of one list that were sent last. */
interface SentDocuments {
  whole: Answer | undefined;
  /** Undefined as the answer if the changes are too long. The key is token and version. */
  delta: { readonly key: string; readonly answer: Answer | undefined } | undefined;
}

export interface ChangeDocumentsOptions {
  readonly fieldNames: FieldNames;
  readonly limits: Limits;
  readonly lists: ListMode;
}

export class ChangeDocuments {
  readonly #fieldNames: FieldNames;
  readonly #caching: ReturnType<typeof itemCaching>;
  /** They are forgotten together with the list's items. */
  readonly #sent = new WeakMap<Replica, SentDocuments>();
  readonly #portionCharacters: number;
  /** Set after a long document was made, until the next turn of the event loop. */
  #pause: Promise<void> | undefined;

  constructor({ fieldNames, lists, limits }: ChangeDocumentsOptions) {
    this.#fieldNames = fieldNames;
    this.#caching = itemCaching(lists);
    this.#portionCharacters = limits.portionCharacters;
  }

  /** `listNow` returns the list. After a pause it may be another object, because a list that nobody uses is forgotten. */
  async answer(request: HttpRequest, listNow: () => TodoCollection, since: Bookmark | undefined): Promise<Answer> {
    let list: TodoCollection;
    // One long document is made in each turn, so that others are answered between those of many readers.
    do {
      await this.#pause;
      list = listNow();
      await list.refresh();
    } while (this.#pause);
    const headers = this.#headers(list);
    checkState(request.headers, headers.ETag);
    if (ifNoneMatchHits(request.headers, headers.ETag)) return new Answer(304, headers);
    const sent = this.#sent.get(list.contents) ?? { whole: undefined, delta: undefined };
    this.#sent.set(list.contents, sent);
    return (since && this.#deltaAnswer(list, sent, since, headers)) ?? this.#wholeAnswer(list, sent, headers);
  }

  /** Returns a change as JSON. The item must be spelled as this instance sends it. */
  changeJson(epoch: string, { version, position, id, json }: Change): string {
    const place = `{"version":${version},"position":${position},"id":"${id}"`;
    if (json === null) return `${place},"item":null}`;
    const etag = JSON.stringify(entityTag(epoch, version, this.#fieldNames));
    return `${place},"etag":${etag},"item":${json}}`;
  }

  #headers({ epoch, version, readOnly }: TodoCollection) {
    const tag = entityTag(epoch, version, this.#fieldNames);
    return this.#caching({
      ETag: readOnly ? withSuffix(tag, "read-only") : tag,
      "Cache-Control": "no-cache",
      Vary: "Accept, Last-Event-ID, Accept-Encoding",
    });
  }

  /** Undefined if the changes are not known any more, or are too long. */
  #deltaAnswer(list: TodoCollection, sent: SentDocuments, since: Bookmark, headers: AnswerHeaders): Answer | undefined {
    const key = `${formatToken(since)} ${headers["ETag"]}`;
    if (sent.delta?.key !== key) {
      const changes = list.changesSince(since);
      const document = changes && this.#document(list, false, changes, deltaCharactersMax);
      if (document === undefined || document.length > this.#portionCharacters) this.#pauseUntilNextTurn();
      sent.delta = { key, answer: document === undefined ? undefined : standing(document, headers) };
    }
    return sent.delta.answer;
  }

  #pauseUntilNextTurn(): void {
    this.#pause = new Promise((resolve) =>
      setImmediate(() => {
        this.#pause = undefined;
        resolve();
      }),
    );
  }

  /** Undefined if the document would have more than `max` characters. */
  #document(
    { epoch, version, readOnly }: TodoCollection,
    whole: boolean,
    changes: Iterable<Change>,
    max = Number.POSITIVE_INFINITY,
  ): string | undefined {
    const beginning = `{"epoch":"${epoch}","version":${version},"readOnly":${readOnly},"whole":${whole},"changes":[`;
    const texts: string[] = [];
    let characters = beginning.length;
    for (const change of changes) {
      const text = this.changeJson(epoch, change);
      characters += text.length + 1;
      if (characters > max) return undefined;
      texts.push(text);
    }
    return `${beginning}${texts.join(",")}]}`;
  }

  /** The answer with every item. Readers that ask for it at the same version share it, and its compressed form. */
  #wholeAnswer(list: TodoCollection, sent: SentDocuments, headers: AnswerHeaders): Answer {
    if (sent.whole && sent.whole.headers["ETag"] === headers["ETag"]) return sent.whole;
    const whole = standing(this.#document(list, true, list.items()), headers);
    sent.whole = whole;
    setTimeout(() => (sent.whole = undefined), wholeKeptMs).unref();
    return whole;
  }
}

function standing(document: string | undefined, headers: AnswerHeaders): Answer {
  return new Answer(200, { ...jsonHeaders, ...headers }, encoder.encode(document), { isStanding: true });
}
