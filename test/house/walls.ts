// The rooms of `src/`, which are its folders and the files directly in it, and what each may import. An import that is
// not listed here is forbidden: it crosses a wall.
// Why: docs/decisions/0050-rooms-with-walls.md

import type { Import } from "./imports.ts";

/** A room (a folder or file directly in `src/`), or a single file in such a folder. */
type Place = string;

interface Room {
  /** The other rooms, or single files of them, that this room may import. */
  readonly rooms: readonly Place[];
  /** Matches the packages and the runtime's modules that this room may import. */
  readonly packages: RegExp;
}

const none = /^$/;
const runtime = /^(?:node:|bun(?::|$))/;

export const rooms: Readonly<Record<string, Room>> = {
  terminal: { rooms: [], packages: runtime },
  items: { rooms: [], packages: none },
  files: { rooms: [], packages: runtime },
  collection: { rooms: ["items"], packages: /^node:zlib$/ },
  engines: {
    rooms: [...["collection/engine.ts", "collection/limits.ts", "collection/list-key.ts"], ...["items", "files"]],
    packages: /^(?:node:|bun:sqlite$|postgres$)/,
  },
  // `wire` is a library inside the project, so it imports nothing else from the project.
  wire: { rooms: [], packages: runtime },
  credentials: { rooms: ["files"], packages: /^(?:node:|bun(?::|$)|@peculiar\/x509$|jose$|reflect-metadata$)/ },
  http: { rooms: ["wire", "collection", "items", "credentials"], packages: runtime },
  // `client` is published for browsers, Node, Deno and Bun, so it imports no packages and no modules of a runtime.
  client: { rooms: ["items"], packages: none },
  page: { rooms: ["client", "items", "description/code-samples.ts"], packages: /^(?:node:|preact(?:\/|$))/ },
  description: { rooms: ["http", "items", "wire/message.ts"], packages: none },
  serve: {
    rooms: [
      ...["items", "files", "collection", "engines", "wire", "credentials", "http", "page", "description"],
      "terminal",
    ],
    packages: runtime,
  },
  commands: {
    rooms: ["items", "files", "collection", "engines", "credentials", "client", "serve", "terminal"],
    packages: /^(?:node:|bun(?::|$)|papaparse$)/,
  },
  "main.ts": { rooms: ["commands", "terminal"], packages: none },
};

/** The room of a file: its first folder, or the file itself at the root. */
export function roomOf(path: string): string {
  return path.split("/")[0] ?? path;
}

/** Says what is wrong with an import. Undefined if it is allowed. */
export function violation({ from, to, isOurs }: Import): string | undefined {
  const name = roomOf(from);
  const room = rooms[name];
  if (!room) return `${from} is in no room: add it to one, or add the room ${name} to the walls`;
  const allowed = isOurs
    ? roomOf(to) === name || room.rooms.some((place) => to === place || to.startsWith(`${place}/`)) || isPackageFile(to)
    : room.packages.test(to);
  return allowed ? undefined : `${from} imports ${to}: ${name} must not`;
}

/**
 * Any room may import package.json, for the version number, the API's description, and the examples that readers see.
 * These files belong to no room.
 */
function isPackageFile(path: string): boolean {
  return ["../package.json", "../openapi.yaml"].includes(path) || path.startsWith("../examples/");
}
