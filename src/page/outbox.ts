// The user's edits that the change feed has not reported back yet, in the order they were made. The page shows the
// service's items with these edits applied, so the user sees an edit at once. Removing an edit from this list undoes it
// on the page. The browser keeps the edits that the service has not stored, so they survive a reload and a closed tab.

import type { Edit, KeptEdit, Theirs, Versions } from "./edit.ts";
import { holdRestored, holdWhenConnected, releaseToOwner, waitsAfterSignOut } from "./held-edits.ts";
import { isBasedOn, type Later, mergedEdit } from "./merged-edit.ts";
import { isKept, isUnsent, keptEdit, newEntry, type OutboxEntry } from "./outbox-entry.ts";

export class Outbox {
  readonly #keep: (edits: readonly KeptEdit[]) => void;
  #entries: OutboxEntry[] = [];
  #number = 0;
  /** Identifies the store that the page is connected to, or was connected to last. */
  #epoch: string | undefined;
  #isConnected = false;
  /**
   * True if the service is read-only, so it stores no edits. Edits that were made while it was writable wait until it
   * is writable again.
   */
  #isReadOnly: boolean;
  /**
   * True if there may be a deletion that must be merged into an earlier edit, once the deletion can no longer be
   * undone.
   */
  #mayMerge = false;

  /**
   * `keep` gets all edits that the service has not stored, except those that the user made on a read-only service. It
   * is called whenever these edits change. Only `giveUp` does not call it.
   */
  constructor(keep: (edits: readonly KeptEdit[]) => void, isReadOnly = false) {
    this.#keep = keep;
    this.#isReadOnly = isReadOnly;
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

  /** The number of edits that are sent as soon as the service can be reached. */
  get sendableCount(): number {
    const isSendable = ({ state }: OutboxEntry) => state === "waiting" || state === "sending";
    return this.#entries.filter((entry) => isSendable(entry) && !entry.held && !this.#isPaused(entry)).length;
  }

  /** The number of edits that wait because the service is read-only. */
  get pausedCount(): number {
    return this.#entries.filter((entry) => entry.state === "waiting" && !entry.held && this.#isPaused(entry)).length;
  }

  /**
   * Adds the edits of an earlier visit, or of a closed page. If `held` is true, the user must confirm all of them.
   * Otherwise the user must confirm only those that are for another store, or of a user who has signed out. An edit that
   * may have been stored is not sent again before `resendTime`.
   */
  restore(edits: readonly KeptEdit[], held: boolean, resendTime = 0): void {
    for (const { edit, epoch, maybeStored = false, owner } of edits) {
      const entry = this.#push(edit, false);
      Object.assign(entry, { epoch, maybeStored, notBefore: maybeStored ? resendTime : 0 });
      holdRestored(entry, held, this.#isForeign(epoch), owner);
    }
    this.#mayMerge = true;
    this.#keepUnsent();
  }

  /**
   * Call this when the page is connected to a store. Edits for another store then wait until the user confirms them, or
   * until the page is connected to their own store again.
   */
  connected(epoch: string | undefined, isReadOnly = false): void {
    this.#epoch = epoch;
    this.#isConnected = true;
    this.#isReadOnly = isReadOnly;
    for (const entry of this.#entries) {
      if (entry.state === "stored") continue;
      entry.epoch ??= epoch;
      holdWhenConnected(entry, this.#isForeign(entry.epoch), isReadOnly);
    }
    this.#keepUnsent();
  }

  /** Until the page is connected again, no edit is sent: another store may answer at the same address. */
  disconnected(): void {
    this.#isConnected = false;
  }

  /**
   * Call this when the user has confirmed the held edits. They may then be sent to the store that the page is connected
   * to.
   */
  confirmHeld(): void {
    for (const entry of this.held)
      Object.assign(entry, { held: false, isForeign: false, owner: undefined, epoch: this.#epoch });
    this.#keepUnsent();
  }

  /**
   * If an item is gone, removes its deletion if the deletion comes from an earlier visit or a closed page, or if its
   * answer was lost. A page sends its deletions when it is closed, but does not learn the answers.
   */
  dropDoneDeletions(isThere: (id: string) => boolean): void {
    const isOnly = (entry: OutboxEntry) => this.#entries.every((one) => one === entry || one.edit.id !== entry.edit.id);
    const isDone = (entry: OutboxEntry) => {
      const { held, maybeStored, state, epoch, edit } = entry;
      if (edit.kind !== "delete" || state !== "waiting" || epoch !== this.#epoch) return false;
      return (held || maybeStored) && !isThere(edit.id) && isOnly(entry);
    };
    const done = new Set(this.#entries.filter(isDone));
    if (done.size === 0) return;
    this.#entries = this.#entries.filter((entry) => !done.has(entry));
    this.#keepUnsent();
  }

  /**
   * Call this when a user signs out. The next user may be somebody else. So the edits that are not sent yet are held,
   * until the same user signs in again or another one confirms them.
   */
  holdFor(username: string): void {
    for (const entry of this.#entries.filter(waitsAfterSignOut)) {
      this.waits(entry, entry.maybeStored);
      Object.assign(entry, { held: true, owner: username });
    }
    this.#keepUnsent();
  }

  /** Releases the edits that are held for this user. Returns false if there are none. */
  releaseFor(username: string): boolean {
    const owned = this.#entries.filter(({ owner }) => owner === username);
    for (const entry of owned) releaseToOwner(entry);
    if (owned.length > 0) this.#keepUnsent();
    return owned.length > 0;
  }

  /** Removes these edits. */
  discard(discarded: readonly OutboxEntry[]): void {
    const gone = new Set(discarded);
    this.#entries = this.#entries.filter((entry) => !gone.has(entry));
    this.#keepUnsent();
  }

  /** Adds discarded edits again, at their old places. */
  takeBack(discarded: readonly OutboxEntry[]): void {
    // An edit that was just being sent may have been stored. Its answer was ignored.
    for (const entry of discarded) if (entry.state === "sending") this.waits(entry, true);
    this.#entries = [...this.#entries, ...discarded].sort((one, other) => one.number - other.number);
    this.#keepUnsent();
  }

  /**
   * Adds an edit. If the service has certainly not stored the latest edit of the same item, an update or a deletion is
   * merged into that edit. There are two exceptions. An update is not merged if the user has not seen the result of the
   * latest edit. A deletion that can be undone is not merged yet, because undoing it must bring back the earlier edit.
   */
  add(edit: Edit, notBefore = 0): void {
    this.addAll([edit], notBefore);
  }

  /** Adds several edits and saves them all at once. Saving them one by one would be slow. */
  addAll(edits: readonly Edit[], notBefore = 0): void {
    for (const edit of edits) this.#add(edit, notBefore);
    this.#keepUnsent();
  }

  #add(edit: Edit, notBefore: number): void {
    const latest = this.#entries.findLast(
      (entry) => entry.edit.id === edit.id && !entry.held && !this.#isPaused(entry),
    );
    if (!latest || edit.kind === "create") this.#push(edit).notBefore = notBefore;
    // The latest edit was merged with somebody else's changes, and the user has not seen the result. So this update
    // gets the same ETag as the latest edit. That ETag is out of date as soon as the latest edit is stored. The service
    // will then answer with the newest version, and the sender compares this update with that version.
    else if (latest.edit.kind === "update" && edit.kind === "update" && !isBasedOn(edit, latest.edit))
      this.#push({ ...edit, etag: latest.edit.etag });
    else if (isUnsent(latest) && notBefore === 0) this.#merge(latest, edit);
    // The new edit is based on the result of the latest one, so it needs the ETag of that result. As long as the latest
    // edit is not stored, this ETag is unknown, and `stored` sets it later.
    else {
      this.#push({ ...edit, etag: latest.storedAs?.etag }).notBefore = notBefore;
      this.#mayMerge = true;
    }
  }

  /**
   * Returns the next edit to send now; undefined if there is none. An edit must wait while an earlier edit of the same
   * item cannot be sent, for example because of a conflict.
   */
  next(now: number): OutboxEntry | undefined {
    for (const entry of this.#due(now)) return entry;
    return undefined;
  }

  /** The deletions that can be sent now, in any order. */
  dueDeletions(now: number): readonly OutboxEntry[] {
    return [...this.#due(now)].filter(({ edit }) => edit.kind === "delete");
  }

  *#due(now: number): Iterable<OutboxEntry> {
    if (!this.#isConnected) return;
    this.#mergeDeletions(now);
    const blocked = new Set<string>();
    for (const entry of this.#entries) {
      const { state, held, notBefore, edit } = entry;
      if (state === "stored" || held || this.#isPaused(entry)) continue;
      if (state === "waiting" && notBefore <= now && !blocked.has(edit.id)) yield entry;
      blocked.add(edit.id);
    }
  }

  /** The earliest time at which an edit that is not due yet may be sent. Undefined if there is no such edit. */
  nextTime(now: number): number | undefined {
    const times = this.#entries.filter(({ state }) => state === "waiting").map(({ notBefore }) => notBefore);
    return times.filter((time) => time > now).reduce<number | undefined>((a, b) => Math.min(a ?? b, b), undefined);
  }

  /** Allows the edits of these items to be sent now, without waiting until they are due. By default, all edits. */
  release(ids?: ReadonlySet<string>): void {
    for (const entry of this.#entries) if (!ids || ids.has(entry.edit.id)) entry.notBefore = 0;
  }

  /** Forgets the edits that are also in the browser's database. They stay there until a page takes them over. */
  giveUp(): void {
    this.#entries = this.#entries.filter((entry) => !isKept(entry));
  }

  has(entry: OutboxEntry): boolean {
    return this.#entries.includes(entry);
  }

  /** Call this before an edit is sent. Until the answer comes, nobody knows whether the service has stored the edit. */
  sending(entry: OutboxEntry): void {
    entry.state = "sending";
    this.#keepUnsent();
  }

  /** Makes an edit wait to be sent again. */
  waits(entry: OutboxEntry, maybeStored: boolean): void {
    Object.assign(entry, { state: "waiting", maybeStored, conflict: undefined, problem: undefined });
    this.#keepUnsent();
  }

  /**
   * Call this if the service turned out to be read-only: it answered as usual, but has not stored the edit. If the user
   * knew that it was read-only, the edit is dropped. Otherwise the edit waits.
   */
  notKept(entry: OutboxEntry): void {
    this.#isReadOnly = true;
    if (entry.isTrial) this.drop(entry);
    else this.waits(entry, false);
  }

  /** Marks an edit as stored. Later edits of the same item that are based on its result get the new ETag. */
  stored(entry: OutboxEntry, etag: string | undefined, version: number | undefined): void {
    entry.state = "stored";
    entry.storedAs = { etag, version };
    this.#tagLater(entry, etag);
    this.#keepUnsent();
  }

  /** Bases an update on a newer version of its item. The update then waits to be sent again. */
  rebase(entry: OutboxEntry, json: string, { json: base, etag }: Theirs): void {
    // Later edits are based on this edit as it was before. They get its old ETag, which is out of date. So they will be
    // compared with the newest version, too.
    if (entry.edit.kind !== "create") this.#tagLater(entry, entry.edit.etag);
    entry.edit = { kind: "update", id: entry.edit.id, json, etag, base };
    this.waits(entry, false);
  }

  /** Lets a deletion wait to be sent again, for the version of its item with this ETag. */
  deleteVersion(entry: OutboxEntry, edit: Edit & { kind: "delete" }, etag: string | undefined): void {
    entry.edit = { ...edit, etag };
    this.waits(entry, false);
  }

  /**
   * Marks an edit as conflicting with the service's version. `versions` are the texts that the user can choose between.
   * By default, these are the text of the edit and the text of the service.
   */
  conflicted(entry: OutboxEntry, theirs: Theirs | undefined, versions?: Versions): void {
    this.waits(entry, false);
    entry.state = "conflict";
    const mine = entry.edit.kind === "delete" ? (entry.edit.base ?? "") : entry.edit.json;
    entry.conflict = {
      theirs: theirs && { ...theirs, versions: versions ?? { mine, theirs: theirs.json } },
      deletes: entry.edit.kind === "delete",
    };
  }

  /** Keeps an edit that the service refused, until the user changes or discards it. */
  refused(entry: OutboxEntry, problem: string): void {
    this.waits(entry, false);
    entry.state = "refused";
    entry.problem = problem;
  }

  /**
   * Call this if the service has not accepted an edit. If the user has updated the item again meanwhile, merges that
   * update into this edit and returns true. The edit then waits to be sent again. Otherwise returns false.
   */
  takeLater(entry: OutboxEntry): boolean {
    const later = this.#laterThan(entry).find(({ held }) => !held);
    if (later?.edit.kind !== "update" || entry.edit.kind === "delete" || !isBasedOn(later.edit, entry.edit))
      return false;
    this.#entries = this.#entries.filter((other) => other !== later);
    this.#merge(entry, later.edit);
    this.waits(entry, entry.maybeStored);
    return true;
  }

  /**
   * Resolves a conflict in favour of the user: the edit will be sent again, now based on the service's version of the
   * item. If the service no longer has the item, an update becomes a create.
   */
  insist(entry: OutboxEntry): void {
    const { edit, conflict } = entry;
    const theirs = conflict?.theirs;
    if (theirs && edit.kind === "update") this.rebase(entry, theirs.versions.mine, theirs);
    else {
      if (theirs && edit.kind === "delete") entry.edit = { ...edit, etag: theirs.etag };
      if (!theirs && edit.kind === "update") entry.edit = { kind: "create", id: edit.id, json: edit.json };
      this.waits(entry, false);
    }
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

  #isPaused({ isTrial }: OutboxEntry): boolean {
    return this.#isReadOnly && !isTrial;
  }

  #isForeign(epoch: string | undefined): boolean {
    return this.#isConnected && epoch !== undefined && epoch !== this.#epoch;
  }

  /**
   * If an unsent edit is followed by a deletion of the same item, and the deletion can no longer be undone, merges the
   * two, because nobody needs the earlier edit any more.
   */
  #mergeDeletions(now: number): void {
    if (!this.#mayMerge) return;
    this.#mayMerge = false;
    const unsent = new Map<string, OutboxEntry>();
    for (const entry of this.#entries.filter((other) => !other.held && !this.#isPaused(other) && isUnsent(other))) {
      const { edit, notBefore, state } = entry;
      const before = unsent.get(edit.id);
      if (before && edit.kind === "delete" && state === "waiting" && notBefore <= now) {
        this.drop(entry);
        // If the edit before this deletion was merged with changes that the user has not seen, the deletion already has
        // an ETag. Keep that ETag.
        this.#merge(before, edit, edit.etag);
        continue;
      }
      unsent.set(edit.id, entry);
      if (before) this.#mayMerge = true;
    }
  }

  /** Merges an edit into the earlier edit of `entry`. */
  #merge(entry: OutboxEntry, edit: Later, etag?: string): void {
    const merged = mergedEdit(entry.edit, edit, etag);
    if (!merged) {
      this.drop(entry);
      return;
    }
    entry.edit = merged;
    // A conflict or a refusal of the earlier edit says nothing about the merged edit. So the merged edit waits to be
    // sent.
    if (entry.state !== "sending") this.waits(entry, false);
  }

  #laterThan({ number, edit: { id } }: OutboxEntry): OutboxEntry[] {
    return this.#entries.filter((other) => other.number > number && other.edit.id === id);
  }

  /** Gives an ETag to the later edits of the same item that have none. */
  #tagLater(entry: OutboxEntry, etag: string | undefined): void {
    for (const later of this.#laterThan(entry))
      if (later.edit.kind !== "create") later.edit = { ...later.edit, etag: later.edit.etag ?? etag };
  }

  #push(edit: Edit, isTrial = this.#isReadOnly): OutboxEntry {
    const entry = newEntry({ number: this.#number++, edit, epoch: this.#epoch, isTrial });
    this.#entries.push(entry);
    return entry;
  }

  #keepUnsent(): void {
    this.#keep(this.#entries.filter(isKept).map(keptEdit));
  }
}
