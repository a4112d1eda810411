// Recognises files that people mistake for text, by their first bytes.

const gzipMark = [0x1f, 0x8b];

const kinds: readonly { readonly mark: readonly number[]; readonly reason: string }[] = [
  { mark: gzipMark, reason: "it is compressed. Unpack it first, for example with gunzip" },
  { mark: [0x50, 0x4b, 0x03, 0x04], reason: "it is a ZIP archive or a spreadsheet. Unpack it, or save it as CSV" },
  { mark: [0xff, 0xfe], reason: "it is UTF-16 text. Save it as UTF-8" },
  { mark: [0xfe, 0xff], reason: "it is UTF-16 text. Save it as UTF-8" },
];

const bytesLookedAt = 64;

export function isCompressed(start: Uint8Array): boolean {
  return beginsWith(start, gzipMark);
}

function beginsWith(start: Uint8Array, mark: readonly number[]): boolean {
  return mark.every((byte, index) => start[index] === byte);
}

/** Why these bytes cannot be the beginning of UTF-8 text, and what to do. Undefined if they can. */
export function whyNotText(start: Uint8Array): string | undefined {
  const kind = kinds.find(({ mark }) => beginsWith(start, mark));
  // UTF-16 without a byte-order mark has zero bytes, and so have most files that are not text.
  return (
    kind?.reason ??
    (start.subarray(0, bytesLookedAt).includes(0) ? "it is not UTF-8 text. Save it as UTF-8" : undefined)
  );
}
