// Reads the body of one request: finds its end, keeps or discards its content, and resolves the promise that the
// handler waits for.

import { BodyContent } from "./body-content.ts";
import { type BodyFraming, ChunkedFraming, LengthFraming } from "./body-framing.ts";
import { bodyTooLarge, overloaded, type Refusal } from "./refusal.ts";
import { SharedLimit } from "./shared-limit.ts";

/**
 * Many clients send their whole body before they read the answer. If we closed the connection while they send, they
 * would see a broken connection instead of the answer. So an unwanted body is read and thrown away. If it has more
 * bytes than this, we close the connection after all.
 */
export const skippedBytesMax: number = 64 * 1024 ** 2;

export class RequestBody {
  /** For requests without a body. */
  static readonly none = new RequestBody(0, new SharedLimit(0), "");

  readonly #framing: BodyFraming;
  readonly #content: BodyContent;
  #keepsContent = false;
  #bytesMax = skippedBytesMax;
  #skippedBytes = 0;
  #reader: PromiseWithResolvers<Uint8Array> | undefined;

  constructor(length: number | "chunked", unfinished: SharedLimit, peer: string) {
    this.#content = new BodyContent(unfinished, peer);
    this.#framing = length === "chunked" ? new ChunkedFraming() : new LengthFraming(length);
  }

  /** True once the body's last byte has been taken. */
  get isComplete(): boolean {
    return this.#framing.done;
  }

  /** From now on the content is kept. A body of more than `bytesMax` bytes is refused. */
  keep(bytesMax: number): void {
    this.#keepsContent = true;
    this.#bytesMax = bytesMax;
  }

  /** Throws away the content kept so far and all content that is still to come. */
  skip(): void {
    this.#content.drop();
    this.#keepsContent = false;
    this.#bytesMax = skippedBytesMax;
  }

  /** Takes the bytes of the body from the start of `input` and returns how many it took. May throw a `Refusal`. */
  take(input: Buffer): number {
    const count = this.#framing.take(input, (content) => this.#add(content));
    if (!this.#framing.done && !this.#content.hold()) {
      throw overloaded("Too many request bodies are arriving at the moment");
    }
    return count;
  }

  /** Returns the content. Call this only when the body is complete. */
  content(): Uint8Array {
    return this.#content.take();
  }

  /** Resolves with the content once the body is complete. */
  wait(): Promise<Uint8Array> {
    this.#reader = Promise.withResolvers();
    return this.#reader.promise;
  }

  /** Resolves the promise of `wait` with the complete content. */
  deliver(): void {
    this.#reader?.resolve(this.content());
    this.#reader = undefined;
  }

  /** Rejects the promise of `wait`, because the body is not complete or cannot be used. */
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
