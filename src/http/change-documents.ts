// Answers with one JSON document of changes. A reader sends a token, which names the last state that the reader has
// seen, and gets all changes since then. A reader without a usable token gets every item. Readers that ask for the same
// changes share one document.

import type { Bookmark, Change } from "../collection/engine.ts";
import type { TodoCollection } from "../collection/todo-collection.ts";
import type { FieldNames } from "../items/field-names.ts";
import { formatToken } from "../items/token.ts";
import { Answer, type AnswerHeaders, type HttpRequest } from "../wire/message.ts";
import { entityTag, ifNoneMatchHits, readOnlyTag } from "./conditions.ts";
import { jsonHeaders } from "./headers.ts";

/** A document that contains every item is cached for other readers, but no longer than this. */
const wholeKeptMs = 10_000;

/**
 * If the changes that a reader missed have more characters than this, the reader gets the document that contains every
 * item, which all such readers share.
 */
const deltaCharactersMax = 4 * 1024 ** 2;

const encoder = new TextEncoder();

export class ChangeDocuments {
  readonly #collection: TodoCollection;
  readonly #fieldNames: FieldNames;
  #whole: Answer | undefined;
  /** The changes that were sent last, or undefined as the answer if they are too long. The key is token and version. */
  #delta: { readonly key: string; readonly answer: Answer | undefined } | undefined;

  constructor(collection: TodoCollection, fieldNames: FieldNames) {
    this.#collection = collection;
    this.#fieldNames = fieldNames;
  }

  async answer(request: HttpRequest, since: Bookmark | undefined): Promise<Answer> {
    await this.#collection.refresh();
    const headers = this.#headers();
    if (ifNoneMatchHits(request.headers, headers.ETag)) return new Answer(304, headers);
    return (since && this.#deltaAnswer(since, headers)) ?? this.#wholeAnswer(headers);
  }

  /** Returns a change as JSON. The item must be spelled as this instance sends it. */
  changeJson(epoch: string, { version, position, id, json }: Change): string {
    const place = `{"version":${version},"position":${position},"id":"${id}"`;
    if (json === null) return `${place},"item":null}`;
    const etag = JSON.stringify(entityTag(epoch, version, this.#fieldNames));
    return `${place},"etag":${etag},"item":${json}}`;
  }

  #headers() {
    const { epoch, version, readOnly } = this.#collection;
    const tag = entityTag(epoch, version, this.#fieldNames);
    return {
      ETag: readOnly ? readOnlyTag(tag) : tag,
      "Cache-Control": "no-cache",
      Vary: "Accept, Last-Event-ID, Accept-Encoding",
    };
  }

  /** Undefined if the changes are not known any more, or are too long. */
  #deltaAnswer(since: Bookmark, headers: AnswerHeaders): Answer | undefined {
    const key = `${formatToken(since)} ${headers["ETag"]}`;
    if (this.#delta?.key !== key) {
      const changes = this.#collection.changesSince(since);
      const document = changes && this.#document(false, changes, deltaCharactersMax);
      this.#delta = { key, answer: document === undefined ? undefined : standing(document, headers) };
    }
    return this.#delta.answer;
  }

  /** Undefined if the document would have more than `max` characters. */
  #document(whole: boolean, changes: Iterable<Change>, max = Number.POSITIVE_INFINITY): string | undefined {
    const { epoch, version, readOnly } = this.#collection;
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
  #wholeAnswer(headers: AnswerHeaders): Answer {
    if (this.#whole && this.#whole.headers["ETag"] === headers["ETag"]) return this.#whole;
    this.#whole = standing(this.#document(true, this.#collection.items()), headers);
    setTimeout(() => (this.#whole = undefined), wholeKeptMs).unref();
    return this.#whole;
  }
}

function standing(document: string | undefined, headers: AnswerHeaders): Answer {
  return new Answer(200, { ...jsonHeaders, ...headers }, encoder.encode(document), { isStanding: true });
}
