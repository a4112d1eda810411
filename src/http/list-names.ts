// The names of the lists that have items, as a JSON document.

import { jsonHeaders } from "./headers.ts";
import type { SiteFile } from "./site.ts";

/** There is one document for each array of names, and the array stays the same until a name is added or removed. */
const files = new WeakMap<readonly string[], SiteFile>();

export function listNamesFile(names: readonly string[], isPrivate: boolean): SiteFile {
  const bytes = () => new TextEncoder().encode(JSON.stringify(names.map((name) => ({ name }))));
  const mediaType = jsonHeaders["Content-Type"];
  const file = files.get(names) ?? { mediaType, bytes: bytes(), immutable: false, isPrivate };
  files.set(names, file);
  return file;
}
