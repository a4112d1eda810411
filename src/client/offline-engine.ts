// The engine of an offline list: the list as the service has it, the outbox, and what is kept of both on the device. All
// changes of the outbox go through one queue, and each is stored before it counts.

import { parseToken } from "../items/token.ts";
import { EditSender } from "./edit-sender.ts";
import { isPassing } from "./errors.ts";
import { idIn, readObject, sameId, withEdits } from "./item-text.ts";
import { type ItemState, type LiveConnection, LiveList, type LiveListOptions } from "./live-list.ts";
import { type Conflict, type OfflineSnapshot, OfflineView, type Resolution } from "./offline-snapshot.ts";
import type { KeptValues } from "./offline-storage.ts";
import { type Edit, insisted, type Outbox, overlaid, replaced, type UserEdit, withEdit } from "./outbox.ts";
import type { ClientParts } from "./todo-client.ts";

export interface EngineOptions<Item> extends LiveListOptions {
  readonly onConflict?: ((conflict: Conflict<Item>) => Resolution<Item> | undefined) | undefined;
}

/** How long nothing may change before the copy is kept. */
const quietMs = 1_000;
const readOnlyProblem = "The service is read-only: it stores no edits.";

export class OfflineEngine<Item> {
  readonly #parts: ClientParts<Item>;
  readonly #options: EngineOptions<Item>;
  readonly #list: LiveList<Item>;
  readonly #sender: EditSender;
  readonly #view: OfflineView<Item>;
  readonly #listeners = new Set<{ readonly listener: () => void }>();
  readonly #waiting = new Set<() => void>();
  #kept: KeptValues | undefined;
  /** False if the copy on the device cannot be read, and so must be left alone. */
  #keepsCopy = false;
  #storageError: unknown;
  #outbox: Outbox = [];
  /** The items without the edits, as the last snapshot shows them. The user has not seen anything newer. */
  #seen: ReadonlyMap<string, ItemState> = new Map();
  #seenEpoch: string | undefined;
  #lastNumber = 0;
  /** True if the outbox in memory is newer than the one that is kept. */
  #isBehind = false;
  #tail: Promise<unknown> = Promise.resolve();
  #syncs = 0;
  #quiet: ReturnType<typeof setTimeout> | undefined;
  #connection: LiveConnection = { kind: "stopped" };
  #isStarted = false;
  #isClosed = false;

  constructor(parts: ClientParts<Item>, options: EngineOptions<Item>) {
    this.#parts = parts;
    this.#options = options;
    this.#list = new LiveList(parts.requester, options, {
      onEvent: (event) => {
        this.#sender.heard(event);
        this.#saveWhenQuiet();
      },
      onConnection: (connection) => {
        this.#connection = connection;
        this.#sender.connectionIs(connection);
        if (connection.kind === "live" || connection.kind === "polling") void this.#sender.send();
        queueMicrotask(() => this.#publish());
      },
      onSnapshot: () => this.#publish(),
      onHidden: () => void this.saveCopy(),
    });
    this.#sender = new EditSender({
      ...parts,
      list: () => this.#list,
      outbox: () => this.#outbox,
      commit: (change, mustKeep) => this.#commit(change, mustKeep ?? false),
      decide: (edit) => this.#decided(edit, this.#options.onConflict?.(this.#view.conflictOf(edit))),
      onChange: () => this.#publish(),
    });
    this.#view = new OfflineView(parts.requester.options.codec);
  }

  readonly getSnapshot = (): OfflineSnapshot<Item> => this.#view.snapshot;

  subscribe(listener: () => void): () => void {
    const subscription = { listener };
    this.#listeners.add(subscription);
    this.#follow();
    return () => {
      this.#listeners.delete(subscription);
      queueMicrotask(() => this.#follow());
    };
  }

  /** Shows the copy that is kept on the device. */
  async readCopy(kept: KeptValues): Promise<void> {
    const copy = await kept.readCopy();
    if (copy) this.#list.startFrom(copy, true);
  }

  /** Takes over the outbox that is kept on the device. From now on, this engine keeps it. */
  async keep(kept: KeptValues, keepsCopy: boolean): Promise<void> {
    await this.#exclusive(async () => {
      const outbox = await kept.readOutbox();
      this.#kept = kept;
      this.#keepsCopy = keepsCopy;
      const epoch = parseToken(this.#list.token ?? "")?.epoch;
      this.#outbox = outbox.map((edit) => ({ ...edit, epoch: edit.epoch ?? epoch, number: ++this.#lastNumber }));
      // This list may have passed events that show edits to be stored. The kept copy has not.
      if (keepsCopy && this.#isStarted && outbox.some(({ sent }) => sent)) {
        this.#list.startFrom(await kept.readCopy(), true);
        this.#list.reconnect();
      }
    });
    this.#publish();
    void this.#sender.send();
  }

  /** Until the outbox is there, nothing may be received that shows an edit to be stored. */
  start(): void {
    this.#isStarted = true;
    this.#publish();
  }

  storageFailed(error: unknown): void {
    this.#storageError = error;
    this.#publish();
  }

  async add(json: string, id: string, isOwnId: boolean): Promise<void> {
    await this.#edit(() => ({ kind: "add", id: id.toLowerCase(), mine: json, isOwnId }));
  }

  async change(id: string, edit: (item: Item) => Item): Promise<void> {
    const { codec } = this.#parts.requester.options;
    await this.#edit((shown, key) => {
      const base = shown.get(key);
      if (base === undefined) throw new RangeError(`There is no item ${id} in the list.`);
      const seen = codec.parse(base);
      const was = codec.stringify(seen);
      const mine = this.#edited(base, was, edit(seen), key);
      return mine === base ? undefined : { kind: "change", id: key, base, mine, etag: this.etagOf(key) };
    }, id);
  }

  async remove(id: string): Promise<void> {
    await this.#edit((shown, key) => {
      const base = shown.get(key);
      if (base === undefined) return undefined;
      return { kind: "remove", id: key, base, etag: this.etagOf(key) };
    }, id);
  }

  /**
   * Waits for a write that goes to the service directly, and shows what the service has confirmed: a new state of an item,
   * or without an item its removal.
   */
  async direct(id: string, write: Promise<{ readonly item?: Item; readonly etag: string | undefined }>): Promise<void> {
    const { item, etag } = await write.catch((error: unknown) => {
      if (isPassing(error)) this.#list.reconnect();
      throw error;
    });
    if (etag?.endsWith('-not-kept"')) throw new Error(readOnlyProblem);
    const { codec } = this.#parts.requester.options;
    if (item === undefined) this.#list.put(id.toLowerCase(), undefined, this.etagOf(id));
    else if (etag !== undefined) this.#list.put(id.toLowerCase(), codec.stringify(item), etag);
  }

  etagOf(id: string): string | undefined {
    return this.#seen.get(id.toLowerCase())?.etag;
  }

  async resolve(id: string, choice: Resolution<Item>): Promise<void> {
    const key = id.toLowerCase();
    await this.#commit((outbox) => {
      const edit = outbox.find((one) => one.id === key && one.theirs);
      if (!edit) throw new RangeError(`No edit of the item ${id} has a conflict.`);
      const decided = this.#decided(edit, choice);
      return decided ? replaced(outbox, decided) : outbox.filter((one) => one !== edit);
    }, true);
    void this.#sender.send();
  }

  async discard(id?: string): Promise<void> {
    await this.#commit((outbox) => outbox.filter((edit) => id !== undefined && edit.id !== id.toLowerCase()), true);
  }

  /** Sends the edits for another store to the one that answers now. */
  async sendAnyway(): Promise<void> {
    const isForeign = (edit: Edit) => this.#sender.isForeign(edit);
    const epoch = this.#seenEpoch;
    await this.#commit((outbox) => outbox.map((edit) => (isForeign(edit) ? { ...edit, epoch } : edit)), true);
    void this.#sender.send();
  }

  retry(): void {
    this.#sender.retry();
    this.#list.reconnect();
    this.#publish();
  }

  /** Connects, sends what can be sent, and ends. Throws if the service cannot be reached. */
  async sync(): Promise<void> {
    this.#syncs++;
    try {
      this.#follow();
      this.#list.reconnect();
      await new Promise<void>((resolve, reject) => {
        const check = () => {
          // The snapshot of the list is published later, and may still show the connection before this one.
          const connection = this.#connection;
          const isDone = connection.kind === "live" || connection.kind === "polling";
          if ("error" in connection) reject(connection.error);
          else if (isDone && this.#sender.isIdle) resolve();
          else return;
          this.#waiting.delete(check);
        };
        this.#waiting.add(check);
      });
    } finally {
      this.#syncs--;
      this.#follow();
      await this.saveCopy();
    }
  }

  async forget(): Promise<void> {
    await this.#exclusive(async () => {
      await this.#kept?.forget();
      this.#outbox = [];
      this.#isBehind = false;
    });
    this.#list.startFrom();
    this.#list.reconnect();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#listeners.clear();
    this.#sender.stopWaiting();
    this.#follow();
    await this.saveCopy();
    // Another instance may keep the outbox from now on. A response that is still to come must not write it.
    await this.#exclusive(async () => {
      this.#kept = undefined;
    });
  }

  async saveCopy(): Promise<void> {
    clearTimeout(this.#quiet);
    this.#quiet = undefined;
    await this.#exclusive(async () => {
      // The token must not pass an event that has shown an edit to be stored, before the outbox knows it too.
      if (this.#kept && this.#keepsCopy && !this.#isBehind) await this.#kept.writeCopy(this.#list.copy);
    });
  }

  #saveWhenQuiet(): void {
    clearTimeout(this.#quiet);
    if (this.#keepsCopy && !this.#isClosed) this.#quiet = setTimeout(() => void this.saveCopy(), quietMs);
  }

  async #edit(
    make: (shown: ReadonlyMap<string, string>, key: string) => Omit<UserEdit, "number" | "epoch"> | undefined,
    id = "",
  ): Promise<void> {
    if (this.#view.snapshot.status.readOnly) throw new Error(readOnlyProblem);
    await this.#commit((outbox) => {
      const edit = make(overlaid(this.#seen, outbox), id.toLowerCase());
      return edit ? withEdit(outbox, { ...edit, epoch: this.#seenEpoch, number: ++this.#lastNumber }) : outbox;
    }, true);
    void this.#sender.send();
  }

  /** The text of an item that the app has edited: exact, except for the fields that it has changed. */
  #edited(original: string, was: string, item: Item, key: string): string {
    const now = this.#parts.requester.options.codec.stringify(item);
    if (!sameId(idIn(readObject(now)), key)) throw new TypeError("An edited item must keep its ID.");
    return withEdits(original, was, now);
  }

  #decided(edit: Edit, choice: Resolution<Item> | undefined): Edit | undefined {
    if (choice === undefined) return edit;
    if (choice === "theirs") return undefined;
    if (choice === "mine") return insisted(edit, edit.mine);
    const { codec } = this.#parts.requester.options;
    const original = edit.theirs?.json ?? edit.mine ?? edit.base ?? "";
    return insisted(edit, this.#edited(original, codec.stringify(codec.parse(original)), choice as Item, edit.id));
  }

  #commit(change: (outbox: Outbox) => Outbox, mustKeep: boolean): Promise<void> {
    return this.#exclusive(async () => {
      const next = change(this.#outbox);
      if (next === this.#outbox) return;
      try {
        await this.#kept?.writeOutbox(next);
        this.#isBehind = false;
      } catch (error) {
        if (mustKeep) throw error;
        this.#isBehind = true;
        this.storageFailed(error);
      }
      this.#outbox = next;
      this.#publish();
    });
  }

  #exclusive<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#tail.then(work);
    this.#tail = result.catch(() => {});
    return result;
  }

  /** Follows the list while somebody subscribes to it in a visible page, and while there are edits to send. */
  #follow(): void {
    if (!this.#isStarted || this.#isClosed) this.#list.follow("never");
    else if (this.#syncs > 0 || this.#sender.hasWork) this.#list.follow("always");
    else this.#list.follow(this.#listeners.size > 0 ? "while visible" : "never");
  }

  #publish(): void {
    const { status } = this.#list.getSnapshot();
    const { readOnly, needsCredentials, sending } = this.#sender;
    this.#seen = this.#list.states;
    this.#seenEpoch = parseToken(this.#list.token ?? "")?.epoch;
    const isNew = this.#view.update(
      this.#seen,
      this.#outbox,
      {
        ...status,
        readOnly: readOnly || status.readOnly,
        needsCredentials: needsCredentials || status.needsCredentials,
        kept: this.#kept !== undefined,
        storageError: this.#storageError,
      },
      (edit) => (edit.number === sending ? "sending" : this.#sender.isForeign(edit) ? "held" : "waiting"),
    );
    this.#follow();
    for (const check of [...this.#waiting]) check();
    if (isNew) for (const { listener } of [...this.#listeners]) listener();
  }
}
