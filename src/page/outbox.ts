// The user's edits that the change feed has not reported back yet, in the order they were made. The page shows the
// service's items with these edits applied, so the user sees an edit at once. Removing an edit from this list undoes it
// on the page. Edits that the service has not stored are kept by the browser, so they survive a reload and a closed tab.

export type Edit =
  | { readonly kind: "create"; readonly id: string; readonly json: string }
  | {
      readonly kind: "update";
      readonly id: string;
      readonly json: string;
      readonly etag: string | undefined;
      /** The item as it was before the edit, when it had this ETag. Edits of older versions of the page lack it. */
      readonly base?: string;
    }
  | { readonly kind: "delete"; readonly id: string; readonly etag: string | undefined };

/** The service's version of an item that the user has edited too. */
export interface Theirs {
  readonly json: string;
  /** The same with the user's changes to those fields that nobody else has changed. */
  readonly withMine: string;
  readonly etag: string | undefined;
}

export interface Conflict {
  /** The service's version of the item; undefined if somebody else deleted the item. */
  readonly theirs: Theirs | undefined;
  /** True if the user's edit is a deletion. */
  readonly deletes: boolean;
}

/** An edit as the browser keeps it until the next visit. */
export interface KeptEdit {
  readonly edit: Edit;
  /** The store that the user saw when making the edit. Undefined if the page was not connected to it yet. */
  readonly epoch: string | undefined;
  /** The edit is not sent before this time, in milliseconds since 1970. So a deletion can be undone in place. */
  readonly notBefore: number;
}

export interface OutboxEntry {
  readonly number: number;
  edit: Edit;
  epoch: string | undefined;
  notBefore: number;
  /**
   * An entry stays in the outbox after the service has stored its edit, until the change feed has reported the edit.
   * Otherwise the page would show the old version of the item for a moment. A refused edit stays, too: the user can
   * change it or discard it.
   */
  state: "waiting" | "sending" | "stored" | "conflict" | "refused";
  /** True if the user must confirm the edit before it is sent, because it may belong to another store. */
  held: boolean;
  /** The item's ETag and version after the service stored this edit. Undefined until then. */
  storedAs: { readonly etag: string | undefined; readonly version: number | undefined } | undefined;
  conflict: Conflict | undefined;
  /** Why the service refused the edit. Undefined unless it did. */
  problem: string | undefined;
}

export class Outbox {
  readonly #keep: (edits: readonly KeptEdit[]) => void;
  #entries: OutboxEntry[] = [];
  #number = 0;
  /** The store that the page is connected to, or was connected to last. */
  #epoch: string | undefined;
  #isConnected = false;
  /** True if a deletion may have to be merged into an earlier edit when it is due. */
  #mayMerge = false;

  /** `keep` is called with all edits that the service has not stored, whenever one of them changes. */
  constructor(keep: (edits: readonly KeptEdit[]) => void) {
    this.#keep = keep;
  }

  get entries(): readonly OutboxEntry[] {
    return this.#entries;
  }

  /** The edits that the user must confirm before they are sent. */
  get held(): readonly OutboxEntry[] {
    return this.#entries.filter(({ held }) => held);
  }

  /** The number of edits that the service has not stored yet, without those that the user must confirm. */
  get unsentCount(): number {
    return this.#entries.filter(({ state, held }) => state !== "stored" && !held).length;
  }

  /** Adds the edits of an earlier visit. If `held` is true, the user must confirm them. */
  restore(edits: readonly KeptEdit[], held: boolean): void {
    for (const { edit, epoch, notBefore } of edits)
      Object.assign(this.#push(edit), { epoch, notBefore, held: held || this.#isForeign(epoch) });
    this.#mayMerge = true;
    this.#keepUnsent();
  }

  /** Call this when the page is connected to a store. Edits of another store are held until the user confirms them. */
  connected(epoch: string | undefined): void {
    this.#epoch = epoch;
    this.#isConnected = true;
    for (const entry of this.#entries) {
      if (entry.state === "stored") continue;
      entry.epoch ??= epoch;
      if (this.#isForeign(entry.epoch)) entry.held = true;
    }
    this.#keepUnsent();
  }

  /** Until the page is connected again, no edit is sent: another store may answer at the same address. */
  disconnected(): void {
    this.#isConnected = false;
  }

  /** Sends the held edits to the store that the page is connected to. */
  confirmHeld(): void {
    for (const entry of this.held) Object.assign(entry, { held: false, epoch: this.#epoch });
    this.#keepUnsent();
  }

  discardHeld(): void {
    this.#entries = this.#entries.filter(({ held }) => !held);
    this.#keepUnsent();
  }

  /**
   * Adds an edit. If the latest edit of the same item still waits, has a conflict or was refused, an update or a
   * deletion is merged into it. But a deletion that can be undone is merged only when it is due, because undoing it
   * must bring back the earlier edit.
   */
  add(edit: Edit, notBefore = 0): void {
    this.addAll([edit], notBefore);
  }

  /** Adds several edits and keeps them all at once, because keeping them one by one would take long. */
  addAll(edits: readonly Edit[], notBefore = 0): void {
    for (const edit of edits) this.#add(edit, notBefore);
    this.#keepUnsent();
  }

  #add(edit: Edit, notBefore: number): void {
    const latest = this.#entries.findLast((entry) => entry.edit.id === edit.id && !entry.held);
    if (!latest || edit.kind === "create") this.#push(edit).notBefore = notBefore;
    else if (isUnsent(latest) && notBefore === 0) this.#merge(latest, edit);
    // The new edit is based on the result of the latest one, so it needs the ETag of that result. As long as the latest
    // edit is not stored, this ETag is unknown, and `stored` sets it later.
    else {
      this.#push({ ...edit, etag: latest.storedAs?.etag }).notBefore = notBefore;
      this.#mayMerge = true;
    }
  }

  /** The next edit to send now; undefined if there is none. Edits of an item with a conflict wait until it is resolved. */
  next(now: number): OutboxEntry | undefined {
    if (!this.#isConnected) return undefined;
    this.#mergeDeletions(now);
    const blocked = new Set<string>();
    for (const entry of this.#entries) {
      const { state, held, notBefore, edit } = entry;
      if (state === "stored" || held) continue;
      if (state === "sending") return entry;
      if (state === "waiting" && notBefore <= now && !blocked.has(edit.id)) return entry;
      blocked.add(edit.id);
    }
    return undefined;
  }

  /** The earliest time at which an edit that is not due yet may be sent. Undefined if there is none. */
  nextTime(now: number): number | undefined {
    const times = this.#entries.filter(({ state }) => state === "waiting").map(({ notBefore }) => notBefore);
    return times.filter((time) => time > now).reduce<number | undefined>((a, b) => Math.min(a ?? b, b), undefined);
  }

  /** The edits of these items may be sent now. */
  release(ids: ReadonlySet<string>): void {
    for (const entry of this.#entries) if (ids.has(entry.edit.id)) entry.notBefore = 0;
    this.#keepUnsent();
  }

  /** Marks an edit as stored. Later edits of the same item are based on its result, so they get the new ETag. */
  stored(entry: OutboxEntry, etag: string | undefined, version: number | undefined): void {
    entry.state = "stored";
    entry.storedAs = { etag, version };
    for (const later of this.#entries) {
      if (later.number > entry.number && later.edit.id === entry.edit.id && later.edit.kind !== "create")
        later.edit = { ...later.edit, etag };
    }
    this.#keepUnsent();
  }

  /** Bases an update on a newer version of its item. It waits to be sent again. */
  rebase(entry: OutboxEntry, json: string, { json: base, etag }: Pick<Theirs, "json" | "etag">): void {
    entry.edit = { kind: "update", id: entry.edit.id, json, etag, base };
    entry.state = "waiting";
    entry.conflict = undefined;
    this.#keepUnsent();
  }

  conflicted(entry: OutboxEntry, theirs: Theirs | undefined): void {
    entry.state = "conflict";
    entry.conflict = { theirs, deletes: entry.edit.kind === "delete" };
  }

  /** Keeps an edit that the service refused, until the user changes or discards it. */
  refused(entry: OutboxEntry, problem: string): void {
    entry.state = "refused";
    entry.problem = problem;
  }

  /**
   * Resolves a conflict in favour of the user: the edit will be sent again, now based on the service's version of the
   * item. If the service no longer has the item, an update becomes a create.
   */
  insist(entry: OutboxEntry): void {
    const { edit, conflict } = entry;
    if (conflict?.theirs && edit.kind === "update") {
      this.rebase(entry, edit.json, conflict.theirs);
      return;
    }
    if (conflict?.theirs) entry.edit = edit.kind === "create" ? edit : { ...edit, etag: conflict.theirs.etag };
    else if (edit.kind === "update") entry.edit = { kind: "create", id: edit.id, json: edit.json };
    entry.state = "waiting";
    entry.conflict = undefined;
    this.#keepUnsent();
  }

  /** Removes an edit and all later edits of the same item. */
  drop(entry: OutboxEntry): void {
    this.#entries = this.#entries.filter(({ number, edit }) => number < entry.number || edit.id !== entry.edit.id);
    this.#keepUnsent();
  }

  /**
   * Removes the stored edits that the change feed has reported. A deletion has been reported if `isThere` returns false
   * for its item. Any other edit has been reported if it was stored at or before this version.
   */
  settle(version: number, isThere: (id: string) => boolean): void {
    const isReported = ({ state, edit, storedAs }: OutboxEntry) =>
      state === "stored" && (edit.kind === "delete" ? !isThere(edit.id) : (storedAs?.version ?? 0) <= version);
    // When an edit has been reported, older edits of the same item are removed too.
    const reported = new Map(this.#entries.filter(isReported).map(({ edit, number }) => [edit.id, number]));
    if (reported.size === 0) return;
    this.#entries = this.#entries.filter(({ edit, number }) => number > (reported.get(edit.id) ?? -1));
  }

  #isForeign(epoch: string | undefined): boolean {
    return this.#isConnected && epoch !== undefined && epoch !== this.#epoch;
  }

  /** Merges each deletion that is due into the unsent edit before it, because nobody needs that edit any more. */
  #mergeDeletions(now: number): void {
    if (!this.#mayMerge) return;
    this.#mayMerge = false;
    const unsent = new Map<string, OutboxEntry>();
    for (const entry of this.#entries.filter((other) => !other.held && isUnsent(other))) {
      const { edit, notBefore, state } = entry;
      const before = unsent.get(edit.id);
      if (before && edit.kind === "delete" && state === "waiting" && notBefore <= now) {
        this.drop(entry);
        this.#merge(before, edit);
        continue;
      }
      unsent.set(edit.id, entry);
      if (before) this.#mayMerge = true;
    }
  }

  #merge(entry: OutboxEntry, edit: Edit): void {
    const { edit: before } = entry;
    if (before.kind === "create" && edit.kind === "delete") {
      this.drop(entry);
      return;
    }
    if (before.kind === "create" && edit.kind === "update") entry.edit = { ...before, json: edit.json };
    else if (before.kind === "update" && edit.kind === "update") entry.edit = { ...before, json: edit.json };
    else if (before.kind !== "create" && edit.kind !== "create") entry.edit = { ...edit, etag: before.etag };
    if (entry.state !== "refused") return;
    entry.state = "waiting";
    entry.problem = undefined;
  }

  #push(edit: Edit): OutboxEntry {
    const entry: OutboxEntry = {
      number: this.#number++,
      edit,
      epoch: this.#epoch,
      notBefore: 0,
      state: "waiting",
      held: false,
      storedAs: undefined,
      conflict: undefined,
      problem: undefined,
    };
    this.#entries.push(entry);
    return entry;
  }

  #keepUnsent(): void {
    this.#keep(
      this.#entries
        .filter(({ state }) => state !== "stored")
        .map(({ edit, epoch, notBefore }) => ({ edit, epoch, notBefore })),
    );
  }
}

/** True if no request for this edit has been made, or the service did not accept it. */
function isUnsent({ state }: OutboxEntry): boolean {
  return state !== "sending" && state !== "stored";
}
