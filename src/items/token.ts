// Version tokens: `EPOCH-VERSION` names one state of a store, as in `0123456789abcdef-42`. In quotes, a token is the
// entity tag of a list, an item or a document of changes. Without quotes, it tells a reader of changes where to
// continue.
//
// A token may have suffixes, which do not change the state that it names. A suffix such as `-camel` says how the field
// names of items are spelled: the same state has other bytes in another spelling, so each spelling needs its own tag. A
// suffix such as `-gzip` names the compression of an answer, for the same reason. The suffix `-read-only` marks a
// document of changes from a read-only instance, because the document says whether the instance is read-only.

import type { FieldNames } from "./field-names.ts";

export interface Token {
  readonly epoch: string;
  readonly version: number;
}

export function formatToken({ epoch, version }: Token, fieldNames: FieldNames = "as-sent"): string {
  return fieldNames === "as-sent" ? `${epoch}-${version}` : `${epoch}-${version}-${fieldNames}`;
}

// Proxies that compress answers put `W/` before our tags, so we recognise tags with `W/` too.
const pattern = /^(?:W\/(?="))?"?([0-9a-z]{1,64})-([0-9]{1,15})(?:-(?:camel|pascal))?(?:-read-only)?"?$/i;
// The suffix of a tag if the answer was compressed. We append `-gzip`. Proxies that compress answers append a suffix
// too: Apache `-gzip`, Jetty `--gzip`, others `;gzip`.
const codingSuffix = /(?:--?|;)(?:gzip|br|deflate|zstd)("?)$/;

/** The entity tag or token of the same state without compression. */
export function withoutCoding(text: string): string {
  return text.replace(codingSuffix, "$1");
}

/**
 * Whether the tag in the response to a write says that a read-only instance has not stored it. A proxy may have
 * compressed the item in the response.
 */
export function isNotKept(tag: string | null | undefined): boolean {
  return withoutCoding(tag ?? "").endsWith('-not-kept"');
}

/** The state that a token or an entity tag names. Undefined for any other text. */
export function parseToken(text: string): Token | undefined {
  const [, epoch, version] = pattern.exec(withoutCoding(text)) ?? [];
  return epoch === undefined ? undefined : { epoch, version: Number(version) };
}
