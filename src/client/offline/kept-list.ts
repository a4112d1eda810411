// What an offline list keeps on the device: the outbox, and the copy of the list with its token. Both are text under
// keys that contain the address of the service and the name of the list. All changes of the outbox go through one
// queue, and each is stored before it counts.

import { parseToken } from "../../items/token.ts";
import { utf8Length } from "../item-text.ts";
import { isOlder, type ListCopy, type Mirror, unchanged } from "../live/mirror.ts";
import { behind, type Outbox } from "./outbox.ts";

/** Where an offline list keeps its values: `localStorage`, React Native's AsyncStorage, or anything like them. */
export interface OfflineStorage {
  getItem(key: string): string | null | undefined | Promise<string | null | undefined>;
  setItem(key: string, value: string): unknown;
  removeItem(key: string): unknown;
}

/** How many bytes the edits of the user may take on the device, and so may the list. Android cannot read 2 MB back. */
const usualBytesMax = 1_000_000;
/** What is left free for notes about waiting edits, for each of them and for a problem: a full outbox can still be sent. */
const spareBytes = { edit: 64, problem: 500 };
/** How long nothing may change before the copy is kept, and for how long changes may put that off. */
const quietMs = 1_000;
const putOffMsMax = 10_000;
const format = 1;

/** A change of the outbox that waits to be written. */
interface Change {
  readonly change: (outbox: Outbox) => Outbox;
  readonly need: "room" | "kept" | undefined;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface KeptParts {
  readonly mirror: Mirror<unknown>;
  readonly key: string;
  readonly storage: OfflineStorage | undefined;
  readonly bytesMax: number | undefined;
  /** Called when the outbox has changed, or an error has come. */
  readonly onChange: () => void;
  /** Called when the list has gone back to an older state: no earlier connection may continue it. */
  readonly reconnect: () => void;
}

export class KeptList {
  readonly #parts: KeptParts;
  readonly #keys: Readonly<Record<"outbox" | "copy", string>>;
  readonly #bytesMax: number;
  outbox: Outbox = [];
  /** Why something could not be read from or written to the device. Undefined once the device has everything. */
  error: unknown;
  /**
   * `memory`: this instance does not keep the outbox on the device. `kept`: it does. `unreadable`: it would, but what is
   * there cannot be read, and is left alone. `left`: it is closed, and another instance may keep the list.
   */
  #state: "memory" | "kept" | "unreadable" | "left" = "memory";
  #lastNumber = 0;
  #waiting: Change[] = [];
  #quiet: ReturnType<typeof setTimeout> | undefined;
  /** When the list first changed since the copy was made. */
  #changedAtMs: number | undefined;
  #tail: Promise<unknown> = Promise.resolve();

  constructor(parts: KeptParts) {
    this.#parts = parts;
    this.#keys = { outbox: `${parts.key}/outbox`, copy: `${parts.key}/copy` };
    this.#bytesMax = parts.bytesMax ?? usualBytesMax;
  }

  /** A number for a new edit. */
  nextNumber(): number {
    return ++this.#lastNumber;
  }

  /** True while this instance keeps the outbox on the device. */
  get isKept(): boolean {
    return this.#state === "kept";
  }

  async startFromCopy(): Promise<void> {
    this.#startFrom(await this.#readCopy());
  }

  /**
   * Takes over the outbox on the device. Edits that have waited in memory come after those that were kept. Events show
   * which of them are stored. The list and the kept copy may have passed some of these events, so both begin again with
   * the older of the two.
   */
  async takeOver(): Promise<void> {
    await this.#exclusive(async () => {
      if (this.#state === "left") return;
      this.#state = "unreadable";
      const edits = await this.#readOutbox();
      const copy = await this.#readCopy();
      const isBehind = isOlder(this.#parts.mirror.token, copy?.token);
      const kept = edits.map((edit) => ({ ...edit, number: this.nextNumber() }));
      const joined = [...kept, ...this.outbox.map((edit) => behind(edit, kept))];
      try {
        if (isBehind) await this.#writeCopy();
        if (this.outbox.length > 0) await this.#writeOutbox(joined);
      } catch (error) {
        this.error = error;
      }
      // From here on, nothing may come in between: an event would miss the outbox, or come on top of the older list.
      this.outbox = joined;
      this.#state = "kept";
      if (!isBehind && edits.some(({ sent }) => sent)) this.#startFrom(copy);
      this.#parts.reconnect();
    }).catch((error: unknown) => {
      this.error = error;
    });
    this.#parts.onChange();
  }

  /**
   * Changes the outbox. If the storage fails, the change counts nevertheless. But if it must be `kept`, this function
   * throws, and nothing changes. If it also needs `room`, it must fit: that is for what the user adds. What has to be
   * noted about waiting edits always fits, or a full outbox could never be sent. Changes that wait are written together.
   */
  commit(change: Change["change"], need?: Change["need"]): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting;
      const count = waiting.push({ change, need, resolve, reject });
      if (count === 1) void this.#exclusive(() => this.#commitAll(waiting.splice(0)));
    });
  }

  /** Makes these changes with one write. If that fails, halves them, until those that fail are alone. */
  async #commitAll(waiting: readonly Change[]): Promise<void> {
    if (waiting.length < 2) {
      for (const { change, need, resolve, reject } of waiting)
        await this.#apply(change, need, (error) => this.#show(error)).then(resolve, reject);
      return;
    }
    const all = (outbox: Outbox) => waiting.reduce((before, { change }) => change(before), outbox);
    const need = waiting.some(({ need }) => need === "room") ? "room" : "kept";
    const areDone = await this.#apply(all, need, () => {}).then(isDone, isNotDone);
    const half = Math.ceil(waiting.length / 2);
    if (areDone) for (const { resolve } of waiting) resolve();
    else for (const part of [waiting.slice(0, half), waiting.slice(half)]) await this.#commitAll(part);
  }

  /** Throws if the change cannot be made or kept. Errors that concern more than its maker are shown. */
  async #apply(change: Change["change"], need: Change["need"], show: (error: unknown) => void): Promise<void> {
    if (need && this.#state === "left") throw new Error("This list is closed.");
    const next = unchanged(this.outbox, change(this.outbox));
    if (next === this.outbox) return;
    try {
      if (this.isKept) await this.#writeOutbox(next, need === "room");
    } catch (error) {
      // Whoever adds an edit hears of it, and nothing else is wrong.
      if (need !== "room") show(error);
      if (need) throw error;
    }
    this.outbox = next;
    this.#parts.onChange();
  }

  saveCopyWhenQuiet(): void {
    clearTimeout(this.#quiet);
    this.#changedAtMs ??= Date.now();
    const leftMs = Math.max(0, this.#changedAtMs + putOffMsMax - Date.now());
    if (this.isKept) this.#quiet = setTimeout(() => void this.saveCopy(), Math.min(quietMs, leftMs));
  }

  async saveCopy(): Promise<void> {
    clearTimeout(this.#quiet);
    const waiting = this.#waiting;
    await this.#exclusive(async () => {
      // The token must not pass an event that has shown an edit to be stored, before the outbox on the device knows it,
      // too. So what waits comes first, then the copy is made, and then the outbox is written, in case an earlier attempt
      // to write it has failed.
      while (waiting.length > 0) await this.#commitAll(waiting.splice(0));
      // If others wait as well, the list is about to be forgotten.
      if (!this.isKept || waiting !== this.#waiting) return;
      await this.#writeCopy(() => this.#writeOutbox(this.outbox));
      // Now the device has everything.
      this.#show(undefined);
    }).catch((error: unknown) => this.#show(error));
  }

  /**
   * Makes a copy of the list, and keeps it after `first`. A copy that is too large is not kept. Neither is one that could
   * not be continued. If the storage refuses the copy, the earlier one goes, too: the list can be read again from the
   * service, and the edits may need its room.
   */
  async #writeCopy(first?: () => Promise<void>): Promise<void> {
    const { mirror, storage } = this.#parts;
    this.#changedAtMs = undefined;
    const text = parseToken(mirror.token ?? "") && JSON.stringify({ format, ...mirror.copy });
    await first?.();
    try {
      if (text && utf8Length(text) <= this.#bytesMax) await storage?.setItem(this.#keys.copy, text);
      else await storage?.removeItem(this.#keys.copy);
    } catch (error) {
      await storage?.removeItem(this.#keys.copy);
      throw error;
    }
  }

  async forget(): Promise<void> {
    // What the user does from now on comes after this, and stays. The storage may be so slow that it could come before.
    this.#waiting = [];
    await this.#exclusive(async () => {
      if (this.#state === "memory" || this.#state === "left")
        throw new Error("This instance keeps nothing on the device. Call forget() where status.kept is true.");
      for (const key of Object.values(this.#keys)) await this.#parts.storage?.removeItem(key);
      this.#state = "kept";
      this.outbox = [];
      this.error = undefined;
      this.#parts.mirror.startFrom(undefined);
      this.#parts.reconnect();
      this.#parts.onChange();
    });
  }

  /** Another instance may keep the list from now on. A response that is still to come must not write it. */
  async leave(): Promise<void> {
    // It has not taken over yet. An edit that is made just now would be confirmed, and gone.
    if (this.#state === "memory") this.#state = "left";
    await this.saveCopy();
    await this.#exclusive(async () => {
      this.#state = "left";
    });
  }

  #show(error: unknown): void {
    if (this.error === error) return;
    this.error = error;
    this.#parts.onChange();
  }

  #exclusive(work: () => Promise<void>): Promise<void> {
    const result = this.#tail.then(work);
    this.#tail = result.catch(() => {});
    return result;
  }

  /**
   * The copy on the device, if there is one. One that cannot be read is replaced by the next one: the service has the
   * list.
   */
  async #readCopy(): Promise<ListCopy | undefined> {
    return this.#read<ListCopy>(this.#keys.copy, "items").catch((error: unknown) => {
      this.error = error;
      return undefined;
    });
  }

  /** The codec may refuse a copy that an older version of the app has kept. */
  #startFrom(copy: ListCopy | undefined): void {
    const { mirror } = this.#parts;
    try {
      mirror.startFrom(copy);
    } catch (error) {
      this.error = unreadable(this.#keys.copy, error);
      mirror.startFrom(undefined);
    }
  }

  /** Throws if the codec refuses an edit that an older version of the app has kept. */
  async #readOutbox(): Promise<Outbox> {
    const edits = (await this.#read<{ readonly edits: Outbox }>(this.#keys.outbox, "edits"))?.edits ?? [];
    try {
      for (const { base, mine, theirs } of edits)
        for (const json of [base, mine, theirs?.json]) if (json !== undefined) this.#parts.mirror.parse(json);
    } catch (error) {
      throw unreadable(this.#keys.outbox, error);
    }
    return edits;
  }

  /** Throws if the outbox must fit and is too large, or if the storage refuses it. */
  async #writeOutbox(outbox: Outbox, mustFit = false): Promise<void> {
    const spare = mustFit ? " ".repeat(spareBytes.edit * outbox.length + spareBytes.problem) : "";
    const text = JSON.stringify({ format, edits: outbox }) + spare;
    if (mustFit && utf8Length(text) > this.#bytesMax)
      throw new RangeError(`The edits that wait would take more than ${this.#bytesMax} bytes on this device.`);
    if (outbox.length === 0) await this.#parts.storage?.removeItem(this.#keys.outbox);
    else await this.#parts.storage?.setItem(this.#keys.outbox, text);
  }

  /** Reads a value of this format, which has an array under this name. */
  async #read<Value>(key: string, array: string): Promise<Value | undefined> {
    const text = await this.#parts.storage?.getItem(key);
    if (text === null || text === undefined) return undefined;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      throw unreadable(key, error);
    }
    if (Reflect.get(Object(value), "format") === format && Array.isArray(Reflect.get(Object(value), array)))
      return value as Value;
    throw unreadable(key);
  }
}

function unreadable(key: string, cause?: unknown): Error {
  return new Error(`The value ${key} on this device cannot be read.`, { cause });
}

const isDone = () => true;
const isNotDone = () => false;
