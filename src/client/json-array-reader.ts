// Reads a JSON array of objects while it arrives. Yields the text of each object as soon as its closing brace is there.
// Only the unfinished object is kept, so memory use does not grow with the list.

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const byteOrderMark = [0xef, 0xbb, 0xbf];

/** The bytes are not a JSON array of objects. The message says what is wrong. */
export class NotAnArrayError extends Error {
  override readonly name = "NotAnArrayError";
}

type Place = "start" | "after-bracket" | "inside-object" | "after-object" | "after-comma" | "end";

const expected: Readonly<Record<Exclude<Place, "inside-object">, string>> = {
  start: "an opening bracket",
  "after-bracket": "an object or a closing bracket",
  "after-object": "a comma or a closing bracket",
  "after-comma": "an object",
  end: "nothing more",
};

export class JsonArrayReader {
  // In UTF-8, no byte of a non-ASCII character looks like ASCII punctuation. So objects can be found in the raw bytes,
  // and decoded afterwards.
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  #place: Place = "start";
  #bytesBefore = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** The beginning of the current object, from earlier chunks. */
  #begun = "";

  /** Takes the next bytes, which may be split anywhere, and yields the objects that they complete. */
  *read(chunk: Uint8Array): Generator<string> {
    let at = 0;
    while (at < chunk.length) {
      if (this.#place !== "inside-object") {
        at = this.#between(chunk, at);
        continue;
      }
      const end = this.#skipObject(chunk, at);
      const complete = this.#depth === 0;
      this.#begun += this.#decode(chunk.subarray(at, end), !complete);
      at = end;
      if (!complete) break;
      const text = this.#begun;
      this.#begun = "";
      this.#place = "after-object";
      yield text;
    }
    this.#bytesBefore += chunk.length;
  }

  /** Call this after the last bytes. It throws if the array is not complete. */
  finish(): void {
    if (this.#place === "end") return;
    const missing = this.#place === "inside-object" ? "a closing brace" : expected[this.#place];
    throw new NotAnArrayError(`expected ${missing}, but the document ends after ${this.#bytesBefore} bytes`);
  }

  /**
   * Handles one byte outside of objects, and returns the position where reading continues. That is the next byte,
   * except for an opening brace: the brace is read again as part of its object.
   */
  #between(chunk: Uint8Array, at: number): number {
    const byte = chunk[at] ?? 0;
    if (isSpace(byte) || this.#isByteOrderMark(byte, at)) return at + 1;
    const mayOpen = this.#place === "after-bracket" || this.#place === "after-comma";
    const mayClose = this.#place === "after-bracket" || this.#place === "after-object";
    if (byte === OPEN_BRACE && mayOpen) {
      this.#place = "inside-object";
      return at;
    }
    if (byte === OPEN_BRACKET && this.#place === "start") this.#place = "after-bracket";
    else if (byte === COMMA && this.#place === "after-object") this.#place = "after-comma";
    else if (byte === CLOSE_BRACKET && mayClose) this.#place = "end";
    else this.#refuse(byte, at);
    return at + 1;
  }

  #isByteOrderMark(byte: number, at: number): boolean {
    return this.#place === "start" && byteOrderMark[this.#bytesBefore + at] === byte;
  }

  #refuse(byte: number, at: number): never {
    const what = this.#place === "inside-object" ? "" : expected[this.#place];
    const found = byte < 0x80 ? JSON.stringify(String.fromCharCode(byte)) : `the byte ${byte}`;
    throw new NotAnArrayError(`expected ${what} at byte ${this.#bytesBefore + at + 1}, found ${found}`);
  }

  /**
   * Returns where the current object ends in this chunk, or the chunk's length if the object continues in the next
   * chunk.
   */
  #skipObject(chunk: Uint8Array, from: number): number {
    let inString = this.#inString;
    let escaped = this.#escaped;
    let depth = this.#depth;
    let at = from;
    while (at < chunk.length) {
      const byte = chunk[at++];
      if (inString) {
        if (escaped) escaped = false;
        else if (byte === BACKSLASH) escaped = true;
        else if (byte === QUOTE) inString = false;
      } else if (byte === QUOTE) inString = true;
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        depth--;
        if (depth === 0) break;
      }
    }
    this.#inString = inString;
    this.#escaped = escaped;
    this.#depth = depth;
    return at;
  }

  #decode(bytes: Uint8Array, stream: boolean): string {
    try {
      return this.#decoder.decode(bytes, { stream });
    } catch (cause) {
      throw new NotAnArrayError("it is not valid UTF-8", { cause });
    }
  }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
