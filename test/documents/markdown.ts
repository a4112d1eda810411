// Reads the project's Markdown files: which ones there are, their headings and their links.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { projectFolder } from "../program.ts";

/** All Markdown files that belong to the project, as paths from its root. */
export function markdownFiles(folder = "."): string[] {
  return readdirSync(join(projectFolder, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return isOurs(entry.name) ? markdownFiles(path) : [];
    return entry.name.endsWith(".md") ? [path] : [];
  });
}

/**
 * False for hidden folders and for folders into which commands write. One of these is packages/: before the client is
 * packed, a copy of docs/client.md is put there.
 */
function isOurs(folder: string): boolean {
  return !folder.startsWith(".") && !["node_modules", "dist", "packages", "release", "generated"].includes(folder);
}

export function readDocument(path: string): string {
  return readFileSync(join(projectFolder, path), "utf8");
}

/** The targets of a document's links and images. Links to other sites are left out. */
export function linksOf(markdown: string): string[] {
  return [...proseOf(markdown).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^(?:https?|mailto):/.test(target));
}

/** The anchors of a document's headings, as GitHub makes them. */
export function anchorsOf(markdown: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ""] of proseOf(markdown).matchAll(/^#{1,6} (.*)$/gm)) {
    const anchor = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replaceAll(" ", "-");
    let unique = anchor;
    for (let count = 1; anchors.has(unique); count++) unique = `${anchor}-${count}`;
    anchors.add(unique);
  }
  return anchors;
}

/** The text without its code blocks, in which `#` and `](` mean something else. */
function proseOf(markdown: string): string {
  return markdown.replace(/^ *```.*?^ *```$/gms, "");
}
