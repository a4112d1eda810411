// Sends the edits of an outbox, one request at a time, and decides what each response means for its edit. It sends only
// while the list is connected: then it is known which store answers, and what became of edits whose response was lost.

import { isNotKept, parseToken } from "../../items/token.ts";
import { hasStatus, InvalidResponseError, isPassing, isTodoError } from "../errors.ts";
import type { Follower } from "../live/follower.ts";
import type { ItemState } from "../live/mirror.ts";
import { backoffMs, type Requester } from "../requester.ts";
import { timerMsMax } from "../time-limit.ts";
import type { KeptList } from "./kept-list.ts";
import { behind, type Edit, type EditState, type Outbox, reconciled, refused, replaced } from "./outbox.ts";

const methods = { add: "POST", change: "PUT", remove: "DELETE" } as const;
/** If the change feed was silent for longer, the next edit waits until it is known which store answers. */
const silenceMsMax = 10_000;

/** What a sender works with. */
interface SenderParts {
  readonly requester: Requester<unknown>;
  readonly follower: Follower<unknown>;
  readonly kept: KeptList;
  /** Ends the sending, also of a request that is under way: another instance may send the edit again. */
  readonly signal: AbortSignal;
  /** Called when the sender has stopped sending. */
  readonly onChange: () => void;
}

export class EditSender {
  readonly #parts: SenderParts;
  #isRunning = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  needsCredentials = false;
  /** False if the request that is under way was sent before the last `retry`, and so perhaps before a sign-in. */
  #isCurrent = false;

  constructor(parts: SenderParts) {
    this.#parts = parts;
  }

  /** True if the edit was made for another store than the one that has answered last. */
  isForeign({ epoch }: Edit): boolean {
    const { known } = this.#parts.follower;
    return known !== undefined && epoch !== undefined && epoch !== known.epoch;
  }

  stateOf(edit: Edit): EditState {
    if (edit.theirs) return "conflict";
    if (edit.problem) return "refused";
    return this.isForeign(edit) ? "held" : "waiting";
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
      const isFirst = this.stateOf(edit) === "waiting" && !blocked.has(edit.id);
      blocked.add(edit.id);
      return isFirst;
    });
  }

  /** Sends edits until none is left to send, or until they must wait. `isProven`: the list has just connected. */
  async send(isProven = false): Promise<void> {
    if (this.#isRunning || this.#next() === undefined) return;
    if (!isProven && this.#mustCheck()) return this.#parts.follower.reconnect();
    this.#isRunning = true;
    for (let edit = this.#next(); edit; edit = this.#next())
      await this.#attempt(edit).catch((error: unknown) => this.#later(error));
    this.#isRunning = false;
    // Without a feed, nothing tells us of our own edits before the next poll.
    if (this.#parts.follower.connected?.kind === "polling") this.#parts.follower.reconnect();
    this.#parts.onChange();
  }

  /** Waits no longer, for example because there are new credentials. */
  retry(): void {
    this.needsCredentials = false;
    this.#isCurrent = false;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /**
   * Whether another store may have taken over unnoticed. A poll must come right before the edits. A feed would have
   * ended, but that may be noticed late if the network has changed.
   */
  #mustCheck(): boolean {
    const { connected, silentMs } = this.#parts.follower;
    return connected?.kind === "polling" ? connected.epoch !== undefined : silentMs > silenceMsMax;
  }

  #next(): Edit | undefined {
    const { follower, signal } = this.#parts;
    return follower.connected && this.#timer === undefined && !signal.aborted ? this.first : undefined;
  }

  async #attempt({ number }: Edit): Promise<void> {
    const { follower, kept } = this.#parts;
    const { connected } = follower;
    const isOurs = connected?.epoch !== undefined;
    const find = (outbox: Outbox) => outbox.find((edit) => edit.number === number);
    let wasSent = false;
    // The device must know that the edit may be stored before anybody stores it.
    await kept.commit((outbox) => {
      // The user may have changed the edit until now, and another tab may have taken over edits that come before it.
      const edit = find(outbox);
      wasSent = edit?.sent ?? false;
      if (!edit || this.stateOf(edit) !== "waiting" || follower.connected !== connected) return outbox;
      // The edit before it has left no ETag. So compare it with the list.
      const isKnown = edit.kind === "add" || edit.etag !== undefined || !isOurs;
      const next = isKnown ? edit : reconciled(edit, follower.mirror.stateOf(edit.id), wasSent);
      return replaced(outbox, edit, next && { ...next, sent: !next.theirs });
    }, "kept");
    const edit = find(kept.outbox);
    // The change feed may have shown in the meantime that the edit is stored, or the comparison was a conflict.
    if (!edit?.sent) return;
    // While the device noted that, the connection may have been lost, and another store may answer now.
    if (follower.connected !== connected) return this.#replace(edit, { ...edit, sent: wasSent });
    this.#isCurrent = true;
    try {
      await this.#request(edit, wasSent, isOurs);
    } catch (error) {
      await this.#failed(edit, wasSent, isOurs, error);
    }
  }

  async #request(edit: Edit, wasSent: boolean, isOurs: boolean): Promise<void> {
    const { kind, id, mine, etag: ifMatch } = edit;
    const { requester, signal } = this.#parts;
    const { etag, reply } = await requester.write(methods[kind], id, { ifMatch, signal }, mine);
    if (isNotKept(etag)) {
      await this.#replace(edit, { ...edit, sent: wasSent });
      return this.#later(undefined);
    }
    // Other servers may confirm a write in another way. Here, somebody else has answered, such as the page of a hotel.
    const isDocumented = reply.status === (kind === "add" ? 201 : 204) && (etag !== undefined || kind === "remove");
    if (isOurs && !isDocumented)
      throw new InvalidResponseError(reply.request, "the response is not that of the service");
    this.#failures = 0;
    await this.#meet(edit, kind === "remove" ? { etag: ifMatch } : { json: mine, etag }, () => undefined);
  }

  async #failed(edit: Edit, wasSent: boolean, isOurs: boolean, error: unknown): Promise<void> {
    const isCode = (status: number, code: string) =>
      hasStatus(error, status) && (error.code === code || (error.code === undefined && !isOurs));
    const met = (now: ItemState | undefined) => this.#meet(edit, now, (current) => reconciled(current, now, wasSent));
    if (isTodoError(error, "PreconditionFailedError")) {
      const { currentText: json, currentEtag: etag } = error;
      const now = json === undefined ? await this.#fetch(edit.id) : { json, etag };
      // A proxy has dropped the ETag. The next document of changes has it, and the edit is compared with that.
      if (isOurs && now && now.etag === undefined) {
        await this.#replace(edit, { ...edit, etag: undefined, sent: wasSent });
        throw error;
      }
      // A server that refuses the very ETag that it names would do so for ever.
      if (now?.etag === undefined || now.etag !== edit.etag) return met(now);
    }
    if (isCode(404, "RecordNotFound") && edit.kind !== "add") return met(undefined);
    // The ID of an `add` is taken. If it was made for the `add`, an earlier attempt is stored.
    if (isCode(409, "TodoItemIDInUse") && edit.kind === "add") return met(await this.#fetch(edit.id));
    if (hasStatus(error, 401)) {
      this.needsCredentials = this.#isCurrent;
      return this.#replace(edit, { ...edit, sent: wasSent });
    }
    // A redirect comes from a network that wants a sign-in first.
    if (!isTodoError(error, "HttpError") || error.status < 400 || isPassing(error)) return this.#later(error);
    const { status, code, detail } = error;
    await this.#parts.kept.commit((outbox) => refused(outbox, edit, { status, code, detail }));
  }

  /** The item on the service. Undefined if it was deleted. */
  async #fetch(id: string): Promise<ItemState | undefined> {
    try {
      const { json, etag } = await this.#parts.requester.find(id, { signal: this.#parts.signal });
      return { json, etag };
    } catch (error) {
      if (!hasStatus(error, 404)) throw error;
      return undefined;
    }
  }

  /** Takes over the state of an edit's item now, and what that makes of the edit. Undefined drops the edit. */
  async #meet(edit: Edit, now: ItemState | undefined, nextOf: (current: Edit) => Edit | undefined): Promise<void> {
    await this.#parts.kept.commit((outbox) => {
      // Before the edit leaves the outbox, so that nobody sees the item for a moment as it was before the edit.
      if (now) this.#parts.follower.mirror.put(edit.id, now);
      const index = outbox.findIndex(({ number }) => number === edit.number);
      const current = outbox[index];
      const next = current && nextOf(current);
      // Another tab may have taken over edits that come before this one.
      return replaced(outbox, edit, next && behind(next, outbox.slice(0, index)));
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
    if (this.#parts.signal.aborted) return;
    const asked = isTodoError(error, "HttpError") ? (error.retryAfterMs ?? 0) : 0;
    const waitMs = Math.min(timerMsMax, Math.max(asked, backoffMs(this.#failures++)));
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.send();
    }, waitMs);
    this.#parts.follower.reconnect();
  }
}
