// Finds where a request's body ends (RFC 9112, sections 6 and 7). It ends after the number of bytes that Content-Length
// states, or after the last chunk. The body may arrive in pieces that begin and end anywhere.

import { closingRefusal } from "./refusal.ts";

export interface BodyFraming {
  /** True once the body's last byte has been taken. */
  readonly done: boolean;
  /**
   * Takes the bytes of the body from the start of `input`, and returns how many it took. Passes the content, without
   * the chunk sizes, to `onContent`.
   */
  take(input: Buffer, onContent: (content: Buffer) => void): number;
}

export class LengthFraming implements BodyFraming {
  #missing: number;

  constructor(length: number) {
    this.#missing = length;
  }

  get done(): boolean {
    return this.#missing === 0;
  }

  take(input: Buffer, onContent: (content: Buffer) => void): number {
    const count = Math.min(input.length, this.#missing);
    if (count === 0) return 0;
    this.#missing -= count;
    onContent(count === input.length ? input : input.subarray(0, count));
    return count;
  }
}

/**
 * A chunk-size line (with its extensions) or a trailer line may have at most this many characters. No real client comes
 * near that.
 */
const lineCharactersMax = 4096;
const trailerLinesMax = 100;
// We ignore chunk extensions. But all parsers must agree on where an extension ends, so the grammar is checked in full.
// The blanks that some old clients put around the parts of an extension are refused.
const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const quoted = '"(?:[\\t\\x20\\x21\\x23-\\x5b\\x5d-\\x7e\\x80-\\xff]|\\\\[\\t\\x20-\\x7e\\x80-\\xff])*"';
const sizePattern = new RegExp(`^([0-9A-Fa-f]{1,13})(?:;${token}(?:=(?:${token}|${quoted}))?)*$`);
const trailerPattern = new RegExp(`^(${token}):[\\t\\x20-\\x7e\\x80-\\xff]*$`);
/** These fields say how to read or route a message. A trailer must not contain them (RFC 9110, section 6.5.1). */
const headOnlyFields: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

type ChunkPart = "size" | "content" | "end of content" | "trailer" | "done";

export class ChunkedFraming implements BodyFraming {
  #part: ChunkPart = "size";
  #missing = 0;
  /** The part of the current line that has arrived, CR included. */
  #line = "";
  #trailerLines = 0;

  get done(): boolean {
    return this.#part === "done";
  }

  take(input: Buffer, onContent: (content: Buffer) => void): number {
    let at = 0;
    while (at < input.length && this.#part !== "done") {
      if (this.#part === "content") {
        const end = Math.min(input.length, at + this.#missing);
        this.#missing -= end - at;
        onContent(input.subarray(at, end));
        at = end;
        if (this.#missing === 0) this.#part = "end of content";
      } else {
        at = this.#takeLine(input, at);
      }
    }
    return at;
  }

  /** Takes a line, or the part of it that has arrived, and returns the position of the next byte. */
  #takeLine(input: Buffer, from: number): number {
    const lineFeed = input.indexOf(0x0a, from);
    const end = lineFeed === -1 ? input.length : lineFeed + 1;
    this.#line += input.toString("latin1", from, end);
    if (this.#line.length > lineCharactersMax)
      throw closingRefusal("A line between the chunks of the body is too long");
    if (lineFeed === -1) return end;
    if (!this.#line.endsWith("\r\n"))
      throw closingRefusal("A line between the chunks of the body does not end with CR LF");
    const line = this.#line.slice(0, -2);
    this.#line = "";
    this.#endLine(line);
    return end;
  }

  #endLine(line: string): void {
    if (this.#part === "size") {
      const size = sizePattern.exec(line)?.[1];
      if (size === undefined) throw closingRefusal("A chunk of the body does not begin with its size");
      this.#missing = Number.parseInt(size, 16);
      this.#part = this.#missing === 0 ? "trailer" : "content";
    } else if (this.#part === "end of content") {
      if (line !== "") throw closingRefusal("A chunk of the body is longer than its size says");
      this.#part = "size";
    } else if (line === "") {
      this.#part = "done";
    } else {
      // Trailer fields are checked, then ignored.
      const name = trailerPattern.exec(line)?.[1];
      if (++this.#trailerLines > trailerLinesMax || name === undefined) {
        throw closingRefusal("The trailer after the body is malformed or too long");
      }
      if (headOnlyFields.has(name.toLowerCase())) throw closingRefusal(`The trailer must not contain ${name}`);
    }
  }
}
