// A simulation of offline lists: several devices, some with two tabs, edit one list while requests and responses are
// lost, networks are cut or answer with pages of their own, tabs crash at storage writes, lists are closed and made
// again, and the service restarts or is restored from a backup. The seed decides everything, so a failure can be
// repeated. An auditor checks every write that the service stores.

import { OfflineList } from "../../src/client/offline/offline-list.ts";
import { TodoClient } from "../../src/client/todo-client.ts";
import { Random } from "../wire/random.ts";
import { SharedLocks, TabLocks } from "./simulated-locks.ts";
import {
  type Backup,
  type Fields,
  type SimulatedReply,
  type SimulatedRequest,
  SimulatedService,
  withField,
} from "./simulated-service.ts";

type Item = Record<string, string> & { ID: string };

const noCounts = {
  edits: 0,
  createdAgain: 0,
  conflictsAfterLostResponse: 0,
  lastWriterWon: 0,
  goneAfterRestore: 0,
};

/** What is allowed to happen, and how often it did. */
export type Counts = typeof noCounts;

export class Violation extends Error {
  override readonly name = "Violation";
}

/** One edit of a user. Its value is unique, so the auditor recognises it. Edits of old values are not recorded. */
interface UserEdit {
  readonly actor: string;
  readonly list: OfflineList<Item>;
  readonly id: string;
  readonly field: string;
  readonly value: string;
  /** The values of this field that the user has seen before it was replaced. */
  readonly seen: Set<string | undefined>;
  /** The whole item as the user saw it when making the edit, and when deciding about it. */
  readonly items: Partial<Item>[];
  isAccepted: boolean;
  /** True if its list keeps it in memory only. It may be lost if that list is closed, or if its tab crashes. */
  isInMemory: boolean;
  /** True if the user has given it up, replaced it, or was told that it failed. */
  isOver: boolean;
  /** How often it was stored since the last restore, and how often it may be. */
  stored: number;
  allowed: number;
  wasStored: boolean;
  /** True if the store was restored after the edit, and nobody has agreed yet to send it to the restored one. */
  isHeld: boolean;
  /** True if the device knew a store when the edit was made. */
  readonly hasStore: boolean;
}

interface Timer {
  readonly dueMs: number;
  readonly run: () => void;
  readonly owner: Tab | undefined;
}

interface Message {
  readonly tab: Tab;
  readonly request: SimulatedRequest;
  readonly resolve: (response: unknown) => void;
  readonly reject: (error: Error) => void;
  reply: SimulatedReply | undefined;
}

interface Feed {
  readonly message: Message;
  readonly chunks: string[];
  version: number;
  waiting: { resolve: (chunk: unknown) => void; reject: (error: Error) => void } | undefined;
}

/** A write to the storage of a device that has not ended yet. */
interface Storing {
  readonly tab: Tab;
  readonly write: () => void;
  readonly end: () => void;
}

interface Device {
  readonly name: string;
  readonly values: Map<string, string>;
  readonly locks: SharedLocks;
  readonly streams: boolean;
  isCut: boolean;
  tabs: Tab[];
  /** Counts what the user does. The number of the last time at which it was about an item, by the item's ID. */
  readonly acts: Map<string, number>;
}

interface Tab {
  readonly device: Device;
  readonly make: () => OfflineList<Item>;
  list: OfflineList<Item>;
  readonly locks: TabLocks;
  isDead: boolean;
  /** Crashes at the next write to the storage: before it, or after it. */
  crashes: "before" | "after" | undefined;
  /** The next write fails, or every write of the outbox. */
  storageFails: "once" | "outbox" | undefined;
  /** What the user has removed last. */
  removed: Item | undefined;
  /** True once the list was connected to a store. A server that has answered with the list alone has named none. */
  knowsStore: boolean;
}

const fields = ["A", "B", "C"];
/** A field whose old values come back. */
const returningField = "Done";
const returningValues = ["yes", "no"];
/** Which share of the writes to the storage may end in a later step. */
const slowWrites = [0, 0.3, 0.8];
/** A small limit, so that it is reached in every run. */
const bytesMax = 3_000;
const real = { setTimeout, clearTimeout, random: Math.random, setImmediate, now: Date.now, error: console.error };
const drained = () => new Promise<void>((resolve) => void real.setImmediate(resolve));

class Simulation {
  readonly counts: Counts = { ...noCounts };
  readonly #random: Random;
  readonly #service: SimulatedService;
  readonly #slowWrites: number;
  readonly #devices: Device[];
  readonly #edits = new Map<string, UserEdit>();
  /** How often each item was created since the last restore. */
  #created = new Map<string, number>();
  readonly #recreatable = new Set<string>();
  /** The items that somebody has created again as they were, with the values of others. */
  readonly #undone = new Set<string>();
  #timers: Timer[] = [];
  #messages: Message[] = [];
  #feeds: Feed[] = [];
  #storing: Storing[] = [];
  #backups: Backup[] = [];
  #owner: Tab | undefined;
  #nowMs = 0;
  #names = 0;
  #isCalm = false;
  /** What a device has written last, and the item before it. */
  #lastWrite: { readonly id: string; readonly before: Fields | undefined } | undefined;
  violation: Violation | undefined;

  constructor(seed: number) {
    this.#random = new Random(seed);
    const isPlain = this.#random.chance(0.1);
    this.#slowWrites = this.#random.pick(slowWrites);
    this.#service = new SimulatedService(isPlain, (...write) => this.#audit(...write));
    this.#devices = Array.from({ length: 3 }, (_, index) => ({
      name: `device ${index}`,
      values: new Map<string, string>(),
      locks: new SharedLocks(),
      streams: index > 0,
      isCut: false,
      tabs: [],
      acts: new Map(),
    }));
  }

  /** Runs this many steps, heals everything, and checks that all is well. */
  async run(steps: number): Promise<void> {
    Object.assign(globalThis, {
      setTimeout: (run: () => void, ms = 0) => {
        const timer: Timer = { dueMs: this.#nowMs + ms, run, owner: this.#owner };
        this.#timers.push(timer);
        return timer;
      },
      clearTimeout: (timer: Timer | undefined) => {
        const index = timer ? this.#timers.indexOf(timer) : -1;
        if (index >= 0) this.#timers.splice(index, 1);
      },
    });
    Math.random = () => this.#random.next();
    Date.now = () => this.#nowMs;
    console.error = () => {};
    try {
      for (const device of this.#devices) await this.#openTab(device);
      for (let step = 0; step < steps && !this.violation; step++) await this.#step();
      if (!this.violation) await this.#settle();
    } finally {
      Object.assign(globalThis, { setTimeout: real.setTimeout, clearTimeout: real.clearTimeout });
      Math.random = real.random;
      Date.now = real.now;
      console.error = real.error;
    }
    if (this.violation) throw this.violation;
  }

  async #step(): Promise<void> {
    const roll = this.#random.next();
    if (roll < 0.12) await this.#userActs();
    else if (roll < 0.16) this.#somebodyWrites();
    else if (roll < 0.18) await this.#fault();
    else if (roll < 0.85 && this.#deliverable().length > 0) await this.#networkActs();
    else await this.#fireTimer();
  }

  async #act(tab: Tab, run: () => unknown): Promise<void> {
    this.#owner = tab;
    await run();
    await drained();
    const { connection } = tab.list.getSnapshot().status;
    tab.knowsStore ||= "epoch" in connection && connection.epoch !== undefined;
    this.#owner = undefined;
  }

  // ---- Devices

  async #openTab(device: Device): Promise<void> {
    const locks = new TabLocks(device.locks);
    const never = new Promise<never>(() => {});
    const client = new TodoClient<Item>("http://service/", {
      retry: { limit: 0 },
      newId: () => this.#newId(),
      fetch: (url, init) => this.#fetch(tab, url, init) as Promise<Response>,
    });
    const storage = {
      getItem: (key: string) => (tab.isDead ? never : (device.values.get(key) ?? null)),
      setItem: (key: string, value: string) => this.#store(tab, key, () => device.values.set(key, value)),
      removeItem: (key: string) => this.#store(tab, key, () => device.values.delete(key)),
    };
    const make = () => new OfflineList(client, { name: "simulated", locks, storage, bytesMax });
    const states = {
      isDead: false,
      crashes: undefined,
      storageFails: undefined,
      removed: undefined,
      knowsStore: false,
    };
    const tab: Tab = { device, locks, make, list: make(), ...states };
    device.tabs.push(tab);
    await this.#act(tab, () => this.#subscribe(tab));
  }

  #subscribe(tab: Tab): void {
    const { list } = tab;
    list.subscribe(() => {
      const conflicts = list.getSnapshot().pending.filter(({ state }) => state === "conflict");
      if (new Set(conflicts.map(({ id }) => id)).size < conflicts.length)
        this.#fail(`an item has two conflicts in ${tab.device.name}`);
      if (!this.#isCalm && this.#random.chance(0.002)) throw new Error("a subscriber's mistake");
    });
  }

  /** A write takes a moment, or so long that other things happen meanwhile. */
  async #store(tab: Tab, key: string, write: () => void): Promise<void> {
    for (let turns = this.#random.below(6); turns > 0; turns--) await undefined;
    if (!this.#isCalm && this.#random.chance(this.#slowWrites))
      await new Promise<void>((end) => this.#storing.push({ tab, write, end }));
    if (tab.isDead || tab.crashes === "before") return this.#crash(tab);
    if (!this.#isCalm && (tab.storageFails === "once" || (tab.storageFails && key.endsWith("outbox")))) {
      if (tab.storageFails === "once" || this.#random.chance(0.1)) tab.storageFails = undefined;
      throw new Error("the storage is full");
    }
    write();
    if (!this.#isCalm && tab.storageFails && key.endsWith("copy") && this.#random.chance(0.5)) tab.crashes = "after";
    if (tab.crashes === "after") await this.#crash(tab);
  }

  #crash(tab: Tab): Promise<never> {
    const never = new Promise<never>(() => {});
    if (tab.isDead) return never;
    tab.isDead = true;
    const { device } = tab;
    this.#forgetMemory(tab);
    device.tabs = device.tabs.filter((other) => other !== tab);
    this.#timers = this.#timers.filter(({ owner }) => owner !== tab);
    this.#feeds = this.#feeds.filter((feed) => feed.message.tab !== tab);
    // Nobody knows whether the write that was under way has reached the device.
    for (const storing of this.#storing) if (storing.tab === tab && this.#random.chance(0.5)) storing.write();
    this.#storing = this.#storing.filter((storing) => storing.tab !== tab);
    this.#owner = device.tabs[0];
    tab.locks.crash();
    return never;
  }

  #forgetMemory({ list }: Tab): void {
    for (const edit of this.#edits.values()) if (edit.list === list && edit.isInMemory) edit.isOver = true;
  }

  async #userActs(): Promise<void> {
    const device = this.#random.pick(this.#devices);
    if (device.tabs.length === 0 || (device.tabs.length === 1 && this.#random.chance(0.01)))
      return this.#openTab(device);
    const tab = this.#random.pick(device.tabs);
    const { items, pending } = tab.list.getSnapshot();
    const decision = pending.find(({ state }) => state === "conflict" || state === "held" || state === "refused");
    if (decision && this.#random.chance(0.5)) return this.#decide(tab);
    if (this.#random.chance(0.01)) return this.#reopen(tab);
    if (this.#random.chance(0.005)) return this.#forget(tab);
    const roll = this.#random.next();
    const entry = items.length > 0 ? this.#random.pick(items) : undefined;
    if (!entry || roll < 0.25) await this.#act(tab, () => this.#add(tab));
    else if (roll < 0.85) await this.#act(tab, () => this.#change(tab, entry.id));
    else if (roll < 0.95) await this.#act(tab, () => this.#remove(tab, entry.id, entry.item));
    else if (roll < 0.97) await this.#act(tab, () => this.#undo(tab));
    else if (roll < 0.985) await this.#act(tab, () => void tab.list.retry());
    else await this.#act(tab, () => void tab.list.sync().catch(() => {}));
  }

  /** An edit, and before it is safe the list is closed and made again, as hot reload does. Nobody waits for the end. */
  async #reopen(tab: Tab): Promise<void> {
    await this.#act(tab, () => this.#add(tab));
    await this.#act(tab, async () => {
      this.#add(tab);
      for (let turns = 0; turns < 4; turns++) await undefined;
      this.#forgetMemory(tab);
      void tab.list.close();
      tab.list = tab.make();
      this.#subscribe(tab);
      this.#add(tab);
    });
  }

  #track(tab: Tab, id: string, field: string, value: string): UserEdit {
    this.counts.edits++;
    const edit: UserEdit = {
      actor: tab.device.name,
      list: tab.list,
      id,
      field,
      value,
      seen: new Set(),
      items: field === "ID" ? [{}] : [],
      isAccepted: false,
      isInMemory: !tab.list.getSnapshot().status.kept,
      isOver: false,
      stored: 0,
      allowed: 1,
      wasStored: false,
      isHeld: false,
      hasStore: tab.list.getSnapshot().status.loaded && (tab.knowsStore || hasCopy(tab.device)),
    };
    this.#edits.set(value, edit);
    return edit;
  }

  /** Notes that the user does something about an item. Returns whether that is still the last time, in the same list. */
  #notesAct(tab: Tab, id: string): () => boolean {
    const number = ++this.#names;
    const { list, device } = tab;
    device.acts.set(id, number);
    return () => device.acts.get(id) === number && tab.list === list;
  }

  /**
   * The rule that needs no unique values: after `change()` resolves, the list shows the change, or a conflict, unless the
   * user has done something else about the item meanwhile.
   */
  #checkShown({ list, device }: Tab, id: string, field: string, value: string): void {
    const { items, pending } = list.getSnapshot();
    const shown = items.find((entry) => entry.id === id)?.item[field];
    if (shown !== value && !pending.some((edit) => edit.id === id && edit.state === "conflict"))
      this.#fail(`${device.name} changed ${field} of ${id} to ${value}, and the list shows ${shown}`);
  }

  #finish(call: Promise<unknown>, edit: UserEdit): void {
    call.then(
      () => {
        edit.isAccepted = true;
        edit.isInMemory &&= !edit.list.getSnapshot().status.kept;
      },
      () => {
        edit.isOver = true;
      },
    );
  }

  #add(tab: Tab): void {
    const id = this.#newId();
    const edit = this.#track(tab, id, "ID", `add ${id}`);
    // The list makes the ID, as in an app. The simulation must know it, so it decides which one comes next.
    this.#nextId = id;
    this.#finish(tab.list.add({ Name: `item ${id.slice(-4)}` } as unknown as Item), edit);
  }

  #change(tab: Tab, id: string): void {
    const isLast = this.#notesAct(tab, id);
    if (this.#random.chance(0.3)) {
      const value = this.#random.pick(returningValues);
      // What others have done may have arrived, and not be drawn yet, or arrive while the device is slow. If the user puts
      // the old value of a waiting edit back just then, nothing is left to send, and the list shows what they have done.
      let isChecked = true;
      const shown = () => isLast() && isChecked && this.#checkShown(tab, id, returningField, value);
      const change = (item: Item) => {
        const isDrawn = !this.#timers.some(({ owner, dueMs }) => owner === tab && dueMs <= this.#nowMs);
        const isAlone = !tab.list.getSnapshot().pending.some((edit) => edit.id === id);
        // If the item has this value already, there is nothing to do, and others may remove the item.
        isChecked = (isAlone || (isDrawn && this.#slowWrites === 0)) && item[returningField] !== value;
        return { ...item, [returningField]: value };
      };
      return void tab.list.change(id, change).then(shown, () => {});
    }
    const field = this.#random.pick(fields);
    this.#supersede(tab, id, field);
    const waiting = this.#waiting(tab, id);
    const edit = this.#track(tab, id, field, `v${++this.#names}`);
    for (const item of waiting) edit.seen.add(item[field]);
    const call = tab.list.change(id, (item) => {
      edit.seen.add(item[field]);
      edit.items.push(item);
      return { ...item, [field]: edit.value };
    });
    this.#finish(
      call.then(() => isLast() && this.#checkShown(tab, id, field, edit.value)),
      edit,
    );
  }

  /** Creates the item that was removed last again, under its ID and with something new. */
  #undo(tab: Tab): void {
    const { removed } = tab;
    tab.removed = undefined;
    const { items, pending } = tab.list.getSnapshot();
    if (!removed || items.some(({ id }) => id === removed.ID)) return;
    this.#notesAct(tab, removed.ID);
    this.#supersede(tab, removed.ID);
    // If nothing waits for this item, its earlier edits are gone, and nobody can be asked about them.
    if (!pending.some(({ id }) => id === removed.ID))
      for (const edit of this.#editsOf(tab.device.name, removed.ID)) edit.isHeld = false;
    this.#recreatable.add(removed.ID);
    this.#undone.add(removed.ID);
    // What the user had stored in it is stored once more.
    for (const edit of this.#editsOf(tab.device.name, removed.ID))
      if (removed[edit.field] === edit.value) edit.allowed++;
    const edit = this.#track(tab, removed.ID, "A", `u${++this.#names}`);
    edit.items.push(removed);
    this.#finish(tab.list.add({ ...removed, A: edit.value }), edit);
  }

  /**
   * The item as the user saw it for edits that wait: they may become one with the next. An edit that was stored waits
   * again if the user has decided to send it again.
   */
  #waiting(tab: Tab, id: string): Partial<Item>[] {
    return this.#editsOf(tab.device.name, id)
      .filter(({ wasStored, allowed }) => !wasStored || allowed > 1)
      .flatMap(({ items }) => items);
  }

  /** The edits of a device, or those of one item. */
  #editsOf(actor: string, id?: string): UserEdit[] {
    return [...this.#edits.values()].filter((edit) => edit.actor === actor && (id === undefined || edit.id === id));
  }

  #remove(tab: Tab, id: string, item: Item): void {
    const waiting = this.#waiting(tab, id);
    this.#notesAct(tab, id);
    this.#supersede(tab, id);
    const edit = this.#track(tab, id, "removed", `remove ${++this.#names}`);
    edit.wasStored = !this.#service.items.has(id);
    const decided = tab.list
      .getSnapshot()
      .pending.flatMap((one) => (one.id === id ? (one.conflict?.theirs ?? []) : []));
    for (const seen of [item, ...waiting, ...decided]) for (const name of fields) edit.seen.add(seen[name]);
    tab.removed = item;
    this.#finish(tab.list.remove(id), edit);
  }

  /** A later edit of the same user replaces earlier ones that are not stored yet. */
  #supersede(tab: Tab, id: string, field?: string): void {
    for (const edit of this.#editsOf(tab.device.name, id))
      if (field === undefined || edit.field === field) edit.isOver = true;
  }

  async #decide(tab: Tab): Promise<void> {
    const { pending } = tab.list.getSnapshot();
    const waiting = pending.find(({ state }) => state === "conflict" || state === "refused");
    if (!waiting) {
      if (this.#random.chance(0.5)) {
        for (const edit of this.#editsOf(tab.device.name)) edit.isHeld = false;
        await this.#act(tab, () => void tab.list.sendAnyway().catch(() => {}));
      } else await this.#discard(tab);
      return;
    }
    const { id, conflict, kind } = waiting;
    if (!conflict && this.#random.chance(0.5)) return this.#act(tab, () => void tab.list.retry(id).catch(() => {}));
    if (!conflict) return this.#discard(tab, id);
    this.#notesAct(tab, id);
    const mine = this.#editsOf(tab.device.name, id);
    if (mine.some((edit) => edit.wasStored && conflict.mine?.[edit.field] === edit.value))
      this.counts.conflictsAfterLostResponse++;
    const isMine = this.#random.chance(0.6);
    for (const edit of mine) {
      if (!isMine && edit.stored === 0) edit.isOver = true;
      // If the user insists on a removal, later edits of the item are dropped.
      if (isMine && kind === "remove" && edit.field !== "removed") edit.isOver = true;
      if (!isMine) continue;
      edit.allowed++;
      if (conflict.theirs) edit.items.push(conflict.theirs);
      for (const name of fields) edit.seen.add(conflict.theirs?.[name]);
    }
    if (isMine && conflict.theirs === undefined && kind !== "remove") this.#recreatable.add(id);
    await this.#act(tab, () => void tab.list.resolve(id, isMine ? "mine" : "theirs").catch(() => {}));
  }

  async #discard(tab: Tab, id?: string): Promise<void> {
    if (id === undefined) tab.device.acts.clear();
    else this.#notesAct(tab, id);
    for (const edit of this.#editsOf(tab.device.name, id)) Object.assign(edit, { isOver: true, isHeld: false });
    await this.#act(tab, () => void tab.list.discard(id).catch(() => {}));
  }

  /** Signing out. What the tab shows and what is kept is gone then, unless the user goes on editing meanwhile. */
  async #forget(tab: Tab): Promise<void> {
    const { list, device } = tab;
    device.acts.clear();
    for (const edit of this.#editsOf(device.name)) Object.assign(edit, { isOver: true, isHeld: false });
    const acts = this.#names;
    const check = () => {
      const { items, pending } = list.getSnapshot();
      if (acts === this.#names && (items.length > 0 || pending.length > 0))
        this.#fail(`${device.name} has forgotten its list, and shows ${JSON.stringify({ items, pending })}`);
    };
    await this.#act(tab, () => void list.forget().then(check, () => {}));
  }

  #nextId: string | undefined;

  #newId(): string {
    const id = this.#nextId ?? `00000000-0000-4000-8000-${String(++this.#names).padStart(12, "0")}`;
    this.#nextId = undefined;
    return id;
  }

  // ---- The service, and others who use it

  #somebodyWrites(): void {
    const { id: lastId, before } = this.#lastWrite ?? {};
    // Often they undo what a device has just done.
    if (lastId !== undefined && (before || this.#service.items.has(lastId)) && this.#random.chance(0.6))
      this.#service.write("somebody", lastId, before && JSON.stringify(before));
    else if (this.#service.items.size > 0) {
      const id = this.#random.pick([...this.#service.items.keys()]);
      const json = this.#service.items.get(id)?.json ?? "";
      const isRemoved = this.#random.chance(0.15);
      const [field, value] = this.#random.chance(0.3)
        ? [returningField, this.#random.pick(returningValues)]
        : [this.#random.pick(fields), `s${++this.#names}`];
      const changed = withField(json, field, value);
      this.#service.write("somebody", id, isRemoved ? undefined : changed);
    }
    this.#pushFeeds();
  }

  #audit(actor: string, id: string, before: Fields | undefined, after: Fields | undefined): void {
    // If anybody removes the item, there is nothing left to do for others who want that.
    if (!after)
      for (const edit of this.#edits.values()) if (edit.id === id && edit.field === "removed") edit.wasStored = true;
    if (actor === "somebody") return;
    this.#lastWrite = { id, before };
    const own = this.#editsOf(actor, id);
    if (!before) this.#auditCreate(id, own);
    else if (!after) this.#auditRemove(id, before, own);
    if (!after) return;
    for (const field of fields) {
      const value = after[field];
      if (value === before?.[field] || (value === undefined && !before)) continue;
      const edit = own.find((one) => one.field === field && one.value === value);
      if (!edit) {
        if (before && !this.#service.isPlain && !this.#undone.has(id))
          this.#fail(`${actor} wrote a value that is not its own: ${field}=${value}`);
        continue;
      }
      this.#noteStored(edit);
      if (this.#service.isPlain) {
        if (before && !this.#hasSeen(edit, before[field], own)) this.counts.lastWriterWon++;
        continue;
      }
      if (before && edit.stored > edit.allowed)
        this.#fail(`the edit ${value} of ${actor} was stored ${edit.stored} times`);
      if (before && !this.#hasSeen(edit, before[field], own))
        this.#fail(`${actor} overwrote ${field}=${before[field]} with ${value}, but had seen only ${[...edit.seen]}`);
    }
  }

  #noteStored(edit: UserEdit): void {
    if (edit.isHeld) this.#fail(`the edit ${edit.value} was sent to another store, and nobody was asked`);
    edit.stored++;
    edit.wasStored = true;
  }

  #auditCreate(id: string, own: readonly UserEdit[]): void {
    const count = (this.#created.get(id) ?? 0) + 1;
    this.#created.set(id, count);
    for (const edit of own) if (edit.field === "ID") this.#noteStored(edit);
    if (count === 1 || this.#recreatable.has(id) || this.#service.isPlain) return;
    if (this.#forgotten.has(id)) this.counts.createdAgain++;
    else this.#fail(`the item ${id} was created ${count} times`);
  }

  #auditRemove(id: string, before: Fields, own: readonly UserEdit[]): void {
    const removals = own.filter(({ field }) => field === "removed");
    // The other tab of the device may have asked for it, too.
    const isAsked = removals.some(({ isHeld }) => !isHeld);
    for (const edit of removals) {
      edit.isHeld &&= !isAsked;
      this.#noteStored(edit);
    }
    const allowed = removals.reduce((sum, edit) => sum + edit.allowed, 0);
    if (removals.some(({ stored }) => stored > allowed) && !this.#service.isPlain)
      this.#fail(`the item ${id} was removed more often than somebody has asked for it`);
    if (removals.length === 0) this.#fail(`the item ${id} was removed by a device that did not ask for it`);
    const isSeen = (field: string) => removals.some((edit) => this.#hasSeen(edit, before[field], own));
    if (!this.#service.isPlain && !fields.every(isSeen))
      this.#fail(`an item was removed that nobody had seen like this: ${JSON.stringify(before)}`);
  }

  /** Whether the user saw this value before making the edit, or replaced it in an edit that was sent together with it. */
  #hasSeen(edit: UserEdit, value: string | undefined, own: readonly UserEdit[]): boolean {
    const [open, done] = [[edit], new Set<UserEdit>()];
    for (let next = open.pop(); next; next = open.pop()) {
      if (next.seen.has(value)) return true;
      done.add(next);
      const { seen } = next;
      open.push(...own.filter((one) => seen.has(one.value) && !done.has(one)));
    }
    return own.some((one) => one.value === value);
  }

  /** The items of which nobody can tell whether they were created, because their device could only get a whole list. */
  readonly #forgotten = new Set<string>();

  /** A whole list does not say what was removed. It is allowed if the device has no token, or if it is too old. */
  #noteWholeList({ device }: Tab, { path, query }: SimulatedRequest, { feedFrom, body = "" }: SimulatedReply): void {
    const isWhole = path === "/changes/delta" && body.includes('"whole":true') && (query !== "" || !hasCopy(device));
    if (!isWhole && feedFrom !== "resync") return;
    for (const edit of this.#editsOf(device.name)) if (edit.field === "ID") this.#forgotten.add(edit.id);
  }

  async #fault(): Promise<void> {
    const device = this.#random.pick(this.#devices);
    const roll = this.#random.next();
    if (roll < 0.25) device.isCut = !device.isCut;
    else if (roll < 0.55 && device.tabs.length > 0) {
      const tab = this.#random.pick(device.tabs);
      if (this.#random.chance(0.3)) tab.storageFails = this.#random.chance(0.5) ? "once" : "outbox";
      else tab.crashes = this.#random.chance(0.5) ? "before" : "after";
    } else if (roll < 0.7) {
      if (this.#random.chance(0.1)) this.#service.forgetTombstones();
      await this.#breakFeeds(() => true);
    } else if (roll < 0.8) this.#backups.push(this.#service.backup());
    else if (roll < 0.85 && this.#backups.length > 0 && !this.#service.isPlain) await this.#restore();
    else if (roll < 0.92)
      this.#service.refusal = this.#service.refusal ? undefined : this.#random.pick([503, 401, 500, 507]);
    else {
      this.#service.readOnly = !this.#service.isPlain && !this.#service.readOnly;
      await this.#breakFeeds(() => true);
    }
    if (device.isCut) await this.#breakFeeds(({ message }) => message.tab.device === device);
  }

  async #restore(): Promise<void> {
    const backup = this.#random.pick(this.#backups);
    this.#service.restore(backup);
    this.#created = new Map([...backup.items.keys()].map((id) => [id, 1]));
    for (const edit of this.#edits.values()) {
      if (edit.stored > 0 && this.#service.fieldsOf(edit.id)?.[edit.field] !== edit.value)
        this.counts.goneAfterRestore++;
      edit.stored = 0;
      // A request that is under way cannot be held back.
      const isUnderWay = this.#messages.some(
        ({ tab, request }) => tab.device.name === edit.actor && (request.path + request.body).includes(edit.id),
      );
      // A device that polls learns of the restore only with the next poll.
      const notices = this.#devices.some(
        ({ name, streams, tabs }) => name === edit.actor && streams && !tabs.some(isPolling),
      );
      edit.isHeld = edit.isAccepted && !edit.isOver && edit.hasStore && !edit.wasStored && !isUnderWay && notices;
      // In a store without the item, there is nothing left to do for those who have removed it.
      if (edit.field === "removed" && !backup.items.has(edit.id)) edit.wasStored = true;
    }
    await this.#breakFeeds(() => true);
  }

  // ---- The network

  #fetch(tab: Tab, url: string, init: RequestInit): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (tab.isDead) return;
      const [, path = "", query = ""] = /^http:\/\/service([^?]*)(.*)$/.exec(url) ?? [];
      const ifMatch = new Headers(init.headers).get("if-match") ?? undefined;
      const request = { method: init.method ?? "GET", path, query, ifMatch, body: String(init.body ?? "") };
      const message: Message = { tab, request, resolve, reject, reply: undefined };
      this.#messages.push(message);
      init.signal?.addEventListener("abort", () => {
        // The client has given up. The request may still arrive.
        const isUnderWay = this.#messages.includes(message) && message.reply === undefined;
        this.#messages = this.#messages.filter((other) => other !== message);
        if (isUnderWay && this.#random.chance(0.5)) this.#arrive(message);
        this.#feeds = this.#feeds.filter((feed) => feed.message !== message);
        reject(new Error("aborted"));
      });
    });
  }

  async #networkActs(): Promise<void> {
    const work = this.#random.pick(this.#deliverable());
    if ("write" in work) {
      this.#storing = this.#storing.filter((other) => other !== work);
      await this.#act(work.tab, work.end);
    } else if ("request" in work) await this.#act(work.tab, () => this.#carry(work));
    else await this.#act(work.message.tab, () => this.#deliver(work));
  }

  #deliverable(): readonly (Message | Feed | Storing)[] {
    return [
      ...this.#storing,
      ...this.#messages,
      ...this.#feeds.filter(({ waiting, chunks }) => waiting && chunks.length > 0),
    ];
  }

  #carry(message: Message): void {
    const { tab, resolve, reject } = message;
    const { feedFrom } = message.reply ?? {};
    // A restore breaks the feeds, and so do forgotten tombstones, also one whose response is still under way.
    const isBroken = typeof feedFrom === "object" && !this.#service.knows(feedFrom);
    const isLost = isBroken || (!this.#isCalm && (tab.device.isCut || this.#random.chance(0.05)));
    if (message.reply === undefined && !isLost) {
      // Somebody else may answer, such as the network of a hotel. Other servers cannot be told from it.
      const isPage = !this.#isCalm && !this.#service.isPlain && this.#random.chance(0.01);
      if (isPage) message.reply = { status: 200, type: "text/html", body: "<html>Welcome!</html>" };
      else this.#arrive(message);
      // Without a feed, the device polls. It may send its edits before it learns of a restore.
      if (isPage && message.request.path === "/changes/events")
        for (const edit of this.#editsOf(tab.device.name)) edit.isHeld = false;
      return;
    }
    this.#messages = this.#messages.filter((other) => other !== message);
    // Bun's `fetch` reports this also if its first attempt was stored, and only its second one was refused.
    const failure = Object.assign(new TypeError("the connection was lost"), { code: "ECONNREFUSED" });
    // The hardest case: nobody knows whether an item was created, it is removed, and the device cannot note it.
    if (isLost && message.reply?.status === 201) {
      this.#lastWrite = { id: (JSON.parse(message.request.body) as Item).ID, before: undefined };
      tab.storageFails ??= this.#random.chance(0.2) ? "outbox" : undefined;
    }
    if (isLost || !message.reply) reject(failure);
    else resolve(this.#response(message, message.reply));
  }

  #arrive(message: Message): void {
    const { refusal } = this.#service;
    const { method, path, body } = message.request;
    // The tab has crashed, and the next one may send the edit again before it hears of this.
    if (message.tab.isDead)
      for (const { id } of this.#editsOf(message.tab.device.name))
        if ((path + body).includes(id)) this.#forgotten.add(id);
    // A server that fails may have stored the request before.
    if (refusal === 500 && this.#random.chance(0.5)) this.#service.refusal = undefined;
    message.reply = this.#service.handle(message.tab.device.name, message.request);
    this.#noteWholeList(message.tab, message.request, message.reply);
    if (method === "DELETE" && message.reply.status === 404)
      for (const edit of this.#edits.values())
        if (edit.field === "removed" && path.endsWith(edit.id)) edit.wasStored = true;
    if (refusal === 500) message.reply = { status: 500 };
    this.#service.refusal = refusal;
    this.#pushFeeds();
  }

  #response(message: Message, reply: SimulatedReply): unknown {
    const { status, type, etag, body = "", feedFrom } = reply;
    const headers = new Headers({ ...(type && { "Content-Type": type }), ...(etag && { ETag: etag }) });
    const read = feedFrom ? this.#openFeed(message, feedFrom) : readOnce(body);
    const text = async () => (feedFrom ? new Promise<string>(() => {}) : body);
    const stream = message.tab.device.streams ? { body: { getReader: () => ({ read }) } } : {};
    return { status, ok: status >= 200 && status < 300, statusText: "", type: "basic", headers, text, ...stream };
  }

  #openFeed(message: Message, from: { readonly version: number } | "resync"): () => Promise<unknown> {
    const { epoch, version, readOnly } = this.#service;
    const feed: Feed = { message, chunks: [], version: from === "resync" ? version : from.version, waiting: undefined };
    feed.chunks.push(`event: ready\ndata: {"epoch":"${epoch}","version":${version},"readOnly":${readOnly}}\n\n`);
    if (from === "resync") feed.chunks.push(`event: resync\ndata: {}\n\n`);
    this.#feeds.push(feed);
    this.#pushFeeds();
    return () =>
      new Promise((resolve, reject) => {
        feed.waiting = { resolve, reject };
        // The feed was broken in the meantime.
        if (!this.#feeds.includes(feed)) reject(new TypeError("the feed is broken"));
      });
  }

  #pushFeeds(): void {
    for (const feed of this.#feeds) {
      for (const { version, json } of this.#service.changesSince(feed.version))
        feed.chunks.push(`event: change\nid: ${this.#service.epoch}-${version}\ndata: ${json}\n\n`);
      feed.version = this.#service.version;
    }
  }

  #deliver(feed: Feed): void {
    const { waiting, chunks } = feed;
    const chunk = waiting && chunks.shift();
    if (chunk === undefined) return;
    feed.waiting = undefined;
    waiting?.resolve({ done: false, value: new TextEncoder().encode(chunk) });
  }

  async #breakFeeds(isBroken: (feed: Feed) => boolean): Promise<void> {
    const broken = this.#feeds.filter(isBroken);
    this.#feeds = this.#feeds.filter((feed) => !broken.includes(feed));
    for (const { message, waiting } of broken)
      await this.#act(message.tab, () => waiting?.reject(new TypeError("the feed is broken")));
  }

  async #fireTimer(): Promise<void> {
    let first: Timer | undefined;
    for (const timer of this.#timers) if (!first || timer.dueMs < first.dueMs) first = timer;
    if (!first) return;
    const { owner, run, dueMs } = first;
    this.#timers = this.#timers.filter((timer) => timer !== first);
    this.#nowMs = dueMs;
    if (owner && !owner.isDead) await this.#act(owner, run);
  }

  // ---- The end

  /** Heals everything, decides everything, and waits until all devices have the list of the service. */
  async #settle(): Promise<void> {
    this.#isCalm = true;
    Object.assign(this.#service, { refusal: undefined, readOnly: false });
    await this.#breakFeeds(() => true);
    for (const device of this.#devices) {
      device.isCut = false;
      for (const tab of device.tabs) tab.crashes = undefined;
      if (device.tabs.length === 0) await this.#openTab(device);
      for (const tab of device.tabs) await this.#act(tab, () => void tab.list.retry());
    }
    const tabs = () => this.#devices.flatMap((device) => device.tabs);
    const shown = (tab: Tab) => JSON.stringify(tab.list.getSnapshot().items.map(({ item }) => item));
    const isSettled = () => {
      const list = `[${this.#service.list.join()}]`;
      return tabs().every((tab) => tab.list.getSnapshot().pending.length === 0 && sameItems(shown(tab), list));
    };
    for (let step = 0; !isSettled() && !this.violation; step++) {
      if (step > 5_000) {
        const states = tabs().map((tab) => {
          const { pending, status } = tab.list.getSnapshot();
          return JSON.stringify({ device: tab.device.name, shown: shown(tab), pending, status });
        });
        this.#fail(`the devices do not settle:\n${[...this.#service.list, ...states].join("\n")}`);
      }
      for (const tab of tabs()) {
        const { pending, status } = tab.list.getSnapshot();
        if (status.needsCredentials && status.connection.kind !== "connecting")
          await this.#act(tab, () => void tab.list.retry());
        if (pending.some(({ state }) => ["conflict", "held", "refused"].includes(state))) await this.#decide(tab);
      }
      if (this.#deliverable().length > 0 && this.#random.chance(0.95)) await this.#networkActs();
      else await this.#fireTimer();
    }
    for (const edit of this.#edits.values())
      if (edit.isAccepted && !edit.isOver && !edit.wasStored && !this.#isDone(edit) && !this.#service.isPlain)
        this.#fail(`the edit ${JSON.stringify({ ...edit, list: undefined, seen: [...edit.seen] })} was lost`);
  }

  /** A removal is done if the item is gone anyway. */
  #isDone({ field, id }: UserEdit): boolean {
    return field === "removed" && !this.#service.items.has(id);
  }

  #fail(what: string): void {
    this.violation ??= new Violation(what);
  }
}

function isPolling({ list }: Tab): boolean {
  return list.getSnapshot().status.connection.kind === "polling";
}

/** Whether a copy of the list is kept on the device. It has a token, which names a store. */
function hasCopy({ values }: Device): boolean {
  return [...values.keys()].some((key) => key.endsWith("/copy"));
}

function readOnce(body: string): () => Promise<unknown> {
  let isRead = false;
  return async () => {
    if (isRead) return { done: true };
    isRead = true;
    return { done: false, value: new TextEncoder().encode(body) };
  };
}

/** Whether two lists have the same items in the same order. The order of fields does not matter. */
function sameItems(one: string, other: string): boolean {
  const sorted = (text: string) =>
    JSON.stringify((JSON.parse(text) as Fields[]).map((item) => Object.entries(item).sort()));
  return sorted(one) === sorted(other);
}

/** Runs simulations until this many steps are done, and returns what was allowed and how often it happened. */
export async function simulate(steps: number, firstSeed: number, stepsEach = 2_000): Promise<Counts> {
  const total: Counts = { ...noCounts };
  for (let seed = firstSeed; (seed - firstSeed) * stepsEach < steps; seed++) {
    const simulation = new Simulation(seed);
    try {
      await simulation.run(Math.min(stepsEach, steps));
    } catch (error) {
      throw error instanceof Violation ? new Violation(`seed ${seed}: ${error.message}`) : error;
    }
    for (const [name, count] of Object.entries(simulation.counts)) total[name as keyof Counts] += count;
  }
  return total;
}
