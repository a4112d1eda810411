// Descriptors of a store's files that stay open as long as SQLite has the store open. When a process closes any
// descriptor of a file, the system drops all locks that the process has on that file, and SQLite depends on its locks.
// So if a process has several `HeldFile` objects for one file, it closes their descriptors only when all of them are
// released.

import { closeSync, fstatSync, openSync, readSync } from "node:fs";

const descriptorsOf = new Map<string, { openCount: number; readonly descriptors: number[] }>();

/** Reads of up to this many bytes share one buffer. That is enough for the largest page and its frame header. */
const sharedBytes = 66_000;

export class HeldFile {
  readonly identity: string;
  readonly #descriptor: number;
  #shared = new Uint8Array(0);

  constructor(path: string) {
    this.#descriptor = openSync(path, "r");
    this.identity = identityOf(fstatSync(this.#descriptor));
    const held = descriptorsOf.get(this.identity) ?? { openCount: 0, descriptors: [] };
    descriptorsOf.set(this.identity, held);
    held.openCount++;
    held.descriptors.push(this.#descriptor);
  }

  /**
   * Reads bytes at this position. The result is valid until the next read. It is shorter than `length` if the file ends
   * first.
   */
  read(length: number, position: number): DataView<ArrayBuffer> {
    const bytes = length > sharedBytes ? new Uint8Array(length) : this.#sharedFor(length);
    return new DataView(bytes.buffer, 0, readSync(this.#descriptor, bytes, 0, length, position));
  }

  #sharedFor(length: number): Uint8Array<ArrayBuffer> {
    if (this.#shared.byteLength < length) this.#shared = new Uint8Array(length);
    return this.#shared;
  }

  /** When the file was last written, and its size. */
  get state(): string {
    const { mtimeMs, size } = fstatSync(this.#descriptor);
    return `${mtimeMs} ${size}`;
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

/** Identifies a file as long as somebody has it open: meanwhile, no other file of the device gets its inode number. */
export function identityOf({ dev, ino }: { readonly dev: number; readonly ino: number }): string {
  return `${dev} ${ino}`;
}
