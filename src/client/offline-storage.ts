// What an offline list keeps on the device: the outbox, and the copy of the list with its token. Both are text under
// keys that contain the address of the service and the name of the list.

import { parseToken } from "../items/token.ts";
import { utf8Length } from "./item-text.ts";
import type { ListCopy } from "./live-list.ts";
import type { Outbox } from "./outbox.ts";

/** Where an offline list keeps its values: `localStorage`, React Native's AsyncStorage, or anything like them. */
export interface OfflineStorage {
  getItem(key: string): string | null | undefined | Promise<string | null | undefined>;
  setItem(key: string, value: string): unknown;
  removeItem(key: string): unknown;
}

/** The most bytes of one value. Android cannot read back a row of 2 MB. */
const valueBytesMax = 1_000_000;
const format = 1;

/** A value that is there and cannot be read. It is left alone. */
export class UnreadableValueError extends Error {
  override readonly name = "UnreadableValueError";
}

export class KeptValues {
  readonly #storage: OfflineStorage;
  readonly #key: string;
  #hasCopy = true;

  constructor(storage: OfflineStorage, key: string) {
    this.#storage = storage;
    this.#key = key;
  }

  async readOutbox(): Promise<Outbox> {
    const kept = await this.#read<{ readonly edits: Outbox }>("outbox", "edits");
    return kept?.edits ?? [];
  }

  /** Throws if the outbox is too large, or if the storage refuses it. */
  async writeOutbox(outbox: Outbox): Promise<void> {
    if (outbox.length === 0) {
      await this.#storage.removeItem(`${this.#key}/outbox`);
      return;
    }
    const text = JSON.stringify({ format, edits: outbox });
    if (utf8Length(text) > valueBytesMax)
      throw new RangeError(`The edits that wait would take more than ${valueBytesMax} bytes on this device.`);
    await this.#storage.setItem(`${this.#key}/outbox`, text);
  }

  async readCopy(): Promise<ListCopy | undefined> {
    return this.#read<ListCopy>("copy", "items");
  }

  /** A copy that is too large, or that the storage refuses, is not kept. Neither is one that could not be continued. */
  async writeCopy(copy: ListCopy): Promise<void> {
    const text = parseToken(copy.token ?? "") ? JSON.stringify({ format, ...copy }) : undefined;
    try {
      if (text === undefined || utf8Length(text) > valueBytesMax) await this.#dropCopy();
      else {
        this.#hasCopy = true;
        await this.#storage.setItem(`${this.#key}/copy`, text);
      }
    } catch {
      // The storage is full. The list can be read again from the service.
      await this.#dropCopy();
    }
  }

  async forget(): Promise<void> {
    for (const name of ["outbox", "copy"]) await this.#storage.removeItem(`${this.#key}/${name}`);
  }

  async #dropCopy(): Promise<void> {
    if (this.#hasCopy) await this.#storage.removeItem(`${this.#key}/copy`);
    this.#hasCopy = false;
  }

  /** Reads a value of this format, which has an array under this name. */
  async #read<Value>(name: string, array: string): Promise<Value | undefined> {
    const text = await this.#storage.getItem(`${this.#key}/${name}`);
    if (text === null || text === undefined) return undefined;
    try {
      const value: unknown = JSON.parse(text);
      if (Reflect.get(Object(value), "format") === format && Array.isArray(Reflect.get(Object(value), array)))
        return value as Value;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
    throw new UnreadableValueError(`The value ${this.#key}/${name} on this device cannot be read.`);
  }
}
