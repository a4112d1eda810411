// Checks that a request's body is sent as JSON, and decodes it from UTF-8 to text.

import type { HeaderFields } from "../wire/message.ts";
import { Problem } from "./problem.ts";

// Invalid bytes are an error, because replacing them would change the item. A leading byte-order mark is dropped.
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Throws a `Problem` if the body is compressed or not valid UTF-8. */
export function decodeBody(bytes: Uint8Array, headers: HeaderFields): string {
  const coding = headers.get("content-encoding");
  if (coding !== undefined && coding.toLowerCase() !== "identity") {
    throw new Problem("UnsupportedMediaType", `The body has Content-Encoding ${coding}: send it uncompressed.`);
  }
  try {
    return utf8.decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new Problem("InvalidJson", "The body is not valid UTF-8: send JSON encoded in UTF-8.");
  }
}

const token = "[!#$%&'*+.^_`|~0-9a-z-]+";
const quoted = '"(?:[^"\\\\]|\\\\.)*"';
const parameterPattern = new RegExp(`;[ \\t]*(?:(${token})=(${token}|${quoted}))?[ \\t]*`, "giy");

/**
 * Throws a `Problem` unless the media type is application/json. The charset is optional, but if it is given, it must be
 * UTF-8.
 */
export function checkMediaType(contentType: string | undefined): void {
  if (contentType !== undefined && isJsonInUtf8(contentType)) return;
  const sent =
    contentType === undefined ? "The request has no Content-Type" : `The request has Content-Type ${contentType}`;
  throw new Problem("UnsupportedMediaType", `${sent}: send the item as application/json, encoded in UTF-8.`);
}

/** Parses the header as RFC 9110, section 8.3.1, defines it: a type, then parameters whose values may be quoted. */
function isJsonInUtf8(contentType: string): boolean {
  const type = /^[ \t]*application\/json[ \t]*/i.exec(contentType)?.[0];
  if (type === undefined) return false;
  const rest = contentType.slice(type.length);
  const parameters = [...rest.matchAll(parameterPattern)];
  if (parameters.map(([text]) => text).join("") !== rest) return false;
  return parameters.every(([, name, value]) => name?.toLowerCase() !== "charset" || /^"?utf-8"?$/i.test(value ?? ""));
}
