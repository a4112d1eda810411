// Remembers the header fields of recent requests. Clients send the same ones again and again, with one path or another.
// Looking them up is cheaper than parsing them. And whoever has checked something about them, such as credentials, can
// recognise the object.
// Why: docs/decisions/0010-do-less-for-each-request.md

import { type Fields, parseFields } from "./request-head.ts";

/** Fields are forgotten after this time, because they may contain credentials. */
const keptMs = 10_000;
/** About how many bytes they may take together. When there are more, all are forgotten. */
const bytesMax = 4 * 1024 ** 2;
/** About how many bytes a field takes besides its text. */
const fieldBytes = 100;

export class KnownFields {
  readonly #known = new Map<string, Fields>();
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;

  get count(): number {
    return this.#known.size;
  }

  /** Parses the lines of a head after the first. Throws a `Refusal` if they are malformed. */
  read(text: string): Fields {
    const known = this.#known.get(text);
    if (known) return known;
    const fields = parseFields(text);
    const bytes = text.length + fieldBytes * fields.size;
    if (this.#bytes + bytes > bytesMax) this.#forget();
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#forget();
    }, keptMs).unref();
    this.#known.set(text, fields);
    this.#bytes += bytes;
    return fields;
  }

  #forget(): void {
    this.#known.clear();
    this.#bytes = 0;
  }
}
