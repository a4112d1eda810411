// Sends the edits of an outbox, one request at a time, and decides what each response means for its edit. It sends only
// while the list is connected: then it is known which store answers, and what became of edits whose response was lost.

import { mergeFields, sameFields } from "../items/field-merge.ts";
import { parseToken } from "../items/token.ts";
import { type HttpError, hasStatus, isPassing, isTodoError, type PreconditionFailedError } from "./errors.ts";
import type { ItemState, LiveConnection, LiveList } from "./live-list.ts";
import { type Edit, type Outbox, reconciled, replaced, without } from "./outbox.ts";
import { backoffMs, type Requester } from "./requester.ts";
import type { ListChange } from "./watch.ts";

export interface EditSenderParts {
  readonly requester: Requester<unknown>;
  readonly list: LiveList<unknown>;
  readonly outbox: () => Outbox;
  /** Changes the outbox. If `mustKeep` is set and the storage fails, throws and changes nothing. */
  readonly commit: (change: (outbox: Outbox) => Outbox, mustKeep?: boolean) => Promise<void>;
  /** Lets the app decide about a conflict at once, if it wants to. Undefined drops the edit. */
  readonly decide: (conflict: Edit) => Edit | undefined;
  readonly onChange: () => void;
}

type Outcome = "next" | "stop";

const firstRetryMs = 500;
const retryMsMax = 30_000;

export class EditSender {
  readonly #parts: EditSenderParts;
  /** The store that answers. Undefined while the list is not connected. */
  #connected: { readonly epoch: string | undefined; readonly isPolling: boolean } | undefined;
  /** False if another store may have taken over since the last poll. */
  #isProven = false;
  #isRunning = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  /** The number of the edit that is being sent. */
  sending: number | undefined;
  /** True if the service answers writes but stores none of them. */
  readOnly = false;
  needsCredentials = false;

  constructor(parts: EditSenderParts) {
    this.#parts = parts;
  }

  connectionIs(connection: LiveConnection): void {
    const isConnected = connection.kind === "live" || connection.kind === "polling";
    this.#isProven = isConnected;
    this.#connected = undefined;
    if (!isConnected) return;
    const { epoch, readOnly } = connection;
    this.#connected = { epoch, isPolling: connection.kind === "polling" };
    this.readOnly = readOnly;
  }

  /**
   * If an item of an `add` whose response was lost has shown up, or its removal has, the `add` was stored. Edits that were
   * made before any store was known are for the first one.
   */
  heard({ items, token }: ListChange): void {
    const ids = new Set(items.map(({ id }) => id));
    const isStored = (edit: Edit) => edit.kind === "add" && edit.isOwnId && edit.sent && ids.has(edit.id);
    const epoch = parseToken(token ?? "")?.epoch;
    const isNew = (edit: Edit) => edit.epoch === undefined && epoch !== undefined;
    if (this.#parts.outbox().some((edit) => isStored(edit) || isNew(edit)))
      void this.#parts.commit((outbox) =>
        outbox.filter((edit) => !isStored(edit)).map((edit) => ({ ...edit, epoch: edit.epoch ?? epoch })),
      );
  }

  /** True if the edit was made for another store than the one that answers. */
  isForeign({ epoch }: Edit): boolean {
    return this.#connected !== undefined && epoch !== undefined && epoch !== this.#connected.epoch;
  }

  /** True if there is nothing to send now. */
  get isIdle(): boolean {
    return !this.#isRunning && this.#next() === undefined;
  }

  /** True if some edits will be sent as soon as the service can be reached. */
  get hasWork(): boolean {
    if (this.readOnly || this.needsCredentials) return false;
    return this.#sendable().next().done === false;
  }

  /** Sends edits until none is left to send, or until they must wait. */
  async send(): Promise<void> {
    if (this.#isRunning || !this.#proves()) return;
    this.#isRunning = true;
    let count = 0;
    for (let edit = this.#next(); edit; edit = this.#next(), count++) {
      const outcome = await this.#attempt(edit);
      this.sending = undefined;
      this.#parts.onChange();
      if (outcome === "stop") break;
    }
    this.#isRunning = false;
    // Without a feed, nothing tells us of our own edits before the next poll.
    if (count > 0 && this.#connected?.isPolling) this.#parts.list.reconnect();
    this.#parts.onChange();
  }

  /** A feed would have ended if another store had taken over. A poll must come right before the edits. */
  #proves(): boolean {
    const isProven = this.#isProven || !this.#connected?.isPolling || this.#connected.epoch === undefined;
    if (!isProven && this.#next()) this.#parts.list.reconnect();
    this.#isProven = false;
    return isProven;
  }

  /** Tries again now, for example because there are new credentials. */
  retry(): void {
    this.needsCredentials = false;
    this.stopWaiting();
  }

  stopWaiting(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  *#sendable(): Generator<Edit> {
    const blocked = new Set<string>();
    for (const edit of this.#parts.outbox()) {
      const waits = edit.theirs !== undefined || edit.problem !== undefined || this.isForeign(edit);
      if (!waits && !blocked.has(edit.id)) yield edit;
      blocked.add(edit.id);
    }
  }

  #next(): Edit | undefined {
    if (!this.#connected || this.readOnly || this.needsCredentials || this.#timer !== undefined) return undefined;
    for (const edit of this.#sendable()) return edit;
    return undefined;
  }

  async #attempt({ number }: Edit): Promise<Outcome> {
    const { outbox, commit, list } = this.#parts;
    const epoch = this.#connected?.epoch;
    // The user may change the edit until it is marked. So it is looked up again each time.
    const find = (edits = outbox()) => edits.find((edit) => edit.number === number);
    const first = find();
    // The edit before it has left no ETag. So compare it with the list.
    if (first && first.kind !== "add" && first.etag === undefined && epoch !== undefined)
      await this.#meet(first, list.stateOf(first.id), false);
    let marked: Edit | undefined;
    let wasSent = false;
    const mark = (edits: Outbox) => {
      const edit = find(edits);
      if (!edit || edit.theirs || edit.problem) return edits;
      wasSent = edit.sent;
      marked = { ...edit, sent: true };
      return replaced(edits, marked);
    };
    try {
      // The device must know that the edit may be stored before anybody stores it.
      await commit(mark, true);
    } catch {
      return this.#later(undefined);
    }
    // The change feed may have shown in the meantime that the edit is stored.
    if (!marked || !outbox().includes(marked)) return "next";
    this.sending = number;
    this.#parts.onChange();
    try {
      return await this.#answered(marked, wasSent, await this.#request(marked, epoch));
    } catch (error) {
      return this.#failed(marked, wasSent, error);
    }
  }

  /** Sends an edit, and returns the ETag of the response. */
  async #request({ kind, id, mine, etag: ifMatch }: Edit, epoch: string | undefined): Promise<string | undefined> {
    const { requester } = this.#parts;
    if (kind === "remove") return (await requester.write("DELETE", id, { ifMatch })).etag;
    const { etag } = await requester.write(kind === "add" ? "POST" : "PUT", id, { ifMatch }, mine);
    // Our service confirms a write with an ETag. Without one, somebody else has answered, such as the page of a hotel.
    if (epoch !== undefined && etag === undefined) throw new Error("the response is not that of the service");
    return etag;
  }

  async #answered(edit: Edit, wasSent: boolean, etag: string | undefined): Promise<Outcome> {
    this.#failures = 0;
    if (etag?.endsWith('-not-kept"')) {
      this.readOnly = true;
      await this.#parts.commit((outbox) => replaced(outbox, { ...edit, sent: wasSent }));
      return "stop";
    }
    await this.#stored(edit, edit.kind === "remove" ? { etag: edit.etag } : { json: edit.mine, etag });
    return "next";
  }

  /** The edit is stored, and its item is like this now; undefined if it is gone. */
  async #stored(edit: Edit, now: ItemState | undefined): Promise<void> {
    const { commit, list } = this.#parts;
    await commit((outbox) => {
      // Before the edit leaves the outbox, so that nobody sees the item for a moment as it was before the edit.
      if (now) list.put(edit.id, now.json, now.etag);
      const later = outbox.find(({ id, number }) => id === edit.id && number > edit.number);
      const rest = without(outbox, edit);
      if (!later || later.kind === "add" || later.etag !== undefined) return rest;
      return this.#settled(rest, later, reconciled(later, now, false));
    });
    // Another store answers at this address by now. The list must find out before anything else is sent.
    if (this.#isOtherStore(now?.etag)) list.reconnect();
  }

  #isOtherStore(etag: string | undefined): boolean {
    return etag !== undefined && parseToken(etag)?.epoch !== this.#connected?.epoch;
  }

  /** Compares an edit with the state of its item now. */
  async #meet(edit: Edit, now: ItemState | undefined, mayBeStored: boolean): Promise<void> {
    if (!reconciled(edit, now, mayBeStored)) return this.#stored(edit, now);
    await this.#parts.commit((outbox) => {
      const current = outbox.find(({ number }) => number === edit.number);
      return current ? this.#settled(outbox, current, reconciled(current, now, mayBeStored)) : outbox;
    });
  }

  #settled(outbox: Outbox, edit: Edit, next: Edit | undefined): Outbox {
    const decided = next?.theirs ? this.#parts.decide(next) : next;
    return decided ? replaced(outbox, decided) : without(outbox, edit);
  }

  async #failed(edit: Edit, wasSent: boolean, error: unknown): Promise<Outcome> {
    const isOurs = this.#connected?.epoch !== undefined;
    const isCode = (refusal: unknown, status: number, code: string): refusal is HttpError =>
      hasStatus(refusal, status) && (refusal.code === code || (refusal.code === undefined && !isOurs));
    if (isTodoError(error, "PreconditionFailedError")) return this.#changedByOthers(edit, wasSent, error);
    if (isCode(error, 404, "RecordNotFound") && edit.kind !== "add") {
      await this.#meet(edit, undefined, wasSent);
      return "next";
    }
    if (isCode(error, 409, "TodoItemIDInUse") && edit.kind === "add") return this.#taken(edit);
    if (hasStatus(error, 401)) {
      this.needsCredentials = true;
      await this.#parts.commit((outbox) => replaced(outbox, { ...edit, sent: wasSent }));
      return "stop";
    }
    // A redirect comes from a network that wants a sign-in first.
    const isRefusal = isTodoError(error, "HttpError") && error.status >= 400 && !isPassing(error);
    return isRefusal ? this.#refused(edit, error) : this.#later(error);
  }

  async #changedByOthers(
    edit: Edit,
    wasSent: boolean,
    { currentText, currentEtag }: PreconditionFailedError<unknown>,
  ): Promise<Outcome> {
    const now = { json: currentText, etag: currentEtag };
    await this.#meet(edit, now, wasSent);
    this.#parts.list.put(edit.id, now.json, now.etag);
    return "next";
  }

  /** The ID of an `add` is taken. If it was made for the `add`, an earlier attempt is stored. */
  async #taken(edit: Edit): Promise<Outcome> {
    const { requester, commit } = this.#parts;
    let now: ItemState | undefined;
    try {
      const reply = await requester.send({ method: "GET", url: requester.itemUrl(edit.id) });
      now = { json: await reply.text(), etag: reply.etag };
    } catch (error) {
      // The item was deleted since. Or the server cannot send a single item: then the list will show it.
      if (!hasStatus(error, 404, 405)) return this.#later(error);
    }
    if (edit.isOwnId || (now?.json !== undefined && sameFields(edit.mine ?? "", now.json)))
      await this.#stored(edit, now);
    else {
      const mine =
        now?.json === undefined ? edit.mine : mergeFields(edit.base ?? "{}", edit.mine ?? "{}", now.json).json;
      await commit((outbox) => this.#settled(outbox, edit, { ...edit, mine, sent: false, theirs: now ?? {} }));
    }
    return "next";
  }

  async #refused(edit: Edit, { status, code, detail }: HttpError): Promise<Outcome> {
    await this.#parts.commit((outbox) => replaced(outbox, { ...edit, sent: false, problem: { status, code, detail } }));
    return "next";
  }

  /**
   * Waits before the next attempt, and connects again at once: that shows whether the service can be reached, and only a
   * new document of changes can show whether the edit was stored, and what others have done to it.
   */
  #later(error: unknown): Outcome {
    const asked = isTodoError(error, "HttpError") ? (error.retryAfterMs ?? 0) : 0;
    const waitMs = Math.max(asked, backoffMs(this.#failures++, firstRetryMs, retryMsMax));
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.send();
    }, waitMs);
    this.#parts.list.reconnect();
    return "stop";
  }
}
