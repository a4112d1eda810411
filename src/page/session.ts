// The state of the page and the actions of its user. A session follows the list, accepts the user's edits, signs in and
// out, and collects messages for the user. The view draws this state. Nothing here uses the browser's document.

import { type Credentials, isTodoError, type TodoClient, type WatchEvent, type WatchState } from "../client/index.ts";
import { newId } from "../client/item-text.ts";
import { type ItemFields, newItem, readFields, type Spelling, spellingOf, withFields } from "./item-fields.ts";
import type { Edit, Outbox } from "./outbox.ts";
import { overlay, type ShownItem } from "./overlay.ts";
import { Sender, type SendOutcome } from "./sender.ts";
import { StoredItems } from "./stored-items.ts";

export interface Notice {
  readonly key: number;
  readonly kind: "done" | "problem";
  readonly text: string;
  readonly action: { readonly label: string; readonly run: () => void } | undefined;
}

export type ConnectionState = "connecting" | "live" | "lost";

export interface SignIn {
  /** Why the last attempt to sign in failed; undefined if none has failed. */
  readonly problem: string | undefined;
  /** True while the credentials are being checked. */
  readonly busy: boolean;
}

export interface SessionParts {
  readonly outbox: Outbox;
  /** Makes a client that sends these credentials. The session itself does not keep the password. */
  readonly connect: (credentials: Credentials | undefined) => TodoClient<string>;
  /** How new items spell their field names. If undefined, they use the spelling of the newest item. */
  readonly spelling: Spelling | undefined;
  readonly readOnly: boolean;
}

const noticesMax = 3;

export class Session {
  readonly #parts: SessionParts;
  readonly #outbox: Outbox;
  readonly #sender: Sender;
  readonly #listeners = new Set<() => void>();
  #client: TodoClient<string>;
  #watching = new AbortController();
  #shown: readonly ShownItem[] | undefined;
  #noticeKey = 0;
  /** The items as the service has them, without the user's unsent edits. */
  stored = new StoredItems();
  connection: ConnectionState = "connecting";
  /** False until the list has arrived, at the start and after signing out. */
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
    this.#sender = new Sender({
      outbox: parts.outbox,
      client: () => this.#client,
      onOutcome: (outcome) => this.#sent(outcome),
    });
  }

  /** Calls the listener after every change of the session. To stop this, call the returned function. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The items to show, newest first. */
  get items(): readonly ShownItem[] {
    this.#shown ??= overlay(this.stored.inOrder(), this.#outbox.entries);
    return this.#shown;
  }

  get unsentCount(): number {
    return this.#outbox.unsentCount;
  }

  start(): void {
    void this.#watch();
    void this.#sender.send();
  }

  /** Connects again and sends the waiting edits now, instead of waiting for the next automatic attempt. */
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

  /** Closes the sign-in form and drops all edits that the service has not stored. */
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

  /** Replaces an item. `base` is the version that the user edited, and `json` is the new text of the item. */
  save(base: ShownItem, json: string): void {
    this.#edit({ kind: "update", id: base.id, json, etag: this.#tagOf(base) });
  }

  remove(item: ShownItem): void {
    const { id, json, fields } = item;
    this.#edit({ kind: "delete", id, etag: this.#tagOf(item) });
    this.notify("done", `Deleted ${named(fields)}`, { label: "Undo", run: () => this.#restore(id, json) });
  }

  /** Resolves a conflict: "mine" sends the user's edit again, and "theirs" drops it. */
  decide(id: string, which: "mine" | "theirs"): void {
    const entry = this.#outbox.entries.find(({ edit, state }) => edit.id === id && state === "conflict");
    if (!entry) return;
    if (which === "mine") this.#outbox.insist(entry);
    else this.#outbox.drop(entry);
    this.#changed();
    void this.#sender.send();
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

  // Returns the ETag of the version that the user edited. If that version came from an edit that was not stored yet, it
  // had no ETag of its own. If it has been stored since then, its ETag is known now.
  #tagOf({ id, json, etag }: ShownItem): string | undefined {
    const now = this.items.find((item) => item.id === id);
    return now?.json === json ? now.etag : etag;
  }

  #restore(id: string, json: string): void {
    const deletion = this.#outbox.entries.findLast(({ edit }) => edit.id === id && edit.kind === "delete");
    // If the deletion still waits or has a conflict, it is dropped, and the item keeps its place. Otherwise the item is
    // created again with the same ID, and becomes the newest.
    if (deletion?.state === "waiting" || deletion?.state === "conflict") {
      this.#outbox.drop(deletion);
      this.#changed();
    } else this.#edit({ kind: "create", id, json });
  }

  #edit(edit: Edit): void {
    this.#outbox.add(edit);
    this.#changed();
    void this.#sender.send();
  }

  #spelling(): Spelling {
    const newest = this.items[0];
    return this.#parts.spelling ?? (newest ? spellingOf(newest.json) : "pascal");
  }

  #changed(): void {
    this.#shown = undefined;
    for (const listener of this.#listeners) listener();
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
    // The password could not be checked, because the connection failed or there had been too many wrong passwords.
    if (state.kind === "lost" && this.signIn?.busy) this.signIn = { problem: messageOf(state.error), busy: false };
    this.#changed();
    if (this.connection === "live") void this.#sender.send();
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
    // A snapshot is the whole list. It may come from another store, and the versions of two stores cannot be compared.
    // So after a snapshot, all stored edits are removed from the outbox.
    if (event.kind === "snapshot") this.#outbox.settle(Number.POSITIVE_INFINITY, () => false);
    else this.#outbox.settle(this.version ?? 0, (id) => this.stored.has(id));
    this.#changed();
  }

  #sent(outcome: SendOutcome): void {
    if (outcome.kind !== "signInNeeded" && outcome.kind !== "tryLater") this.signIn = undefined;
    if (outcome.kind === "stored") {
      if (this.readOnly) {
        this.#outbox.drop(outcome.entry);
        this.notify("done", "Accepted, but not kept: this instance is read-only.");
      } else this.#outbox.settle(this.version ?? 0, (id) => this.stored.has(id));
    } else if (outcome.kind === "signInNeeded") this.#askToSignIn();
    else if (outcome.kind === "refused") this.notify("problem", refusalText(outcome.edit, outcome.error));
    this.#changed();
  }

  #askToSignIn(): void {
    const problem = this.username === undefined ? this.signIn?.problem : "The name or the password is wrong.";
    this.#client = this.#parts.connect(undefined);
    this.username = undefined;
    this.signIn = { problem, busy: false };
    this.#changed();
  }
}

function refusalText(edit: Edit, error: unknown): string {
  const name = edit.kind === "delete" ? "The item" : named(readFields(edit.json));
  const what = edit.kind === "create" ? "added" : edit.kind === "update" ? "saved" : "deleted";
  return `${name} was not ${what}: ${messageOf(error)}`;
}

/** Returns the service's own explanation if it sent one, and otherwise the error's message. */
function messageOf(error: unknown): string {
  if (isTodoError(error, "HttpError") && error.detail !== "") return error.detail;
  return error instanceof Error ? error.message : String(error);
}

function named({ name }: ItemFields): string {
  return name === "" ? "the item" : `“${name.length > 40 ? `${name.slice(0, 39)}…` : name}”`;
}
