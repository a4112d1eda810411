// The entity tags of lists, items and change documents, and the conditions that clients set with them (RFC 9110,
// section 13).

import type { Version } from "../collection/engine.ts";
import type { Condition } from "../collection/write-rules.ts";
import type { FieldNames } from "../items/field-names.ts";
import { formatToken, withoutCoding } from "../items/token.ts";
import type { HeaderFields } from "../wire/message.ts";
import { Problem } from "./problem.ts";

/**
 * The tag of a list, an item or a change document. It depends on the store's history (`epoch`), the version and the
 * spelling of field names.
 */
export function entityTag(epoch: string, version: Version, fieldNames: FieldNames): string {
  return `"${formatToken({ epoch, version }, fieldNames)}"`;
}

/**
 * The tag of the same state for other bytes: a compressed answer, or a change document that says that the instance is
 * read-only. In `If-Match` and `If-None-Match`, the tag of a compressed answer means the same as the tag without the
 * suffix. `not-kept` marks a write that a read-only instance did not store.
 */
export function withSuffix(tag: string, suffix: "gzip" | "read-only" | "not-kept"): string {
  return `${tag.slice(0, -1)}-${suffix}"`;
}

/** True if `If-None-Match` contains this tag, or `*`: the client already has the state that the tag stands for. */
export function ifNoneMatchHits(headers: HeaderFields, tag: string): boolean {
  const header = headers.get("if-none-match");
  return header !== undefined && matches(header, tag, "weak");
}

/**
 * Throws a `Problem` if `If-Match` is empty, or several that were joined are. Usually the sender means a tag, but has
 * lost it, so the request must not be carried out; and a 412 would say that somebody else has changed the item.
 */
export function checkIfMatch(headers: HeaderFields): void {
  if (headers.get("if-match")?.replaceAll(",", "").trim() !== "") return;
  throw new Problem("InvalidRequest", "If-Match is empty: send an ETag, with its quotes, or leave the header out.");
}

/** False if there is an `If-Match` header that does not match this tag. */
export function ifMatchHolds(headers: HeaderFields, tag: string): boolean {
  const header = headers.get("if-match");
  return header === undefined || matches(header, tag, "strong");
}

/** Throws a `Problem` if `If-Match` asks for another state than that of the document with this tag, or is empty. */
export function checkState(headers: HeaderFields, tag: string): void {
  checkIfMatch(headers);
  if (ifMatchHolds(headers, tag)) return;
  const detail = "This is not in the state that If-Match names. To read it as it is now, leave out If-Match.";
  throw new Problem("PreconditionFailed", detail, { headers: { ETag: tag } });
}

/** The condition that a PUT or DELETE sets for its item, or undefined if it sets none. Throws as `checkIfMatch` does. */
export function writeCondition(headers: HeaderFields, tagOf: (version: Version) => string): Condition | undefined {
  checkIfMatch(headers);
  if (headers.get("if-match") === undefined && headers.get("if-none-match") === undefined) return undefined;
  return (version) => ifMatchHolds(headers, tagOf(version)) && !ifNoneMatchHits(headers, tagOf(version));
}

// One member of a list of tags, with the comma after it. A member may be empty (RFC 9110, section 5.6.1). A header that
// contains anything else matches no tag, except for a single `*`.
const tagPattern = /[ \t]*(?:(W\/)?("[^"]*")[ \t]*)?(?:,|$)/gy;

/** With strong comparison, a tag that is marked as weak matches nothing (RFC 9110, section 8.8.3.2). */
function matches(header: string, tag: string, comparison: "strong" | "weak"): boolean {
  // Clients that poll usually send exactly the tag that they got. Comparing the whole header first saves parsing it,
  // which takes as long as the rest of the request.
  if (header === tag || header === withSuffix(tag, "gzip") || header.trim() === "*") return true;
  return tagsOf(header).some(
    ({ weak, opaque }) => !(weak && comparison === "strong") && (opaque === tag || withoutCoding(opaque) === tag),
  );
}

/** The entity tags in a header. Empty if the header is not a list of entity tags. */
function tagsOf(header: string): { weak: boolean; opaque: string }[] {
  const members = [...header.matchAll(tagPattern)];
  if (members.map(([text]) => text).join("") !== header) return [];
  return members.flatMap(([, weak, opaque]) => (opaque === undefined ? [] : { weak: weak !== undefined, opaque }));
}
