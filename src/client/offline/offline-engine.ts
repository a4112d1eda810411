// The engine of an offline list. It connects the parts so that data flows one way: an edit goes into the outbox, from
// there the sender sends it to the service, the follower brings what the service has into the mirror, and the snapshot
// shows the mirror with the outbox on top. One instance keeps its outbox on the device: in a browser, the one that holds
// a lock.
// Why: docs/decisions/0081-offline-lists.md

import { Follower } from "../live/follower.ts";
import type { LiveListOptions } from "../live/live-list.ts";
import { Publisher } from "../live/publisher.ts";
import type { ListChange } from "../live/watch.ts";
import type { Requester } from "../requester.ts";
import { isBrowser, isReactNative } from "../runtime.ts";
import { EditSender } from "./edit-sender.ts";
import { KeptList, type OfflineStorage } from "./kept-list.ts";
import { type Conflict, OfflineView, type Resolution } from "./offline-snapshot.ts";
import { type Edit, heard, type Outbox, onTop, resolved, type UserEdit, withEdit } from "./outbox.ts";

export interface OfflineListOptions<Item> extends LiveListOptions {
  /**
   * Where the list and the edits are kept: AsyncStorage, `() => localStorage`, `indexedDbStorage()`. Without it, they are
   * in memory, and gone when the app ends.
   */
  readonly storage?: OfflineStorage | (() => OfflineStorage) | undefined;
  /**
   * Whose list it is. Lists of two names never meet. Default: the user of fixed credentials. If the client's credentials
   * are a function, or it has a token, the name is required.
   */
  readonly name?: string | undefined;
  /** Resolves a conflict. If it returns undefined, the edit waits for `resolve`. */
  readonly onConflict?:
    | ((conflict: Conflict<Item>) => Resolution<Item> | undefined | Promise<Resolution<Item> | undefined>)
    | undefined;
  /**
   * The locks of the browser. Undefined if this is not a browser, null if it has none.
   * @internal
   */
  readonly locks?: Locks | null | undefined;
  /**
   * How many bytes fit on the device. Tests use small limits.
   * @internal
   */
  readonly bytesMax?: number | undefined;
}

/** The part of the browser's lock manager that is used here. */
interface Locks {
  request(
    name: string,
    options: { readonly ifAvailable?: boolean; readonly signal?: AbortSignal },
    work: (lock: unknown) => Promise<void>,
  ): Promise<unknown>;
}

export class OfflineEngine<Item> {
  /** Resolves when the kept list is there, with or without a network. */
  readonly ready: Promise<void>;
  /** How many lists use this engine. */
  uses = 0;
  /** Resolves when a closed engine has let go of the device. Undefined while the engine is open. */
  closed: Promise<void> | undefined;
  readonly #options: OfflineListOptions<Item>;
  readonly #key: string;
  readonly #follower: Follower<Item>;
  readonly #kept: KeptList;
  readonly #sender: EditSender;
  readonly view: OfflineView<Item>;
  readonly publisher = new Publisher(
    () => this.#connect(),
    () => this.#draw(),
  );
  /** The conflicts that the app's `onConflict` has been asked about. */
  readonly #asked = new WeakSet<Edit>();
  /** What the user has done while the device has not kept it yet. */
  readonly #calls = new Set<Edit>();
  readonly #end = new AbortController();
  #isStarted = false;
  /** Each call of `sync` that is under way looks here whether it is done. */
  readonly #syncs = new Set<() => void>();
  #release = () => {};
  readonly #released = new Promise<void>((release) => {
    this.#release = release;
  });
  #lock: Promise<unknown> | undefined;

  /** `before` is an engine of the same list that is closed: it may still be writing. */
  constructor(
    requester: Requester<Item>,
    options: OfflineListOptions<Item>,
    key: string,
    storage: OfflineStorage | undefined,
    before: OfflineEngine<Item> | undefined,
  ) {
    const onChange = () => this.#changed();
    this.#options = options;
    this.#key = key;
    this.view = new OfflineView(requester.options.codec);
    this.#follower = new Follower(requester, options, {
      onChange: (change) => this.#received(change),
      onStatus: () => this.#connectionChanged(),
      onHidden: () => void this.#kept.saveCopy(),
    });
    const { mirror } = this.#follower;
    const reconnect = () => this.#follower.reconnect();
    this.#kept = new KeptList({ mirror, key, storage, bytesMax: options.bytesMax, onChange, reconnect });
    const { signal } = this.#end;
    this.#sender = new EditSender({ requester, follower: this.#follower, kept: this.#kept, signal, onChange });
    this.ready = this.#start(storage !== undefined, before?.closed);
  }

  /**
   * Makes an edit of what the user sees: the item's text with earlier edits on top. If there is nothing to do, `make`
   * returns undefined.
   */
  async edit(id: string, make: (base: string | undefined) => UserEdit | undefined): Promise<void> {
    await this.ready;
    if (this.#follower.connected?.readOnly) throw new Error("The service is read-only: it stores no edits.");
    if (this.#follower.status.readOnly) this.#follower.doubt();
    // The device may be slow. If others change the item before it has kept the edit, the user has not seen that.
    const seen = this.view.seen.find((entry) => entry.id === id);
    const own = (outbox: Outbox) => outbox.filter((edit) => edit.id === id);
    const shown = [...own(this.#kept.outbox), ...own([...this.#calls])];
    const made = make(shown.reduce(onTop, seen?.json));
    const { epoch } = this.#follower.mirror;
    const editOf = (user: UserEdit) => ({ ...user, id, epoch, number: this.#kept.nextNumber(), sent: false });
    if (!made)
      // If a call before this one fails or is discarded, there is something to do after all. But if the item has changed,
      // because an earlier edit is stored, or because of others, the user has not asked to change it back.
      return this.#kept.commit((outbox) => {
        const isUnchanged = this.#follower.mirror.stateOf(id)?.json === seen?.json;
        const late = isUnchanged ? make(own(outbox).reduce(onTop, seen?.json)) : undefined;
        return late ? withEdit(outbox, editOf(late), seen, own(outbox)) : outbox;
      }, "room");
    const edit = editOf(made);
    this.#calls.add(edit);
    await this.#kept
      .commit((outbox) => withEdit(outbox, edit, seen, shown), "room")
      .finally(() => this.#calls.delete(edit));
  }

  /**
   * Changes the outbox. If the storage fails, throws and changes nothing. Like `edit`, waits for `ready` once, so that all
   * calls take effect in the order in which they were made.
   */
  async commit(change: (outbox: Outbox) => Outbox): Promise<void> {
    await this.ready;
    await this.#kept.commit(change, "kept");
  }

  /**
   * Resolves the conflict of this item's edit as the user sees it. If others have changed the item just now, the service
   * refuses what is sent, and it is compared once more.
   */
  async resolve(id: string, choice: Resolution<Item>): Promise<void> {
    await this.ready;
    const isMeant = (edit: Edit) => edit.id === id && edit.theirs !== undefined;
    const seen = this.#kept.outbox.find(isMeant);
    await this.commit((outbox) => {
      if (!seen || !outbox.some((edit) => isMeant(edit) && edit.number === seen.number))
        throw new RangeError(`No edit of the item ${id} has a conflict.`);
      return resolved(outbox, seen, this.view.decided(seen, choice));
    });
  }

  /** Sends the edits that were made for another store to the one that answers now. */
  async sendAnyway(): Promise<void> {
    await this.commit((outbox) =>
      outbox.map((edit) => (this.#sender.isForeign(edit) ? { ...edit, epoch: this.#follower.mirror.epoch } : edit)),
    );
  }

  /** Tries again now. With an ID, sends the refused edits of this item again. */
  async retry(id?: string): Promise<void> {
    this.#sender.retry();
    this.#follower.doubt();
    this.#follower.reconnect();
    this.#changed();
    if (id === undefined) return;
    await this.commit((outbox) => {
      if (!outbox.some((edit) => edit.id === id)) throw new RangeError(`No edit of the item ${id} waits.`);
      return outbox.map((edit) => (edit.id === id ? { ...edit, problem: undefined } : edit));
    });
  }

  /** Connects, sends what can be sent, and ends. Throws if the service cannot be reached. */
  async sync(): Promise<void> {
    await this.ready;
    this.#follower.reconnect();
    let check = () => {};
    try {
      await new Promise<void>((resolve, reject) => {
        check = () => {
          const { connection } = this.#follower.status;
          if (this.#end.signal.aborted) reject(new Error("This list is closed."));
          else if ("error" in connection) reject(connection.error);
          else if (this.#follower.connected && this.#sender.isIdle) resolve();
        };
        this.#syncs.add(check);
        this.#connect();
      });
    } finally {
      this.#syncs.delete(check);
      this.#changed();
      await this.#kept.saveCopy();
    }
  }

  async forget(): Promise<void> {
    await this.ready;
    await this.#kept.forget();
  }

  async close(): Promise<void> {
    this.#end.abort();
    this.#sender.retry();
    this.#changed();
    await this.#kept.leave();
    this.#release();
    await this.#lock;
  }

  /** The outbox hears of a change before the copy is kept. Otherwise, a crash in between would hide it from the outbox. */
  #received(change: ListChange): void {
    void this.#kept.commit((outbox) => heard(outbox, change, (id) => this.#follower.mirror.stateOf(id)));
    this.#kept.saveCopyWhenQuiet();
    this.publisher.publishSoon();
  }

  #connectionChanged(): void {
    this.#connect();
    this.publisher.publishSoon();
    void this.#sender.send(true);
  }

  /** The outbox has changed: opens or closes the connection, shows the change at once, and sends what can be sent. */
  #changed(): void {
    for (const edit of this.#kept.outbox) if (edit.theirs) void this.#ask(edit);
    this.#connect();
    this.publisher.publish();
    void this.#sender.send();
  }

  /**
   * Is connected while somebody subscribes or waits for `sync`, and while there is something to send. Whoever waits for
   * `sync` looks again.
   */
  #connect(): void {
    // Until the outbox is there, nothing may be received that shows an edit to be stored.
    const isOpen = this.#isStarted && !this.#end.signal.aborted;
    const isNeeded = this.#syncs.size > 0 || this.#sender.first !== undefined;
    this.#follower.follow(isOpen && this.publisher.hasSubscribers, isOpen && isNeeded);
    for (const check of [...this.#syncs]) check();
  }

  #draw(): boolean {
    const before = this.view.snapshot;
    const { mirror, status } = this.#follower;
    const { isKept: kept, error: storageError, outbox } = this.#kept;
    const needsCredentials = this.#sender.needsCredentials || status.needsCredentials;
    const shown = { ...status, needsCredentials, kept, storageError };
    this.view.draw(mirror.items, outbox, shown, (edit) => this.#sender.stateOf(edit));
    return this.view.snapshot !== before;
  }

  /** Asks the app about a conflict, once. Until it has decided, or if it does not know or fails, the edit waits. */
  async #ask(edit: Edit): Promise<void> {
    const { onConflict } = this.#options;
    if (!onConflict || this.#asked.has(edit)) return;
    this.#asked.add(edit);
    try {
      const choice = await onConflict(this.view.conflictOf(edit));
      await this.commit((now) => (now.includes(edit) ? resolved(now, edit, this.view.decided(edit, choice)) : now));
    } catch (error) {
      console.error(error);
    }
  }

  async #start(isOnDevice: boolean, before: Promise<void> | undefined): Promise<void> {
    await before;
    if (isOnDevice) {
      const locks = "locks" in this.#options ? this.#options.locks : browserLocks();
      await this.#kept.startFromCopy();
      if (locks === undefined) await this.#kept.takeOver();
      else if (locks !== null && !this.#end.signal.aborted) await this.#keepWithLock(locks);
    }
    this.#isStarted = true;
    this.#changed();
  }

  /** Keeps the list while it holds the lock. If another tab has it, waits for it in the background. */
  #keepWithLock(locks: Locks): Promise<void> {
    const { signal } = this.#end;
    return new Promise((resolve) => {
      const hold = async (lock: unknown) => {
        if (lock) await this.#kept.takeOver();
        resolve();
        if (lock) await this.#released;
        else this.#lock = locks.request(this.#key, { signal }, hold).catch(() => {});
      };
      this.#lock = locks.request(this.#key, { ifAvailable: true }, hold).catch(() => resolve());
    });
  }
}

/** The locks of the browser. Undefined outside a browser, where there is one context. Null in a page without locks. */
function browserLocks(): Locks | null | undefined {
  if (!isBrowser() || isReactNative()) return undefined;
  return Reflect.get(Object(Reflect.get(globalThis, "navigator")), "locks") ?? null;
}
