// The body of one request: where it ends, what has been kept of it, and who waits for it.

import { BodyContent } from "./body-content.ts";
import { type BodyFraming, ChunkedFraming, LengthFraming } from "./body-framing.ts";
import { bodyTooLarge, type Refusal } from "./refusal.ts";

/**
 * Many clients send a body to its end before they look for an answer, and see only a broken connection if it
 * closes under them. So the rest of a refused body is read and thrown away, up to this length.
 */
export const skippedBytesMax: number = 64 * 1024 ** 2;

export class RequestBody {
  /** Of a request without a body. */
  static readonly none = new RequestBody(0);

  readonly #framing: BodyFraming;
  readonly #content = new BodyContent();
  #keepsContent = false;
  #bytesMax = skippedBytesMax;
  #skippedBytes = 0;
  #reader: PromiseWithResolvers<Uint8Array> | undefined;

  constructor(length: number | "chunked") {
    this.#framing = length === "chunked" ? new ChunkedFraming() : new LengthFraming(length);
  }

  /** Whether its last byte has been taken. */
  get isComplete(): boolean {
    return this.#framing.done;
  }

  /** From now on the content is kept, up to this many bytes. */
  keep(bytesMax: number): void {
    this.#keepsContent = true;
    this.#bytesMax = bytesMax;
  }

  /** From now on the content is thrown away. */
  skip(): void {
    this.#keepsContent = false;
    this.#bytesMax = skippedBytesMax;
  }

  /** Takes what belongs to the body from the start of `input` and returns how many bytes that was. Throws a `Refusal`. */
  take(input: Buffer): number {
    return this.#framing.take(input, (content) => this.#add(content));
  }

  /** The content, once the body is complete. */
  content(): Uint8Array {
    return this.#content.take();
  }

  /** Resolves with the content once the body is complete. */
  wait(): Promise<Uint8Array> {
    this.#reader = Promise.withResolvers();
    return this.#reader.promise;
  }

  /** Hands the complete content to whoever waits for it. */
  deliver(): void {
    this.#reader?.resolve(this.content());
    this.#reader = undefined;
  }

  /** No more will come. */
  fail(refusal: Refusal): void {
    this.#content.drop();
    this.#reader?.reject(refusal);
    this.#reader = undefined;
  }

  #add(content: Buffer): void {
    const bytes = content.length + (this.#keepsContent ? this.#content.length : this.#skippedBytes);
    if (bytes > this.#bytesMax) throw bodyTooLarge(this.#bytesMax, true);
    if (this.#keepsContent) this.#content.add(content);
    else this.#skippedBytes = bytes;
  }
}
