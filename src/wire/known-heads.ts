// Recognises the heads of recent requests by their bytes, on any connection: clients repeat their requests, and a proxy
// sends those of one client on any of its connections. Comparing bytes is cheaper than parsing them, and what the handler
// has found out about a head, such as who has signed in, is remembered with it. If a head is new, its header fields may
// still be known, because a client sends the same fields with each path and before each body.
// Why: docs/decisions/0010-do-less-for-each-request.md

import { type Fields, parseFields, parseHead, type RequestHead } from "./request-head.ts";

/** Heads and fields are forgotten after this time, because they may contain credentials. */
const keptMs = 10_000;
/** About how many bytes heads may take together, and how many fields. When there are more, all are forgotten. */
const headBytesMax = 8 * 1024 ** 2;
const fieldBytesMax = 4 * 1024 ** 2;
/** About how many bytes a head takes, and each of its fields, besides its text and its bytes. */
const headBytes = 1_000;
const fieldBytes = 100;
/** How many checksums of heads that came once are kept. With a few thousand clients, few take another's place. */
const seenMax = 32_768;

interface KnownHead {
  /** From the request line to the empty line. */
  readonly bytes: Uint8Array;
  readonly head: RequestHead;
  /** What the handler wants to know again. */
  readonly remembered: object;
}

export class KnownHeads {
  /** By their checksums. Of two heads with the same checksum, the later one is known. */
  readonly #heads = new Recent<number, KnownHead>(headBytesMax);
  /** A head is remembered when it comes again, because remembering costs more than what it saves once. */
  readonly #seen = new Uint32Array(seenMax);
  /** By their text. Clients that may not use the service can fill this, but not the heads. */
  readonly #fields = new Recent<string, Fields>(fieldBytesMax);

  /** Undefined if these are not exactly the bytes of a head that was added. */
  find(bytes: Buffer): KnownHead | undefined {
    // Every head ends with a line feed, and the JSON of most bodies does not.
    if (bytes[bytes.length - 1] !== 0x0a) return undefined;
    const known = this.#heads.get(Bun.hash.crc32(bytes));
    return known && bytes.equals(known.bytes) ? known : undefined;
  }

  /** Remembers a head that comes again. */
  add({ bytes, head, remembered }: KnownHead): void {
    const checksum = Bun.hash.crc32(bytes);
    const place = checksum % seenMax;
    const isRepeated = this.#seen[place] === checksum;
    this.#seen[place] = checksum;
    if (!isRepeated) return;
    const size = 2 * bytes.length + headBytes + fieldBytes * head.headers.size;
    // The bytes may be a part of a larger buffer, so they are copied.
    this.#heads.add(checksum, { bytes: new Uint8Array(bytes), head, remembered }, size);
  }

  /** As `parseHead`. Fields that were read shortly before are the same object. */
  parse(text: string): RequestHead {
    return parseHead(text, (fieldsText) => {
      const known = this.#fields.get(fieldsText);
      if (known) return known;
      const fields = parseFields(fieldsText);
      // A part of a text keeps all of it in memory. So the request line counts, too.
      this.#fields.add(fieldsText, fields, text.length + fieldBytes * fields.size);
      return fields;
    });
  }
}

/** What was added in the last few seconds. */
class Recent<Key, Value> {
  readonly #bytesMax: number;
  readonly #values = new Map<Key, Value>();
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get(key: Key): Value | undefined {
    return this.#values.get(key);
  }

  add(key: Key, value: Value, bytes: number): void {
    if (this.#bytes + bytes > this.#bytesMax) this.#forget();
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#forget();
    }, keptMs).unref();
    this.#values.set(key, value);
    this.#bytes += bytes;
  }

  #forget(): void {
    this.#values.clear();
    this.#bytes = 0;
  }
}
