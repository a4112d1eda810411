// Sends the edits of an outbox, one request at a time, and decides what each response means for its edit. It sends only
// while the list is connected: then it is known which store answers, and what became of edits whose response was lost.

import { isNotKept, parseToken } from "../../items/token.ts";
import { hasStatus, isPassing, isTodoError } from "../errors.ts";
import type { Follower } from "../live/follower.ts";
import type { ItemState, Mirror } from "../live/mirror.ts";
import { backoffMs, type Requester } from "../requester.ts";
import type { KeptList } from "./kept-list.ts";
import { type Edit, reconciled, refused, replaced } from "./outbox.ts";

const methods = { add: "POST", change: "PUT", remove: "DELETE" } as const;
const firstRetryMs = 500;
const retryMsMax = 30_000;

/** What a sender works with. */
interface SenderParts {
  readonly requester: Requester<unknown>;
  readonly mirror: Mirror<unknown>;
  readonly follower: Follower;
  readonly kept: KeptList;
  /** Lets the app decide about a conflict at once, if it wants to. Undefined drops the edit. */
  readonly decide: (conflict: Edit) => Edit | undefined;
  /** Called when the sender has stopped sending. */
  readonly onChange: () => void;
}

export class EditSender {
  readonly #parts: SenderParts;
  #isRunning = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  needsCredentials = false;

  constructor(parts: SenderParts) {
    this.#parts = parts;
  }

  /** True if the edit was made for another store than the one that answers. */
  isForeign({ epoch }: Edit): boolean {
    const { connected } = this.#parts.follower;
    return connected !== undefined && epoch !== undefined && epoch !== connected.epoch;
  }

  /** True if there is nothing to send now. */
  get isIdle(): boolean {
    return !this.#isRunning && this.#next() === undefined;
  }

  /** The edit to send as soon as the service can be reached. */
  get first(): Edit | undefined {
    if (this.#parts.follower.status.readOnly || this.needsCredentials) return undefined;
    const blocked = new Set<string>();
    return this.#parts.kept.outbox.find((edit) => {
      const waits = edit.theirs !== undefined || edit.problem !== undefined || this.isForeign(edit);
      const isFirst = !waits && !blocked.has(edit.id);
      blocked.add(edit.id);
      return isFirst;
    });
  }

  /** Sends edits until none is left to send, or until they must wait. `isProven`: the list has just connected. */
  async send(isProven = false): Promise<void> {
    if (this.#isRunning) return;
    const { connected } = this.#parts.follower;
    // A feed would have ended if another store had taken over. A poll must come right before the edits.
    if (!isProven && connected?.kind === "polling" && connected.epoch !== undefined) {
      if (this.#next()) this.#parts.follower.reconnect();
      return;
    }
    this.#isRunning = true;
    const hasWork = this.#next() !== undefined;
    for (let edit = this.#next(); edit; edit = this.#next()) await this.#attempt(edit);
    this.#isRunning = false;
    if (!hasWork) return;
    // Without a feed, nothing tells us of our own edits before the next poll.
    if (this.#parts.follower.connected?.kind === "polling") this.#parts.follower.reconnect();
    this.#parts.onChange();
  }

  /** Waits no longer, for example because there are new credentials. */
  retry(): void {
    this.needsCredentials = false;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #next(): Edit | undefined {
    return this.#parts.follower.connected && this.#timer === undefined ? this.first : undefined;
  }

  async #attempt({ number }: Edit): Promise<void> {
    const isOurs = this.#parts.follower.connected?.epoch !== undefined;
    // The user may change the edit until it is marked. So it is looked up again each time.
    const find = (outbox = this.#parts.kept.outbox) => outbox.find((edit) => edit.number === number);
    const first = find();
    // The edit before it has left no ETag. So compare it with the list.
    if (first && first.kind !== "add" && first.etag === undefined && isOurs) {
      const now = this.#parts.mirror.stateOf(first.id);
      await this.#meet(first, now, (edit) => reconciled(edit, now, false));
    }
    let wasSent = false;
    try {
      // The device must know that the edit may be stored before anybody stores it.
      await this.#parts.kept.commit((outbox) => {
        const edit = find(outbox);
        wasSent = edit?.sent ?? false;
        return edit && !edit.theirs && !edit.problem ? replaced(outbox, edit, { ...edit, sent: true }) : outbox;
      }, true);
    } catch {
      return this.#later(undefined);
    }
    const edit = find();
    // The change feed may have shown in the meantime that the edit is stored, or the comparison was a conflict.
    if (!edit?.sent) return;
    try {
      await this.#request(edit, wasSent, isOurs);
    } catch (error) {
      await this.#failed(edit, wasSent, isOurs, error);
    }
  }

  async #request(edit: Edit, wasSent: boolean, isOurs: boolean): Promise<void> {
    const { kind, id, mine, etag: ifMatch } = edit;
    const { etag } = await this.#parts.requester.write(methods[kind], id, { ifMatch }, mine);
    if (isNotKept(etag)) {
      await this.#replace(edit, { ...edit, sent: wasSent });
      return this.#later(undefined);
    }
    // Our service confirms a write with an ETag. Without one, somebody else has answered, such as the page of a hotel.
    if (isOurs && etag === undefined && kind !== "remove") throw new Error("the response is not that of the service");
    this.#failures = 0;
    await this.#meet(edit, kind === "remove" ? { etag: ifMatch } : { json: mine, etag }, () => undefined);
  }

  async #failed(edit: Edit, wasSent: boolean, isOurs: boolean, error: unknown): Promise<void> {
    const isCode = (status: number, code: string) =>
      hasStatus(error, status) && (error.code === code || (error.code === undefined && !isOurs));
    const met = (now: ItemState | undefined) => this.#meet(edit, now, (current) => reconciled(current, now, wasSent));
    if (isTodoError(error, "PreconditionFailedError")) return met({ json: error.currentText, etag: error.currentEtag });
    if (isCode(404, "RecordNotFound") && edit.kind !== "add") return met(undefined);
    // The ID of an `add` is taken. If it was made for the `add`, an earlier attempt is stored.
    if (isCode(409, "TodoItemIDInUse") && edit.kind === "add")
      return this.#fetch(edit.id).then(met, (failure: unknown) => this.#later(failure));
    if (hasStatus(error, 401)) {
      this.needsCredentials = true;
      return this.#replace(edit, { ...edit, sent: wasSent });
    }
    // A redirect comes from a network that wants a sign-in first.
    if (!isTodoError(error, "HttpError") || error.status < 400 || isPassing(error)) return this.#later(error);
    const { status, code, detail } = error;
    await this.#parts.kept.commit((outbox) => refused(outbox, edit, { status, code, detail }));
  }

  /** The item on the service. Undefined if it was deleted, or if the server cannot send a single item. */
  async #fetch(id: string): Promise<ItemState | undefined> {
    try {
      const reply = await this.#parts.requester.send({ method: "GET", url: this.#parts.requester.itemUrl(id) });
      return { json: await reply.text(), etag: reply.etag };
    } catch (error) {
      if (!hasStatus(error, 404, 405)) throw error;
      return undefined;
    }
  }

  /** Takes over the state of an edit's item now, and what that makes of the edit. Undefined drops the edit. */
  async #meet(edit: Edit, now: ItemState | undefined, nextOf: (current: Edit) => Edit | undefined): Promise<void> {
    await this.#parts.kept.commit((outbox) => {
      // Before the edit leaves the outbox, so that nobody sees the item for a moment as it was before the edit.
      if (now) this.#parts.mirror.put(edit.id, now);
      const current = outbox.find(({ number }) => number === edit.number);
      const next = current && nextOf(current);
      return replaced(outbox, edit, next?.theirs ? this.#parts.decide(next) : next);
    });
    // Another store answers at this address by now. The list must find out before anything else is sent.
    if (now?.etag !== undefined && parseToken(now.etag)?.epoch !== this.#parts.follower.connected?.epoch)
      this.#parts.follower.reconnect();
  }

  #replace(edit: Edit, next: Edit): Promise<void> {
    return this.#parts.kept.commit((outbox) => replaced(outbox, edit, next));
  }

  /**
   * Waits before the next attempt, and connects again at once: that shows whether the service can be reached, and only a
   * new document of changes can show whether the edit was stored, and what others have done to it.
   */
  #later(error: unknown): void {
    const asked = isTodoError(error, "HttpError") ? (error.retryAfterMs ?? 0) : 0;
    const waitMs = Math.max(asked, backoffMs(this.#failures++, firstRetryMs, retryMsMax));
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.send();
    }, waitMs);
    this.#parts.follower.reconnect();
  }
}
