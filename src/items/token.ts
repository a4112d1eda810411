// Version tokens: `EPOCH-VERSION` names one state of a store, as in `0123456789abcdef-42`. In quotes it is the entity
// tag of a list or an item; without quotes it tells a reader of changes where to continue. A suffix such as
// `-camel` says how the field names of items are spelled. The same state has other bytes in another spelling, so each
// spelling needs its own tag. So does a compressed list; a suffix such as `-gzip` names the compression. A document of
// changes says whether the instance is read-only, and has the suffix `-read-only` if it is. No suffix changes which
// state the token names.

import type { FieldNames } from "./field-names.ts";

export interface Token {
  readonly epoch: string;
  readonly version: number;
}

export function formatToken({ epoch, version }: Token, fieldNames: FieldNames = "as-sent"): string {
  return fieldNames === "as-sent" ? `${epoch}-${version}` : `${epoch}-${version}-${fieldNames}`;
}

// Proxies that compress answers put `W/` before our tags.
const pattern = /^(?:W\/(?="))?"?([0-9a-z]{1,64})-([0-9]{1,15})(?:-(?:camel|pascal))?(?:-read-only)?"?$/i;
// We append `-gzip`. Proxies that compress answers append a suffix too: Apache `-gzip`, Jetty `--gzip`, others `;gzip`.
const codingSuffix = /(?:--?|;)(?:gzip|br|deflate|zstd)("?)$/;

/** The entity tag or token of the same state without compression. */
export function withoutCoding(text: string): string {
  return text.replace(codingSuffix, "$1");
}

/** The state that a token or an entity tag names. Undefined for any other text. */
export function parseToken(text: string): Token | undefined {
  const [, epoch, version] = pattern.exec(withoutCoding(text)) ?? [];
  return epoch === undefined ? undefined : { epoch, version: Number(version) };
}
