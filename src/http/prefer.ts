// Reads from the `Prefer` header whether a client wants a short answer (RFC 7240).

import type { HeaderFields } from "../wire/message.ts";

/**
 * True if the client does not need the created item in the answer. If the client states several preferences about this,
 * the first one counts.
 */
export function prefersMinimal(headers: HeaderFields): boolean {
  const header = headers.get("prefer");
  if (header === undefined) return false;
  const wanted = header
    .toLowerCase()
    .split(",")
    .map((text) => text.split(";", 1)[0]?.replaceAll(" ", "").replaceAll('"', ""));
  return wanted.find((preference) => preference?.startsWith("return=")) === "return=minimal";
}
