// What the page knows and does: the items as the service has them (kept current by the change feed), the
// changes made here on top of them, and the sending of those, one after the other. Nothing here knows of
// a document; the view draws what it finds and calls what it needs.

import { isTodoError, type TodoClient, type WatchEvent, type WatchState } from "../client/index.ts";
import { newId, sameContent } from "../client/item-text.ts";
import { parseToken } from "../items/token.ts";
import { type ItemFields, newItem, readFields, type Spelling, spellingOf, withFields } from "./item-fields.ts";
import type { Conflict, Edit, Outbox, OutboxEntry } from "./outbox.ts";
import { StoredItems } from "./stored-items.ts";

/** An item as it is shown. */
export interface ShownItem {
  readonly id: string;
  readonly json: string;
  readonly etag: string | undefined;
  readonly fields: ItemFields;
  /** A change of it is not stored yet. */
  readonly pending: boolean;
  readonly conflict: Conflict | undefined;
}

export interface Notice {
  readonly key: number;
  readonly kind: "done" | "problem";
  readonly text: string;
  readonly action: { readonly label: string; readonly run: () => void } | undefined;
}

export type Connection = "connecting" | "live" | "lost";

export interface SignIn {
  /** What to say of the last attempt. */
  readonly problem: string | undefined;
  /** An attempt is under way. */
  readonly busy: boolean;
}

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

export interface SessionParts {
  readonly outbox: Outbox;
  /** Made anew for each set of credentials, which only lives there. */
  readonly connect: (credentials: Credentials | undefined) => TodoClient<string>;
  /** How new items spell their names; nothing to do as the newest item does. */
  readonly spelling: Spelling | undefined;
  readonly readOnly: boolean;
}

const noticesMax = 3;
const resendMs = 2_000;

export class Session {
  readonly #parts: SessionParts;
  readonly #outbox: Outbox;
  readonly #listeners = new Set<() => void>();
  #client: TodoClient<string>;
  #watching = new AbortController();
  #sending = false;
  #resend: ReturnType<typeof setTimeout> | undefined;
  #shown: readonly ShownItem[] | undefined;
  #noticeKey = 0;
  /** What the service has. */
  stored = new StoredItems();
  connection: Connection = "connecting";
  /** False until the first list has come. */
  loaded = false;
  readOnly: boolean;
  version: number | undefined;
  signIn: SignIn | undefined;
  username: string | undefined;
  notices: readonly Notice[] = [];

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#outbox = parts.outbox;
    this.readOnly = parts.readOnly;
    this.#client = parts.connect(undefined);
  }

  /** Calls back after every change, until what is returned is called. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Newest first. */
  get items(): readonly ShownItem[] {
    this.#shown ??= this.#show();
    return this.#shown;
  }

  get unsentCount(): number {
    return this.#outbox.unsentCount;
  }

  start(): void {
    void this.#watch();
    void this.#send();
  }

  /** Does not wait for the next attempt. */
  reconnect(): void {
    this.rest();
    this.start();
  }

  /** Stops following the list, until `reconnect`. Edits are still sent. */
  rest(): void {
    this.#watching.abort();
    this.#watching = new AbortController();
  }

  signInAs(credentials: Credentials): void {
    this.#client = this.#parts.connect(credentials);
    this.username = credentials.username;
    this.signIn = { problem: undefined, busy: true };
    this.#changed();
    this.reconnect();
  }

  signOut(): void {
    this.#client = this.#parts.connect(undefined);
    this.username = undefined;
    this.stored = new StoredItems();
    this.loaded = false;
    this.#changed();
    this.reconnect();
  }

  /** Leaves the sign-in form. What could not be sent without it is taken back. */
  cancelSignIn(): void {
    this.signIn = undefined;
    for (const entry of [...this.#outbox.entries]) if (entry.state !== "stored") this.#outbox.drop(entry);
    this.#changed();
  }

  add(name: string): void {
    const id = newId();
    this.#edit({ kind: "create", id, json: newItem(id, name, this.#spelling()) });
  }

  setDone(item: ShownItem, done: boolean): void {
    this.save(item, withFields(item.json, { done }));
  }

  /** Saves an edit that was made on this state of an item. */
  save(base: ShownItem, json: string): void {
    this.#edit({ kind: "update", id: base.id, json, etag: this.#tagOf(base) });
  }

  remove(item: ShownItem): void {
    const { id, json, fields } = item;
    this.#edit({ kind: "delete", id, etag: this.#tagOf(item) });
    this.notify("done", `Deleted ${named(fields)}`, { label: "Undo", run: () => this.#restore(id, json) });
  }

  /** Settles a conflict about an item. */
  decide(id: string, which: "mine" | "theirs"): void {
    const entry = this.#outbox.entries.find(({ edit, state }) => edit.id === id && state === "conflict");
    if (!entry) return;
    if (which === "mine") this.#outbox.insist(entry);
    else this.#outbox.drop(entry);
    this.#changed();
    void this.#send();
  }

  notify(kind: Notice["kind"], text: string, action?: Notice["action"]): void {
    const notice: Notice = { key: this.#noticeKey++, kind, text, action };
    this.notices = [...this.notices, notice].slice(-noticesMax);
    this.#changed();
  }

  dismiss(key: number): void {
    this.notices = this.notices.filter((notice) => notice.key !== key);
    this.#changed();
  }

  // The state an edit was made on may have been stored since, and got its tag only then.
  #tagOf({ id, json, etag }: ShownItem): string | undefined {
    const now = this.items.find((item) => item.id === id);
    return now?.json === json ? now.etag : etag;
  }

  #restore(id: string, json: string): void {
    const deletion = this.#outbox.entries.findLast(({ edit }) => edit.id === id && edit.kind === "delete");
    // Not sent yet: it never happened. Else it is created anew, with the same ID, and is the newest of the list.
    if (deletion?.state === "waiting" || deletion?.state === "conflict") {
      this.#outbox.drop(deletion);
      this.#changed();
    } else this.#edit({ kind: "create", id, json });
  }

  #edit(edit: Edit): void {
    this.#outbox.add(edit);
    this.#changed();
    void this.#send();
  }

  #spelling(): Spelling {
    const newest = this.items[0];
    return this.#parts.spelling ?? (newest ? spellingOf(newest.json) : "pascal");
  }

  #changed(): void {
    this.#shown = undefined;
    for (const listener of this.#listeners) listener();
  }

  // What the service has, and on top of it what was changed here, in the order it was changed.
  #show(): ShownItem[] {
    const shown = new Map<string, ShownItem>();
    for (const { id, json, etag, fields } of this.stored.inOrder())
      shown.set(id, { id, json, etag, fields, pending: false, conflict: undefined });
    for (const { edit, state, conflict, storedAs } of this.#outbox.entries) {
      const { id } = edit;
      const before = shown.get(id);
      if (edit.kind === "delete" && !conflict) shown.delete(id);
      else if (edit.kind === "delete") {
        if (before) shown.set(id, { ...before, conflict });
      } else {
        // Created again, it is the newest.
        if (edit.kind === "create") shown.delete(id);
        const etag = storedAs ? storedAs.etag : (before?.etag ?? (edit.kind === "update" ? edit.etag : undefined));
        shown.set(id, {
          id,
          json: edit.json,
          etag,
          fields: readFields(edit.json),
          pending: state !== "stored",
          conflict,
        });
      }
    }
    return [...shown.values()].reverse();
  }

  async #watch(): Promise<void> {
    const { signal } = this.#watching;
    const client = this.#client;
    const onState = (state: WatchState) => this.#connectionIs(state);
    try {
      for await (const event of client.watch({ signal, onState, feedSilenceMsMax: 40_000 })) this.#take(event);
    } catch (error) {
      if (signal.aborted) return;
      if (isTodoError(error, "UnauthorizedError")) this.#askToSignIn();
      else {
        this.connection = "lost";
        this.notify("problem", `The list cannot be read: ${messageOf(error)}`, {
          label: "Try again",
          run: () => this.reconnect(),
        });
      }
    }
  }

  #connectionIs(state: WatchState): void {
    this.connection = state.kind === "lost" ? "lost" : "live";
    if (state.kind === "live") this.readOnly = state.readOnly;
    // Too many wrong passwords, or no connection to check them with.
    if (state.kind === "lost" && this.signIn?.busy) this.signIn = { problem: messageOf(state.error), busy: false };
    this.#changed();
    if (this.connection === "live") void this.#send();
  }

  #take(event: WatchEvent<string>): void {
    if (event.kind === "snapshot") {
      this.stored = new StoredItems();
      for (const item of event.items) this.stored.put(item);
      this.loaded = true;
      if (this.signIn && this.#outbox.unsentCount === 0) this.signIn = undefined;
    } else if (event.kind === "removed") this.stored.remove(event.id);
    else this.stored.put(event);
    this.version = event.version ?? this.version;
    // A list read anew may be of another store, whose versions say nothing about the old one's.
    if (event.kind === "snapshot") this.#outbox.settle(Number.POSITIVE_INFINITY, () => false);
    else this.#outbox.settle(this.version ?? 0, (id) => this.stored.has(id));
    this.#changed();
  }

  async #send(): Promise<void> {
    if (this.#sending) return;
    this.#sending = true;
    clearTimeout(this.#resend);
    for (let entry = this.#outbox.next(); entry; entry = this.#outbox.next()) {
      entry.state = "sending";
      const goOn = await this.#sendOne(entry);
      this.#changed();
      if (!goOn) break;
    }
    this.#sending = false;
  }

  /** Sends one change, and says whether the next can follow. */
  async #sendOne(entry: OutboxEntry): Promise<boolean> {
    try {
      const etag = await this.#perform(entry.edit);
      this.#arrived(entry, etag);
      return true;
    } catch (error) {
      return this.#failed(entry, error);
    }
  }

  async #perform(edit: Edit): Promise<string | undefined> {
    if (edit.kind === "create") return (await this.#client.create(edit.json)).etag;
    if (edit.kind === "update") return (await this.#client.update(edit.json, { ifMatch: edit.etag })).etag;
    await this.#client.remove(edit.id, { ifMatch: edit.etag });
    return undefined;
  }

  #arrived(entry: OutboxEntry, etag: string | undefined): void {
    this.signIn = undefined;
    if (this.readOnly) {
      this.#outbox.drop(entry);
      this.notify("done", "Accepted, but not kept: this instance is read-only.");
      return;
    }
    this.#outbox.stored(entry, etag, versionOf(etag));
    this.#outbox.settle(this.version ?? 0, (id) => this.stored.has(id));
  }

  #failed(entry: OutboxEntry, error: unknown): boolean {
    const { edit } = entry;
    if (isTodoError(error, "UnauthorizedError")) {
      entry.state = "waiting";
      this.#askToSignIn();
      return false;
    }
    if (isTodoError(error, "PreconditionFailedError")) return this.#conflicted(entry, error);
    if (isTodoError(error, "NotFoundError") && edit.kind !== "create") {
      // Somebody else has deleted it, which is all a deletion wanted.
      if (edit.kind === "delete") this.#outbox.drop(entry);
      else this.#outbox.conflicted(entry, undefined);
      return true;
    }
    if (isTodoError(error, "NetworkError") || isTodoError(error, "TimeoutError") || isBusy(error)) {
      entry.state = "waiting";
      this.#resend = setTimeout(() => void this.#send(), resendMs);
      return false;
    }
    this.#outbox.drop(entry);
    const what = edit.kind === "create" ? "added" : edit.kind === "update" ? "saved" : "deleted";
    const name = edit.kind === "delete" ? "The item" : named(readFields(edit.json));
    this.notify("problem", `${name} was not ${what}: ${messageOf(error)}`);
    return true;
  }

  #conflicted(
    entry: OutboxEntry,
    error: { readonly current: unknown; readonly currentEtag: string | undefined },
  ): boolean {
    const { edit } = entry;
    const { current, currentEtag } = error;
    const theirs = typeof current === "string" ? { json: current, etag: currentEtag } : undefined;
    // An earlier attempt got through and its answer was lost, or both made the same change.
    if (edit.kind !== "delete" && theirs && sameContent(theirs.json, edit.json))
      this.#outbox.stored(entry, currentEtag, versionOf(currentEtag));
    else this.#outbox.conflicted(entry, theirs);
    return true;
  }

  #askToSignIn(): void {
    const problem = this.username === undefined ? this.signIn?.problem : "The name or the password is wrong.";
    this.#client = this.#parts.connect(undefined);
    this.username = undefined;
    this.signIn = { problem, busy: false };
    this.#changed();
  }
}

function isBusy(error: unknown): boolean {
  return isTodoError(error, "HttpError") && [408, 429, 502, 503, 504].includes(error.status);
}

/** What the service said, without the request it was said about. */
function messageOf(error: unknown): string {
  if (isTodoError(error, "HttpError") && error.detail !== "") return error.detail;
  return error instanceof Error ? error.message : String(error);
}

function versionOf(tag: string | undefined): number | undefined {
  return parseToken(tag ?? "")?.version;
}

function named({ name }: ItemFields): string {
  return name === "" ? "the item" : `“${name.length > 40 ? `${name.slice(0, 39)}…` : name}”`;
}
