// Entity tags and the conditions that clients make with them (RFC 9110, section 13). One place writes and checks
// them, so the tag that was served is always the one that works.

import type { Version } from "../collection/engine.ts";
import type { Condition } from "../collection/write-rules.ts";
import type { FieldNames } from "../items/field-names.ts";
import { formatToken } from "../items/token.ts";
import type { HeaderFields } from "../wire/message.ts";

/** The tag of a list or an item. It depends on the store, the version and the spelling of names. */
export function entityTag(epoch: string, version: Version, fieldNames: FieldNames): string {
  return `"${formatToken({ epoch, version }, fieldNames)}"`;
}

/** True if `If-None-Match` says that the client already has this state. */
export function ifNoneMatchHits(headers: HeaderFields, tag: string): boolean {
  const header = headers.get("if-none-match");
  return header !== undefined && matchesWeakly(header, tag);
}

/** False if `If-Match` names other states than this one. */
export function ifMatchHolds(headers: HeaderFields, tag: string): boolean {
  const header = headers.get("if-match");
  return header === undefined || matchesStrongly(header, tag);
}

/** The condition that a PUT or DELETE sets for the item it changes; undefined if it sets none. */
export function writeCondition(headers: HeaderFields, tagOf: (version: Version) => string): Condition | undefined {
  const ifMatch = headers.get("if-match");
  const ifNoneMatch = headers.get("if-none-match");
  if (ifMatch === undefined && ifNoneMatch === undefined) return undefined;
  return (version) => {
    const tag = tagOf(version);
    return (
      (ifMatch === undefined || matchesStrongly(ifMatch, tag)) &&
      (ifNoneMatch === undefined || !matchesWeakly(ifNoneMatch, tag))
    );
  };
}

// One member of the list, with the comma after it. A header with anything else in it matches no tag.
const tagPattern = /[ \t]*(W\/)?("[^"]*")[ \t]*(?:,|$)/gy;
// What compressing proxies append inside the quotes: Apache `-gzip`, Jetty `--gzip`, others `;gzip`.
const codingSuffix = /(?:--?|;)(?:gzip|br|deflate|zstd)"$/;

function matchesStrongly(header: string, tag: string): boolean {
  if (header.trim() === "*") return true;
  return tagsOf(header).some(({ weak, opaque }) => !weak && opaque === tag);
}

function matchesWeakly(header: string, tag: string): boolean {
  if (header === tag || header.trim() === "*") return true;
  return tagsOf(header).some(({ opaque }) => opaque === tag || opaque.replace(codingSuffix, '"') === tag);
}

/** The entity tags of a header; empty if it is not a list of entity tags. */
function tagsOf(header: string): { weak: boolean; opaque: string }[] {
  const members = [...header.matchAll(tagPattern)];
  if (members.map(([text]) => text).join("") !== header) return [];
  return members.map(([, weak, opaque = ""]) => ({ weak: weak !== undefined, opaque }));
}
