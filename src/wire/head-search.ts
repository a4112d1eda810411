// Finds the head of a request in the bytes that have arrived. Some mistakes are found before the head is complete.

import { closingRefusal, type Refusal } from "./refusal.ts";

/** The largest head of a request: its request line and its header fields. */
const headBytesMax = 16 * 1024;

const emptyLine = Buffer.from("\r\n\r\n");

interface FoundHead {
  /** Where the head begins: after any empty lines, which RFC 9112, section 2.2, allows before a request. */
  readonly start: number;
  /**
   * The head without the empty line that ends it, decoded as Latin-1. If its end was not found, the part that has
   * arrived, but at most `headBytesMax` + 4 bytes.
   */
  readonly text: string;
  /** Where the bytes after the head begin. Undefined if the end of the head was not found. */
  readonly end: number | undefined;
}

export function findHead(bytes: Buffer): FoundHead {
  let start = 0;
  while (bytes[start] === 0x0d && bytes[start + 1] === 0x0a) start += 2;
  const headEnd = bytes.indexOf(emptyLine, start);
  const isFound = headEnd !== -1 && headEnd - start <= headBytesMax;
  const text = bytes.toString("latin1", start, isFound ? headEnd : start + headBytesMax + emptyLine.length);
  return { start, text, end: isFound ? headEnd + emptyLine.length : undefined };
}

/**
 * Says why an incomplete head must be refused. Undefined if no mistake is found yet: the other checks need the complete
 * head.
 */
export function refusalOfPart(text: string): Refusal | undefined {
  if (/(?:^|[^\r])\n/.test(text)) return closingRefusal("A line of the request's headers does not end with CR LF");
  if (/^[^!#$%&'*+.^_`|~0-9A-Za-z\r-]/.test(text)) return closingRefusal("The request does not begin with a method");
  // A head may have `headBytesMax` bytes, plus the CR LF CR LF that ends it. If less than that has arrived, the head
  // may still end within the limit.
  if (text.length < headBytesMax + 4) return undefined;
  return text.includes("\r\n")
    ? closingRefusal(
        `The request's headers are larger than ${headBytesMax} bytes, the limit of this instance`,
        "HeadersTooLarge",
      )
    : closingRefusal(
        `The request's target is longer than ${headBytesMax} bytes, the limit of this instance`,
        "TargetTooLong",
      );
}
