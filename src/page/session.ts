// The state of the page: the followed list, the outbox, the sign-in and the messages, and what the user can do with
// them. The session connects these parts: what one of them reports, it passes on to the others. The view draws this
// state. Nothing here uses the browser's document.

import type { Credentials, TodoClient, WatchEvent, WatchedItem } from "../client/index.ts";
import { checkCredentials } from "./credential-check.ts";
import type { Edit, KeptEdit } from "./edit.ts";
import { EditDecisions } from "./edit-decisions.ts";
import { FollowedList, type ListNews } from "./followed-list.ts";
import { ItemActions } from "./item-actions.ts";
import type { Spelling } from "./item-fields.ts";
import { ItemUndo } from "./item-undo.ts";
import { NoticeList } from "./notice-list.ts";
import type { Outbox } from "./outbox.ts";
import { overlay, type ShownItem } from "./overlay.ts";
import { RefusalNotices } from "./refusal-notices.ts";
import { Sender, type SendOutcome } from "./sender.ts";
import { type Feed, ownFeed } from "./shared-feed.ts";
import { SignIn } from "./sign-in.ts";

export interface SessionParts {
  readonly outbox: Outbox;
  /** Makes a client that sends these credentials. */
  readonly connect: (credentials: Credentials | undefined) => TodoClient<string>;
  /** How new items spell their field names while the list is empty. */
  readonly spelling: Spelling | undefined;
  readonly readOnly: boolean;
  /** Reads the changes of the list while nobody is signed in. If undefined, the session reads a feed of its own. */
  readonly feed?: Feed;
  /** True while the user is typing. The sign-in form does not open by itself then. */
  readonly isTyping?: () => boolean;
}

/**
 * How long an edit of a closed page waits if the closed page may have sent it already. If the change feed reports a
 * deletion during this time, the deletion is not sent again.
 */
const lastRequestMs = 1_000;
/** Chromium lets a page that is being closed send at most 20 requests. */
const lastRequestsMax = 20;

export class Session {
  readonly #sender: Sender;
  readonly #refusals: RefusalNotices;
  readonly #listeners = new Set<(isEdit: boolean) => void>();
  #shown: readonly ShownItem[] | undefined;
  readonly outbox: Outbox;
  readonly list: FollowedList;
  readonly signIn: SignIn;
  /** Messages for the user. */
  readonly notices = new NoticeList(() => this.#changed());
  readonly undo: ItemUndo;
  readonly actions: ItemActions;
  readonly decisions: EditDecisions;
  /**
   * The ID of the item that should get the focus when the list is next drawn. Set when the user has undone a change or
   * a deletion, goes on with an unsaved text, or has closed the dialog about a conflict.
   */
  focusId: string | undefined;

  constructor({ outbox, connect, spelling, readOnly, feed = ownFeed, isTyping = () => false }: SessionParts) {
    const { notices } = this;
    const items = () => this.items;
    const client = () => this.signIn.client;
    const focus = (id: string | undefined) => {
      this.focusId = id;
    };
    const onChange = () => this.#changed();
    const onEdit = () => this.#edited();
    const onRelease = () => this.#released();
    this.outbox = outbox;
    this.signIn = new SignIn({
      connect,
      isTyping,
      onChange,
      onSubmit: () => this.#signsIn(),
      onSigningOut: () => this.#signsOut(),
      onSignOut: () => this.#signedOut(),
    });
    this.list = new FollowedList({
      outbox,
      client,
      // Somebody who signs in reads a feed of their own, because the shared feed does not check the password.
      feed: () => (this.signIn.username === undefined ? feed : ownFeed),
      readOnly,
      onNews: (news) => this.#heard(news),
    });
    const { list } = this;
    this.#sender = new Sender({ outbox, client, onOutcome: (outcome) => this.#sent(outcome), onSilence: onChange });
    this.#refusals = new RefusalNotices({ notices, isRefused: (edit) => this.#isRefused(edit) });
    this.undo = new ItemUndo({ outbox, list, items, notices, focus, onEdit, onRelease });
    this.actions = new ItemActions({ outbox, list, items, notices, undo: this.undo, spelling, onEdit });
    this.decisions = new EditDecisions({ outbox, undo: this.undo, focus, onEdit, onDrop: onChange });
  }

  /**
   * Calls the listener after every change of the session, with true if the change is an edit of the user. To stop this,
   * call the returned function.
   */
  subscribe(listener: (isEdit: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** True if the service seems to be there, but has not answered an edit for a while. */
  get isUnanswered(): boolean {
    return this.list.connection === "live" && this.#sender.isUnanswered && this.outbox.unsentCount > 0;
  }

  /** The items to show, newest first. */
  get items(): readonly ShownItem[] {
    this.#shown ??= overlay(this.list.stored.inOrder(), this.outbox.entries);
    return this.#shown;
  }

  /** Call this once the list is drawn. If the item with `focusId` is in the list, it must have the focus by then. */
  hasFocused(): void {
    this.focusId = undefined;
  }

  /**
   * Follows the list and sends the waiting edits. To stop following, call `list.rest`. After that, edits are still sent
   * until an attempt fails.
   */
  start(): void {
    void this.list.follow();
    this.#send();
  }

  /** Connects again and sends the waiting edits now, instead of waiting for the next automatic attempt. */
  reconnect(): void {
    this.list.rest();
    this.start();
  }

  /**
   * Call this when the user leaves the page. The time for Undo ends, so deletions are sent now, as many as the browser
   * allows. This page forgets its unsent edits: they stay in the browser's database, and another page takes them over.
   * If the user comes back, call `takeOver` with the edits that no other page has taken, and then `reconnect`.
   */
  leave(): void {
    this.#sendDeletions(lastRequestsMax);
    this.outbox.giveUp();
    this.outbox.disconnected();
    this.list.rest();
    this.#changed();
  }

  /** Adds the edits of an earlier visit or of a closed page. If `held` is true, the user must confirm them first. */
  takeOver(edits: readonly KeptEdit[], held: boolean): void {
    this.outbox.restore(edits, held, Date.now() + lastRequestMs);
    if (this.signIn.username !== undefined && !this.signIn.isUnchecked) this.outbox.releaseFor(this.signIn.username);
    this.list.dropDoneDeletions();
    this.#released();
  }

  #changed(isEdit = false): void {
    this.#shown = undefined;
    this.notices.closeOver();
    for (const listener of this.#listeners) listener(isEdit);
  }

  /** Ends the time for Undo, and sends deletions at once, at most `countMax`. */
  #sendDeletions(countMax?: number): void {
    this.outbox.release();
    if (!this.signIn.isPostponed) this.#sender.sendDeletions(countMax);
  }

  /** Sends the waiting edits, unless the sign-in form is postponed. */
  #send(): void {
    if (!this.signIn.isPostponed) void this.#sender.send();
  }

  #released(): void {
    this.#changed();
    this.#send();
  }

  /**
   * Sends the waiting edits after the user has done something. If the service asks for a sign-in, the form opens again,
   * unless the user is typing.
   */
  #edited(): void {
    this.#changed(true);
    this.signIn.resume();
    // Edits are sent only after the list has been read, because the list names the store that they are for. If the list
    // needs a sign-in, ask for that first.
    if (this.list.connection === "signed-out" && this.signIn.username === undefined) this.signIn.ask();
    else this.#send();
  }

  #signsIn(): void {
    // Read the whole list again, not only its changes. When a whole list arrives, `#heardChange` makes sure that the
    // credentials are checked.
    this.list.forgetToken();
    this.reconnect();
  }

  #signsOut(): void {
    this.#sendDeletions();
    this.outbox.holdFor(this.signIn.username ?? "");
  }

  #signedOut(): void {
    this.list.forget();
    this.undo.forget();
    this.#changed();
    this.reconnect();
  }

  #heard(news: ListNews): void {
    if (news.kind === "change") this.#heardChange(news);
    else if (news.kind === "signed-out") this.signIn.ask();
    else if (news.kind === "unreadable")
      this.notices.add(
        "problem",
        `The list cannot be read: ${news.problem}`,
        { label: "Try again", run: () => this.reconnect() },
        () => this.list.connection === "live",
      );
    else {
      // If a password was being checked, the form says why that was impossible: the connection failed, or there had
      // been too many wrong passwords.
      if (news.kind === "lost") this.signIn.failed(news.problem);
      this.#released();
    }
  }

  #heardChange({ event, isOtherStore }: ListNews & { readonly kind: "change" }): void {
    // The user's earlier actions changed another store. This store does not have those changes, so they cannot be
    // undone here.
    if (isOtherStore) this.undo.forget();
    if (event.kind === "removed") this.notices.closeAbout(event.id);
    this.#updateConflicts(event);
    // The list may have arrived although the credentials are wrong, because reading may need none. If edits are due,
    // the answer to the first of them shows whether the credentials are correct. Otherwise they are checked now.
    const isNewList = event.kind === "snapshot";
    if (isNewList && this.signIn.isUnchecked && !this.outbox.next(Date.now())) void this.#checkCredentials();
    this.#changed();
  }

  #updateConflicts(event: WatchEvent<string>): void {
    const heardOf = ({ id, item, etag }: WatchedItem<string>) => this.#sender.heardOf(id, { json: item, etag });
    if (event.kind === "removed") this.#sender.heardOf(event.id, undefined, event.version);
    else if (event.kind === "changed") heardOf(event);
    else if (this.outbox.entries.some(({ conflict }) => conflict)) for (const item of event.items) heardOf(item);
  }

  #accepted(): void {
    this.signIn.accepted();
    if (this.outbox.releaseFor(this.signIn.username ?? "")) this.#released();
  }

  async #checkCredentials(): Promise<void> {
    const { client } = this.signIn;
    const check = await checkCredentials(client);
    // The user may have signed out meanwhile, or tried another password.
    if (this.signIn.client !== client) return;
    if (check.kind === "right") this.#accepted();
    else if (check.kind === "wrong") this.signIn.ask();
    else {
      this.signIn.giveUp(check.problem);
      // Read the list again, now without credentials, because the service may hide it from those who are not signed in.
      this.reconnect();
    }
  }

  #sent(outcome: SendOutcome): void {
    if (outcome.kind === "givenUp") return;
    if (outcome.kind !== "signInNeeded" && outcome.kind !== "tryLater") this.#accepted();
    if (outcome.kind === "notKept") {
      this.list.notKept();
      if (outcome.entry.isTrial) this.notices.add("done", "Not kept: this service is read-only.");
    } else if (outcome.kind === "stored" || outcome.kind === "alreadyDone") this.list.settle();
    else if (outcome.kind === "signInNeeded") this.signIn.ask();
    // A resting tab reads no feed. It would not notice if another store answered at this address later, so it stops
    // sending.
    else if (outcome.kind === "tryLater" && this.list.isResting) this.outbox.disconnected();
    else if (outcome.kind === "refused") this.#refusals.add(outcome.edit, outcome.problem);
    this.#changed();
  }

  #isRefused({ id, kind }: Edit): boolean {
    const edits = this.outbox.entries.filter(({ edit }) => edit.id === id);
    // A refused deletion is not in the outbox any more.
    if (kind === "delete") return edits.length === 0 && this.list.stored.has(id);
    return edits.at(-1)?.state === "refused";
  }
}
