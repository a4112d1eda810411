// What an offline list keeps on the device: the outbox, and the copy of the list with its token. Both are text under
// keys that contain the address of the service and the name of the list. All changes of the outbox go through one
// queue, and each is stored before it counts.

import { parseToken } from "../../items/token.ts";
import { utf8Length } from "../item-text.ts";
import type { ListCopy, Mirror } from "../live/mirror.ts";
import type { Outbox } from "./outbox.ts";

/** Where an offline list keeps its values: `localStorage`, React Native's AsyncStorage, or anything like them. */
export interface OfflineStorage {
  getItem(key: string): string | null | undefined | Promise<string | null | undefined>;
  setItem(key: string, value: string): unknown;
  removeItem(key: string): unknown;
}

/** The most bytes of one value. Android cannot read back a row of 2 MB. */
const valueBytesMax = 1_000_000;
/** How long nothing may change before the copy is kept. */
const quietMs = 1_000;
const format = 1;

export class KeptList {
  readonly #mirror: Mirror<unknown>;
  readonly #storage: OfflineStorage | undefined;
  readonly #keys: Readonly<Record<"outbox" | "copy", string>>;
  /** Called when the outbox has changed, or an error has come. */
  readonly #onChange: () => void;
  outbox: Outbox = [];
  /** True while this instance keeps the outbox on the device. Otherwise, it is in memory only. */
  isKept = false;
  /** Why something could not be read from or written to the device. */
  error: unknown;
  /** False if the copy on the device cannot be read, and so must be left alone. */
  #keepsCopy = true;
  /** True if the outbox in memory is newer than the one that is kept. */
  #isBehind = false;
  #lastNumber = 0;
  #quiet: ReturnType<typeof setTimeout> | undefined;
  #tail: Promise<unknown> = Promise.resolve();

  constructor(
    mirror: Mirror<unknown>,
    key: string,
    storage: OfflineStorage | undefined,
    error: unknown,
    onChange: () => void,
  ) {
    this.#mirror = mirror;
    this.#storage = storage;
    this.#keys = { outbox: `${key}/outbox`, copy: `${key}/copy` };
    this.error = error;
    this.#onChange = onChange;
  }

  /** A number for a new edit. */
  nextNumber(): number {
    return ++this.#lastNumber;
  }

  /** Starts from the copy that another instance keeps, if there is one. */
  async show(): Promise<void> {
    const copy = await this.#readCopy();
    if (copy && !this.#mirror.isLoaded) this.#mirror.startFrom(copy);
  }

  /**
   * Takes over what is kept on the device. Edits that have waited in memory come after those that were kept. If the
   * outbox cannot be read, it is left alone. Returns true if the list has gone back to the kept copy.
   */
  async takeOver(): Promise<boolean> {
    let isRestarted = false;
    await this.#exclusive(async () => {
      const copy = await this.#readCopy();
      if (!this.#mirror.isLoaded) this.#mirror.startFrom(copy);
      const edits = (await this.#read<{ readonly edits: Outbox }>(this.#keys.outbox, "edits"))?.edits ?? [];
      const own = this.outbox;
      this.outbox = [...edits.map((edit) => ({ ...edit, number: this.nextNumber() })), ...own];
      this.isKept = true;
      // The list may have passed events that show edits to be stored. The kept copy has not.
      isRestarted = edits.some(({ sent }) => sent);
      if (isRestarted) this.#mirror.startFrom(copy);
      if (own.length === 0) return;
      this.#isBehind = true;
      await this.#writeOutbox(this.outbox);
      this.#isBehind = false;
    }).catch((error: unknown) => {
      this.error = error;
    });
    return isRestarted;
  }

  /**
   * Changes the outbox. If the storage fails, the change counts nevertheless. But if `mustKeep` is set, this function
   * throws, and nothing changes.
   */
  commit(change: (outbox: Outbox) => Outbox, mustKeep = false): Promise<void> {
    return this.#exclusive(async () => {
      const next = change(this.outbox);
      if (next === this.outbox) return;
      try {
        if (this.isKept) await this.#writeOutbox(next);
        this.#isBehind = false;
      } catch (error) {
        if (mustKeep) throw error;
        this.#isBehind = true;
        this.error = error;
      }
      this.outbox = next;
      this.#onChange();
    });
  }

  saveCopyWhenQuiet(): void {
    clearTimeout(this.#quiet);
    if (this.isKept) this.#quiet = setTimeout(() => void this.saveCopy(), quietMs);
  }

  /** A copy that is too large, or that the storage refuses, is not kept. Neither is one that could not be continued. */
  async saveCopy(): Promise<void> {
    clearTimeout(this.#quiet);
    await this.#exclusive(async () => {
      // The token must not pass an event that has shown an edit to be stored, before the outbox knows it too.
      if (!this.isKept || !this.#keepsCopy || this.#isBehind) return;
      const { copy } = this.#mirror;
      const text = parseToken(copy.token ?? "") && JSON.stringify({ format, ...copy });
      try {
        if (text && utf8Length(text) <= valueBytesMax)
          return void (await this.#storage?.setItem(this.#keys.copy, text));
      } catch {
        // The storage is full. The list can be read again from the service.
      }
      await this.#storage?.removeItem(this.#keys.copy);
    }).catch((error: unknown) => {
      this.error = error;
      this.#onChange();
    });
  }

  async forget(): Promise<void> {
    await this.#exclusive(async () => {
      for (const key of Object.values(this.#keys)) await this.#storage?.removeItem(key);
      this.outbox = [];
      this.#isBehind = false;
      this.#mirror.startFrom(undefined);
      this.#onChange();
    });
  }

  /** Another instance may keep the list from now on. A response that is still to come must not write it. */
  async leave(): Promise<void> {
    await this.saveCopy();
    await this.#exclusive(async () => {
      this.isKept = false;
    });
  }

  #exclusive(work: () => Promise<void>): Promise<void> {
    const result = this.#tail.then(work);
    this.#tail = result.catch(() => {});
    return result;
  }

  /** Throws if the outbox is too large, or if the storage refuses it. */
  async #writeOutbox(outbox: Outbox): Promise<void> {
    const text = JSON.stringify({ format, edits: outbox });
    if (utf8Length(text) > valueBytesMax)
      throw new RangeError(`The edits that wait would take more than ${valueBytesMax} bytes on this device.`);
    if (outbox.length === 0) await this.#storage?.removeItem(this.#keys.outbox);
    else await this.#storage?.setItem(this.#keys.outbox, text);
  }

  async #readCopy(): Promise<ListCopy | undefined> {
    try {
      return await this.#read<ListCopy>(this.#keys.copy, "items");
    } catch (error) {
      this.#keepsCopy = false;
      this.error = error;
      return undefined;
    }
  }

  /** Reads a value of this format, which has an array under this name. */
  async #read<Value>(key: string, array: string): Promise<Value | undefined> {
    const text = await this.#storage?.getItem(key);
    if (text === null || text === undefined) return undefined;
    try {
      const value: unknown = JSON.parse(text);
      if (Reflect.get(Object(value), "format") === format && Array.isArray(Reflect.get(Object(value), array)))
        return value as Value;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
    throw new Error(`The value ${key} on this device cannot be read. It is left alone.`);
  }
}
