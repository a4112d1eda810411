// Finds the head of a request among the bytes that have arrived, or the reason why there will never be one.

import { closingRefusal, headTooLarge, type Refusal } from "./refusal.ts";

/** Most heads are shorter than this, and what follows one may be long. */
const shortHeadBytes = 1024;

interface FoundHead {
  /** Where the head begins, after the empty lines that RFC 9112, section 2.2, allows before a request. */
  readonly start: number;
  /** The head without the empty line that ends it, or what has arrived of it. Each byte is the character of its number. */
  readonly text: string;
  /** Where the bytes after the head begin; undefined if the head is not complete. */
  readonly end: number | undefined;
}

export function findHead(bytes: Buffer, bytesMax: number): FoundHead {
  let start = 0;
  while (bytes[start] === 0x0d && bytes[start + 1] === 0x0a) start += 2;
  let text = bytes.toString("latin1", start, start + Math.min(shortHeadBytes, bytesMax + 4));
  let length = text.indexOf("\r\n\r\n");
  if (length === -1 && bytes.length - start > shortHeadBytes) {
    text = bytes.toString("latin1", start, start + bytesMax + 4);
    length = text.indexOf("\r\n\r\n");
  }
  return length === -1
    ? { start, text, end: undefined }
    : { start, text: text.slice(0, length), end: start + length + 4 };
}

/** Why the beginning of a head cannot become a complete one; undefined if it can. */
export function refusalOfPart(text: string, bytesMax: number): Refusal | undefined {
  if (/(?:^|[^\r])\n/.test(text)) return closingRefusal("A line of the request's head does not end in CR LF");
  if (/^[^!#$%&'*+.^_`|~0-9A-Za-z\r-]/.test(text)) return closingRefusal("The request does not begin with a method");
  // All but the last byte of the empty line that ends it may be there.
  if (text.length < bytesMax + 4) return undefined;
  return text.includes("\r\n")
    ? headTooLarge(bytesMax)
    : closingRefusal(
        `The request's target is longer than ${bytesMax} bytes, the most this instance takes`,
        "TargetTooLong",
      );
}
