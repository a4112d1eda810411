// Descriptors of a store's files that stay open as long as SQLite has the store open. When a process closes any
// descriptor of a file, the system drops all locks that the process has on that file, and SQLite depends on its locks.
// So if a process has opened a store several times, the descriptors are closed with the last one.

import { closeSync, fstatSync, openSync, readSync } from "node:fs";

const descriptorsOf = new Map<string, { openCount: number; readonly descriptors: number[] }>();

export class HeldFile {
  readonly identity: string;
  readonly #descriptor: number;

  constructor(path: string) {
    this.#descriptor = openSync(path, "r");
    this.identity = identityOf(fstatSync(this.#descriptor));
    const held = descriptorsOf.get(this.identity) ?? { openCount: 0, descriptors: [] };
    descriptorsOf.set(this.identity, held);
    held.openCount++;
    held.descriptors.push(this.#descriptor);
  }

  /** The bytes at this place. Fewer than asked for, if the file ends before. */
  read(length: number, position: number): DataView<ArrayBuffer> {
    const bytes = new Uint8Array(length);
    return new DataView(bytes.buffer, 0, readSync(this.#descriptor, bytes, 0, length, position));
  }

  get byteLength(): number {
    return fstatSync(this.#descriptor).size;
  }

  /** False if the file was removed. It then exists only as long as somebody has it open. */
  get hasName(): boolean {
    return fstatSync(this.#descriptor).nlink > 0;
  }

  /** Call this after SQLite has closed the file. */
  release(): void {
    const held = descriptorsOf.get(this.identity);
    if (!held || --held.openCount > 0) return;
    for (const descriptor of held.descriptors) closeSync(descriptor);
    descriptorsOf.delete(this.identity);
  }
}

/** Identifies a file while it is open: no other file gets its number as long as that lasts. */
export function identityOf({ dev, ino }: { readonly dev: number; readonly ino: number }): string {
  return `${dev} ${ino}`;
}
