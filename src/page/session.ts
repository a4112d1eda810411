// The state of the page and the actions of its user. A session follows the list, accepts the user's edits, signs in and
// out, and collects messages for the user. The view draws this state. Nothing here uses the browser's document.

import { type Credentials, isTodoError, type TodoClient, type WatchEvent } from "../client/index.ts";
import { newId, sameContent } from "../client/item-text.ts";
import { parseToken } from "../items/token.ts";
import type { Edit, KeptEdit } from "./edit.ts";
import {
  defaultShapes,
  type ItemFields,
  type ItemShape,
  newItem,
  readFields,
  type Spelling,
  shapeOf,
  withFields,
  withId,
} from "./item-fields.ts";
import { type NoticeAction, NoticeList } from "./notice-list.ts";
import type { Outbox } from "./outbox.ts";
import { overlay, type ShownItem } from "./overlay.ts";
import type { NewEntry } from "./pasted-lines.ts";
import { messageOf, Sender, type SendOutcome } from "./sender.ts";
import { type Feed, type FeedState, ownFeed, type Snapshot } from "./shared-feed.ts";
import { StoredItems } from "./stored-items.ts";
import { UndoList } from "./undo-list.ts";

/** `signed-out` means that the service does not show the list to this user without a sign-in. */
export type ConnectionState = "connecting" | "live" | "lost" | "signed-out";

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
  /**
   * How new items spell their field names while the list is empty. Otherwise they use the field names of the newest
   * item.
   */
  readonly spelling: Spelling | undefined;
  readonly readOnly: boolean;
  /** Reads the changes of the list as long as nobody is signed in. If undefined, the session reads a feed of its own. */
  readonly feed?: Feed;
  /** True while the user is typing. The sign-in form does not open by itself then, because it would take the keys. */
  readonly isTyping?: () => boolean;
}

/**
 * How long a deletion waits at most for the user to undo it. Usually the message with the Undo button is closed sooner,
 * and the deletion is sent then.
 */
const undoMsMax = 15_000;

/**
 * How long the last requests of a closed page may take. When the change feed has reported a deletion, it need not be
 * sent again.
 */
const lastRequestMs = 1_000;

/**
 * An ETag that no version of an item has. The service answers with the newest version, and the sender compares the edit
 * with that.
 */
const outdatedTag = '"outdated"';

export class Session {
  readonly #parts: SessionParts;
  readonly #outbox: Outbox;
  readonly #sender: Sender;
  readonly #listeners = new Set<() => void>();
  #client: TodoClient<string>;
  #watching = new AbortController();
  readonly #undos = new UndoList();
  #isResting = false;
  #shown: readonly ShownItem[] | undefined;
  /** Names the state of `stored`, so that a new connection receives only what has changed since then. */
  #token: string | undefined;
  /** The items as the service has them, without the user's unsent edits. */
  stored = new StoredItems();
  connection: ConnectionState = "connecting";
  /** False until the list has arrived, at the start and after signing out. */
  loaded = false;
  readOnly: boolean;
  version: number | undefined;
  signIn: SignIn | undefined;
  /**
   * True if the user closed the sign-in form, or it did not open because the user was typing. Then edits wait. The form
   * does not open by itself until the next action that needs it, except typing.
   */
  signInPostponed = false;
  username: string | undefined;
  /**
   * The ID of the item that the user has just brought back, or whose conflict the user has just decided. That item
   * should get the focus.
   */
  focusId: string | undefined;
  /** Messages for the user. */
  readonly notices = new NoticeList(() => this.#changed());

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

  /** The number of edits that wait until the service is no longer read-only. */
  get pausedCount(): number {
    return this.#outbox.pausedCount;
  }

  /** Names the items whose edits are not sent before the user confirms them. These edits may be for another store. */
  get heldNames(): readonly string[] {
    return this.#outbox.held.map(({ edit }) => (edit.kind === "delete" ? "a deletion" : named(readFields(edit.json))));
  }

  start(): void {
    this.#isResting = false;
    void this.#watch();
    this.#send();
  }

  /** Connects again and sends the waiting edits now, instead of waiting for the next automatic attempt. */
  reconnect(): void {
    this.rest();
    this.start();
  }

  /**
   * Stops following the list, until `reconnect` is called. Edits are still sent, until one of them has to be sent again
   * later.
   */
  rest(): void {
    this.#isResting = true;
    this.#watching.abort();
    this.#watching = new AbortController();
  }

  /**
   * Call this when the user leaves the page. The time for Undo ends, so the waiting deletions are sent. All unsent edits
   * are given up: they stay in the browser's database, and another page takes them over. If the user comes back, call
   * `takeOver` with the edits that are left, and `reconnect`.
   */
  leave(): void {
    this.#outbox.release();
    if (!this.signInPostponed) this.#sender.sendLastDeletions();
    this.#outbox.giveUp();
    this.#outbox.disconnected();
    this.rest();
    this.#changed();
  }

  /** Adds the edits of an earlier visit or of a closed page. If `held` is true, the user must confirm them first. */
  takeOver(edits: readonly KeptEdit[], held: boolean): void {
    this.#outbox.restore(edits, held, Date.now() + lastRequestMs);
    this.#dropDoneDeletions();
    this.#changed();
    this.#send();
  }

  openSignIn(): void {
    this.signInPostponed = false;
    this.signIn = { problem: undefined, busy: false };
    this.#changed();
  }

  signInAs(credentials: Credentials): void {
    this.#client = this.#parts.connect(credentials);
    this.username = credentials.username;
    this.signIn = { problem: undefined, busy: true };
    this.signInPostponed = false;
    // The whole list is read again. Its arrival shows that the credentials are correct.
    this.#token = undefined;
    this.#changed();
    this.reconnect();
  }

  signOut(): void {
    this.#client = this.#parts.connect(undefined);
    this.username = undefined;
    this.stored = new StoredItems();
    this.#token = undefined;
    this.loaded = false;
    this.#undos.clear();
    this.#changed();
    this.reconnect();
  }

  /** Closes the sign-in form. The edits that need a sign-in wait until the user signs in or discards them. */
  cancelSignIn(): void {
    this.signIn = undefined;
    this.signInPostponed = true;
    this.#changed();
  }

  /** Drops all edits that the service has not stored, except those that the user must confirm. */
  discardUnsent(): void {
    for (const entry of this.#outbox.entries.filter(({ state, held }) => state !== "stored" && !held))
      this.#outbox.drop(entry);
    this.#changed();
  }

  /** Sends the edits that the user had to confirm to the store that the page is connected to, or drops them. */
  decideHeld(which: "send" | "discard"): void {
    if (which === "send") this.#outbox.confirmHeld();
    else this.#outbox.discardHeld();
    this.#changed();
    this.#sendNow();
  }

  /** Adds an item for each entry, and returns their IDs. The list then begins with these items, in their order. */
  add(...entries: readonly NewEntry[]): string[] {
    const shape = this.#shape();
    const added = entries.map((entry) => {
      const id = newId();
      return { id, json: newItem(id, entry, shape) };
    });
    // The newest item comes first in the list, so the first entry must be created last.
    this.#outbox.addAll(added.toReversed().map(({ id, json }) => ({ kind: "create", id, json })));
    this.#changed();
    this.#sendNow();
    if (entries.length > 1 && !this.readOnly)
      this.#offer(`Added ${entries.length} items`, { label: "Undo", run: () => this.#unAdd(added) });
    return added.map(({ id }) => id);
  }

  /** Creates a deleted item again, with the same ID and the text that the user has typed. */
  addAgain(id: string, json: string): void {
    this.#edit({ kind: "create", id, json });
  }

  setDone(item: ShownItem, done: boolean): void {
    this.save(item, withFields(item.json, { done }));
  }

  /** Offers to bring back what the user has left unsaved. The offer ends when the item is saved or deleted. */
  offerDraft({ id, fields }: ShownItem, bringBack: () => void): void {
    const run = () => {
      this.focusId = id;
      bringBack();
    };
    this.#offer(`Your change of ${named(fields)} was not saved.`, { label: "Go on editing", run, itemId: id });
  }

  /** Call this after the item with `focusId` has been given the focus. */
  hasFocused(): void {
    this.focusId = undefined;
  }

  /** Replaces an item. `base` is the version that the user edited, and `json` is the new text of the item. */
  save(base: ShownItem, json: string): void {
    this.notices.closeAbout(base.id);
    this.#edit({ kind: "update", id: base.id, json, etag: this.#tagOf(base), base: base.json });
    // A read-only service keeps no edits, so there is nothing to undo.
    if (!this.readOnly && json !== base.json) this.#undos.add(() => this.#unSave(base, json));
  }

  /**
   * Undoes the user's last action of this visit: a deletion, a tick or another edit. If a message offers to bring back
   * what was left unsaved, or to take back several added items, that counts as well.
   */
  undo(): void {
    if (!this.#undos.undoNewest()) this.notices.add("done", "There is nothing to undo.");
  }

  /**
   * Deletes items. The deletions are sent when the message with the Undo button is closed, and at the latest after
   * `undoMsMax`. A read-only service gets them at once.
   */
  remove(...items: readonly ShownItem[]): void {
    const [first] = items;
    if (!first) return;
    for (const { id } of items) this.notices.closeAbout(id);
    // A read-only service keeps no deletion, so there is nothing to undo.
    const notBefore = this.readOnly ? 0 : Date.now() + undoMsMax;
    this.#outbox.addAll(
      items.map((item) => ({ kind: "delete", id: item.id, etag: this.#tagOf(item) })),
      notBefore,
    );
    this.#changed();
    this.#sendNow();
    if (this.readOnly) return;
    const ids = new Set(items.map(({ id }) => id));
    this.#offer(`Deleted ${items.length === 1 ? named(first.fields) : `${items.length} items`}`, {
      label: "Undo",
      run: () => this.#restore(items),
      onClose: () => {
        this.#outbox.release(ids);
        this.#send();
      },
    });
  }

  /** Drops the edit of this item that the service refused. */
  discard(id: string): void {
    const entry = this.#outbox.entries.find(({ edit, state }) => edit.id === id && state === "refused");
    if (entry) this.#outbox.drop(entry);
    this.#changed();
  }

  /**
   * Resolves a conflict. "mine" sends the user's edit again. "theirs" gives up those changes of the user that
   * contradict the other version. "both" drops the edit and adds the user's version as a new item.
   */
  decide(id: string, which: "mine" | "theirs" | "both"): void {
    const entry = this.#outbox.entries.find(({ edit, state }) => edit.id === id && state === "conflict");
    if (!entry) return;
    this.focusId = id;
    const theirs = entry.conflict?.theirs;
    if (which === "mine") this.#outbox.insist(entry);
    else if (which === "theirs" && theirs && !sameContent(theirs.versions.theirs, theirs.json))
      this.#outbox.rebase(entry, theirs.versions.theirs, theirs);
    else this.#outbox.drop(entry);
    if (which === "both" && theirs) {
      const copyId = newId();
      this.focusId = copyId;
      this.#outbox.add({ kind: "create", id: copyId, json: withId(theirs.versions.mine, copyId) });
    }
    this.#changed();
    this.#sendNow();
  }

  // Returns the ETag of the version that the user edited. That version may have come from an edit that was not stored
  // yet, so it had no ETag of its own. If the edit has been stored since then, the ETag is known now.
  #tagOf({ id, json, etag }: ShownItem): string | undefined {
    const now = this.items.find((item) => item.id === id);
    return now?.json === json ? now.etag : etag;
  }

  /**
   * Shows a message with a button. Ctrl+Z does the same as the button. If `onClose` is given, Ctrl+Z works also after
   * the message is closed.
   */
  #offer(text: string, action: NoticeAction): void {
    const step = this.#undos.add(() => {
      this.notices.withdraw(key);
      action.run();
    });
    const key = this.notices.add("done", text, { onClose: () => this.#undos.drop(step), ...action, run: step });
  }

  /** Undoes the edit that turned `base` into `json`. */
  #unSave({ id, json: before }: ShownItem, json: string): void {
    this.focusId = id;
    this.notices.closeAbout(id);
    const now = this.items.find((item) => item.id === id);
    const etag = now?.json === json ? now.etag : outdatedTag;
    this.#edit({ kind: "update", id, json: before, etag, base: json });
  }

  #restore(items: readonly ShownItem[]): void {
    this.focusId = items[0]?.id;
    for (const { id, json } of items) {
      const deletion = this.#outbox.entries.findLast(({ edit }) => edit.id === id && edit.kind === "delete");
      // The deletion was refused, or somebody else has brought the item back.
      if (!deletion && this.stored.has(id)) continue;
      // If the service has certainly not carried out the deletion, it is dropped, and the item keeps its place.
      // Otherwise the item is created again with the same ID, and becomes the newest.
      if (deletion?.state === "conflict" || (deletion?.state === "waiting" && !deletion.maybeStored))
        this.#outbox.drop(deletion);
      else this.#outbox.add({ kind: "create", id, json });
    }
    this.#changed();
    this.#send();
  }

  #unAdd(added: readonly { readonly id: string }[]): void {
    const ids = new Set(added.map(({ id }) => id));
    const deletions = this.items
      .filter(({ id }) => ids.has(id))
      .map(({ id, etag }) => ({ kind: "delete", id, etag }) as const);
    this.#outbox.addAll(deletions);
    this.#changed();
    this.#send();
  }

  #edit(edit: Edit): void {
    this.#outbox.add(edit);
    this.#changed();
    this.#sendNow();
  }

  /** Sends the waiting edits, unless the user has closed the sign-in form. */
  #send(): void {
    if (!this.signInPostponed) void this.#sender.send();
  }

  /**
   * Sends the waiting edits after the user has done something. If the service asks for a sign-in, the form opens again,
   * unless the user is typing.
   */
  #sendNow(): void {
    if (!this.#parts.isTyping?.()) this.signInPostponed = false;
    // Edits are sent only after the list has been read, because the list names the store that they are for. If the list
    // needs a sign-in, ask for that first.
    if (this.connection === "signed-out" && this.username === undefined) this.#askToSignIn();
    else this.#send();
  }

  #shape(): ItemShape {
    const newest = this.items[0];
    return newest ? shapeOf(newest.json) : defaultShapes[this.#parts.spelling ?? "pascal"];
  }

  #changed(): void {
    this.#shown = undefined;
    for (const listener of this.#listeners) listener();
  }

  async #watch(): Promise<void> {
    const { signal } = this.#watching;
    // Somebody who signs in reads a feed of their own, because the shared feed does not check the password.
    const feed = this.username === undefined ? (this.#parts.feed ?? ownFeed) : ownFeed;
    try {
      await feed(this.#client, {
        signal,
        list: () => this.#list(),
        onEvent: (event) => this.#take(event),
        onState: (state) => this.#connectionIs(state),
      });
    } catch (error) {
      if (signal.aborted) return;
      if (isTodoError(error, "UnauthorizedError")) {
        this.connection = "signed-out";
        this.#askToSignIn();
      } else {
        this.connection = "lost";
        this.#outbox.disconnected();
        this.notices.add("problem", `The list cannot be read: ${messageOf(error)}`, {
          label: "Try again",
          run: () => this.reconnect(),
        });
      }
    }
  }

  #connectionIs(state: FeedState): void {
    this.connection = state.kind === "lost" ? "lost" : "live";
    if (state.kind === "live") this.readOnly = state.readOnly;
    if (state.kind === "lost") this.#outbox.disconnected();
    else this.#outbox.connected(state.kind === "live" ? state.epoch : undefined, this.readOnly);
    this.#dropDoneDeletions();
    // The password could not be checked, because the connection failed or there had been too many wrong passwords.
    if (state.kind === "lost" && this.signIn?.busy) this.signIn = { problem: state.problem, busy: false };
    this.#changed();
    this.#send();
  }

  #list(): Snapshot | undefined {
    if (!this.loaded) return undefined;
    const items = Array.from(this.stored.inOrder(), ({ id, json, etag, position }) => ({
      id,
      item: json,
      etag,
      position,
    }));
    return { kind: "snapshot", items, version: this.version, token: this.#token };
  }

  #take(event: WatchEvent<string>): void {
    if (event.kind === "snapshot") {
      this.stored = new StoredItems();
      for (const item of event.items) this.stored.put(item);
      this.loaded = true;
      // If the user is still filling in the form, it stays. Otherwise the rest of the password would go to the page.
      const isSignedIn = this.username !== undefined;
      if (isSignedIn && !this.#outbox.next(Date.now())) this.signIn = undefined;
    } else if (event.kind === "removed") {
      this.stored.remove(event.id);
      this.notices.closeAbout(event.id);
    } else this.stored.put(event);
    const isSameStore = event.token !== undefined && epochOf(event.token) === epochOf(this.#token);
    // The user's earlier actions changed another store. Here, undoing them would make new changes.
    if (this.#token !== undefined && !isSameStore) this.#undos.clear();
    this.version = event.version ?? this.version;
    this.#token = event.token;
    // A snapshot is the whole list. If it comes from another store, its version cannot be compared with the versions of
    // the stored edits. So all stored edits are removed from the outbox.
    if (event.kind === "snapshot" && !isSameStore) this.#outbox.settle(Number.POSITIVE_INFINITY, () => false);
    else this.#outbox.settle(this.version ?? 0, (id) => this.stored.has(id));
    this.#dropDoneDeletions();
    this.#changed();
  }

  #dropDoneDeletions(): void {
    if (this.loaded && this.connection === "live") this.#outbox.dropDoneDeletions((id) => this.stored.has(id));
  }

  #sent(outcome: SendOutcome): void {
    if (outcome.kind === "givenUp") return;
    if (outcome.kind !== "signInNeeded" && outcome.kind !== "tryLater") this.signIn = undefined;
    if (outcome.kind === "notKept") {
      this.readOnly = true;
      if (outcome.entry.isTrial) this.notices.add("done", "Not kept: this service is read-only.");
    } else if (outcome.kind === "stored" || outcome.kind === "alreadyDone")
      this.#outbox.settle(this.version ?? 0, (id) => this.stored.has(id));
    else if (outcome.kind === "signInNeeded") this.#askToSignIn();
    // A resting tab reads no feed. It would not notice if another store answered at this address later, so it stops
    // sending.
    else if (outcome.kind === "tryLater" && this.#isResting) this.#outbox.disconnected();
    else if (outcome.kind === "refused") this.notices.add("problem", refusalText(outcome.edit, outcome.problem));
    this.#changed();
  }

  #askToSignIn(): void {
    const problem = this.username === undefined ? this.signIn?.problem : "The name or the password is wrong.";
    this.#client = this.#parts.connect(undefined);
    this.username = undefined;
    // If the form is open already, the user is typing into the form itself.
    if (!this.signIn && this.#parts.isTyping?.()) this.signInPostponed = true;
    if (!this.signInPostponed) this.signIn = { problem, busy: false };
    this.#changed();
  }
}

function epochOf(token: string | undefined): string | undefined {
  return parseToken(token ?? "")?.epoch;
}

function refusalText(edit: Edit, problem: string): string {
  if (edit.kind === "delete") return `The item was not deleted: ${problem}`;
  const what = edit.kind === "create" ? "added" : "saved";
  return `${named(readFields(edit.json))} was not ${what}: ${problem}`;
}

/** Returns the name of an item, shortened for a message. */
export function named({ name }: ItemFields): string {
  return name === "" ? "the item" : `“${name.length > 40 ? `${name.slice(0, 39)}…` : name}”`;
}
