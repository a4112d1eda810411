// A disk with a cache. What was synced is on the disk. A power cut keeps only a random part of what was written since
// then. It can lose a write and keep a later one. It can also keep only some sectors of a write.

import type { Random } from "../wire/random.ts";
import type { DiskEvent } from "./disk-trace.ts";

const sectorBytes = 512;

type Change = Extract<DiskEvent, { kind: "write" | "truncate" | "remove" | "rename" }>;

export class SimulatedDisk {
  /** The files on the disk, by name. */
  readonly #synced: Map<string, Buffer>;
  /** What waits in the cache, in order. */
  #waiting: Change[] = [];

  constructor(files: ReadonlyMap<string, Buffer>) {
    this.#synced = copyOf(files);
  }

  apply(event: DiskEvent): void {
    if (event.kind === "answer") return;
    if (event.kind === "sync folder") this.#flush((change) => change.kind === "remove" || change.kind === "rename");
    // A file is synced under the name that it has now; the name itself is synced with its folder.
    else if (event.kind === "sync") this.#flush((change) => change.file === event.file && change.kind !== "rename");
    else this.#waiting.push(event);
  }

  #flush(isSynced: (change: Change) => boolean): void {
    for (const change of this.#waiting) if (isSynced(change)) make(this.#synced, change);
    this.#waiting = this.#waiting.filter((change) => !isSynced(change));
  }

  /** The files as they are after a power cut at this moment. */
  cut(random: Random): Map<string, Buffer> {
    const files = copyOf(this.#synced);
    const kept = random.pick([0, 0.1, 0.5, 0.9, 1]);
    const torn = random.pick([0, 0.3, 1]);
    for (const change of this.#waiting) {
      if (!random.chance(kept)) continue;
      if (change.kind !== "write" || !random.chance(torn)) make(files, change);
      else for (const sector of sectorsOf(change)) if (random.chance(0.5)) make(files, sector);
    }
    return files;
  }
}

function copyOf(files: ReadonlyMap<string, Buffer>): Map<string, Buffer> {
  return new Map([...files].map(([name, bytes]) => [name, Buffer.from(bytes)]));
}

/** Changes the files in place. If a file grows, the new bytes that were not written are zero. */
function make(files: Map<string, Buffer>, change: Change): void {
  if (change.kind === "remove") {
    files.delete(change.file);
    return;
  }
  const file = files.get(change.file) ?? Buffer.alloc(0);
  if (change.kind === "rename") {
    if (files.delete(change.file)) files.set(change.to, file);
    return;
  }
  const length = change.kind === "truncate" ? change.length : Math.max(file.length, change.at + change.bytes.length);
  let resized = file.subarray(0, length);
  if (length > file.length) resized = Buffer.concat([file], length);
  if (change.kind === "write") change.bytes.copy(resized, change.at);
  files.set(change.file, resized);
}

/** The parts of a write that fall into different sectors of the disk. */
function* sectorsOf({ file, at, bytes }: Extract<Change, { kind: "write" }>): Generator<Change> {
  for (let from = 0; from < bytes.length; ) {
    const to = Math.min(bytes.length, from + sectorBytes - ((at + from) % sectorBytes));
    yield { kind: "write", file, at: at + from, bytes: bytes.subarray(from, to) };
    from = to;
  }
}
