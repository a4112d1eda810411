// Sends the user's edits to the service, one after the other, and decides what each answer means for its edit. The
// outbox holds the edits.

import { hasStatus, isPassing } from "../client/errors.ts";
import { isTodoError, type PreconditionFailedError, type TodoClient } from "../client/index.ts";
import { sameContent } from "../client/item-text.ts";
import { mergeFields } from "../items/field-merge.ts";
import { parseToken } from "../items/token.ts";
import type { Edit, Theirs, Versions } from "./edit.ts";
import type { Outbox } from "./outbox.ts";
import type { OutboxEntry } from "./outbox-entry.ts";

/** The result of trying to send one edit. The outbox is updated before `onOutcome` is called. */
export type SendOutcome =
  | { readonly kind: "stored" }
  /** The service is read-only: it has answered as usual, but stored nothing. */
  | { readonly kind: "notKept"; readonly entry: OutboxEntry }
  /**
   * The item was already as the edit would make it. Either somebody else made the same change, or an earlier attempt
   * succeeded but its answer was lost.
   */
  | { readonly kind: "alreadyDone" }
  /** The edit now contains somebody else's changes of other fields, or a later edit of the user, and is sent again. */
  | { readonly kind: "merged" }
  /**
   * Somebody else has deleted or changed the item, and the edit cannot be merged with that. The user must decide which
   * version to keep.
   */
  | { readonly kind: "conflict" }
  /** The service asks for credentials. The edit waits until the user signs in. */
  | { readonly kind: "signInNeeded" }
  /**
   * The attempt failed for a reason that may pass, such as a lost connection. The edit will be sent again. `isAnswered`
   * is false if the service has not answered at all.
   */
  | { readonly kind: "tryLater"; readonly isAnswered: boolean }
  /**
   * The service refused the edit. A new or changed item stays in the outbox, so that the user can correct it. A refused
   * deletion is dropped.
   */
  | { readonly kind: "refused"; readonly edit: Edit; readonly problem: string }
  /** The edit left the outbox while it was being sent, so the answer no longer matters. */
  | { readonly kind: "givenUp" };

export interface SenderParts {
  readonly outbox: Outbox;
  /** Returns the client to send the next edit with. After the user signs in or out, that is another client. */
  readonly client: () => TodoClient<string>;
  /** Called after each attempt to send an edit, but not for those of `sendDeletions`. */
  readonly onOutcome: (outcome: SendOutcome) => void;
  /** Called when `isUnanswered` becomes true. */
  readonly onSilence: () => void;
  /** How long the service may take to answer before the user is told. */
  readonly silenceMs?: number;
}

const resendMs = 2_000;
const defaultSilenceMs = 4_000;

export class Sender {
  readonly #parts: SenderParts;
  readonly #outbox: Outbox;
  #sending = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** True if an edit has waited for its answer for a while, and the service has not answered any edit since. */
  isUnanswered = false;

  constructor(parts: SenderParts) {
    this.#parts = parts;
    this.#outbox = parts.outbox;
  }

  /** Sends edits until none is left to send, or until an edit has to wait for a sign-in or for a later attempt. */
  async send(): Promise<void> {
    if (this.#sending) return;
    this.#sending = true;
    clearTimeout(this.#timer);
    let waitMs: number | undefined;
    for (let entry = this.#outbox.next(Date.now()); entry; entry = this.#outbox.next(Date.now())) {
      this.#outbox.sending(entry);
      const silence = setTimeout(() => {
        this.isUnanswered = true;
        this.#parts.onSilence();
      }, this.#parts.silenceMs ?? defaultSilenceMs);
      const outcome = await this.#sendOne(entry);
      clearTimeout(silence);
      if (outcome.kind !== "tryLater" || outcome.isAnswered) this.isUnanswered = false;
      if (outcome.kind === "tryLater") waitMs = resendMs;
      this.#parts.onOutcome(outcome);
      if (outcome.kind === "signInNeeded" || outcome.kind === "tryLater") break;
    }
    this.#sending = false;
    const time = this.#outbox.nextTime(Date.now());
    if (time !== undefined) waitMs ??= Math.max(0, time - Date.now());
    if (waitMs !== undefined) this.#timer = setTimeout(() => void this.send(), waitMs);
  }

  /**
   * Sends due deletions at once, at most `countMax`, because the page is about to be closed or the user signs out. The
   * remaining deletions wait. So do other edits, because those must be sent in order.
   */
  sendDeletions(countMax?: number): void {
    for (const entry of this.#outbox.dueDeletions(Date.now()).slice(0, countMax)) {
      this.#outbox.sending(entry);
      void this.#sendOne(entry);
    }
  }

  /**
   * Call this when the change feed reports that an item was changed, or deleted if `theirs` is undefined. If an edit of
   * this item has a conflict with an older version, the user must decide between the edit and this version instead.
   */
  heardOf(id: string, theirs: Theirs | undefined, version = versionOf(theirs?.etag) ?? 0): void {
    const isConflict = ({ edit, state }: OutboxEntry) => edit.id === id && state === "conflict";
    for (const entry of this.#outbox.entries.filter(isConflict)) {
      const { edit, conflict } = entry;
      if (version <= (versionOf(conflict?.theirs?.etag) ?? -1)) continue;
      // Nothing is merged without a question here, because the user may be reading the two versions.
      if (theirs) this.#conflict(entry, theirs, versionsOf(edit, theirs.json));
      else if (edit.kind === "delete") this.#outbox.drop(entry);
      else this.#conflict(entry, undefined);
    }
  }

  async #sendOne(entry: OutboxEntry): Promise<SendOutcome> {
    try {
      const etag = await this.#request(entry.edit);
      if (!this.#outbox.has(entry)) return { kind: "givenUp" };
      if (etag?.endsWith('-not-kept"')) {
        this.#outbox.notKept(entry);
        return { kind: "notKept", entry };
      }
      this.#outbox.stored(entry, etag, versionOf(etag));
      return { kind: "stored" };
    } catch (error) {
      if (!this.#outbox.has(entry)) return { kind: "givenUp" };
      const isTaken = entry.edit.kind === "create" && hasStatus(error, 409);
      return isTaken ? this.#idTaken(entry, error) : this.#failed(entry, error);
    }
  }

  /**
   * Called when a create was refused with `conflict`, because its ID is taken. An earlier attempt may have created the
   * item although its answer was lost. So if the service's item has the same content, the edit is stored.
   */
  async #idTaken(entry: OutboxEntry, conflict: unknown): Promise<SendOutcome> {
    const { edit } = entry;
    try {
      const { item, etag } = await this.#parts.client().get(edit.id);
      if (!this.#outbox.has(entry)) return { kind: "givenUp" };
      if (edit.kind !== "create" || !sameContent(item, edit.json)) return this.#failed(entry, conflict);
      this.#outbox.stored(entry, etag, versionOf(etag));
      return { kind: "alreadyDone" };
    } catch (error) {
      if (!isTodoError(error)) throw error;
      if (!this.#outbox.has(entry)) return { kind: "givenUp" };
      // The item could not be read. If it may be readable later, send the create again then.
      return this.#failed(entry, isPassing(error) ? error : conflict);
    }
  }

  /**
   * Sends an edit and returns the item's new ETag. After a deletion, there is no ETag, unless the service is read-only.
   */
  async #request(edit: Edit): Promise<string | undefined> {
    const client = this.#parts.client();
    if (edit.kind === "create") return (await client.create(edit.json)).etag;
    if (edit.kind === "update") return (await client.update(edit.json, { ifMatch: edit.etag })).etag;
    return (await client.remove(edit.id, { ifMatch: edit.etag })).etag;
  }

  #failed(entry: OutboxEntry, error: unknown): SendOutcome {
    const { edit, maybeStored } = entry;
    if (hasStatus(error, 401)) {
      this.#outbox.waits(entry, maybeStored);
      return { kind: "signInNeeded" };
    }
    if (isPassing(error)) {
      this.#outbox.waits(entry, true);
      return { kind: "tryLater", isAnswered: isTodoError(error, "HttpError") };
    }
    if (hasStatus(error, 404) && edit.kind === "delete") {
      this.#outbox.stored(entry, undefined, undefined);
      return { kind: "alreadyDone" };
    }
    if (isTodoError(error, "PreconditionFailedError")) return this.#changedElsewhere(entry, error);
    if (this.#outbox.takeLater(entry)) return { kind: "merged" };
    if (hasStatus(error, 404) && edit.kind === "update") return this.#conflict(entry, undefined);
    const problem = messageOf(error);
    if (edit.kind === "delete") this.#outbox.drop(entry);
    else this.#outbox.refused(entry, problem);
    return { kind: "refused", edit, problem };
  }

  #changedElsewhere(entry: OutboxEntry, { current, currentEtag }: PreconditionFailedError<unknown>): SendOutcome {
    if (typeof current !== "string") return this.#conflict(entry, undefined);
    const { edit, maybeStored } = entry;
    const theirs = { json: current, etag: currentEtag };
    // The item has been changed and changed back, so the user has seen the text that is to be deleted.
    if (edit.kind === "delete" && !maybeStored && edit.base !== undefined && sameContent(current, edit.base)) {
      this.#outbox.deleteVersion(entry, edit, currentEtag);
      return { kind: "merged" };
    }
    if (edit.kind !== "update") return this.#conflict(entry, theirs);
    const isSame = sameContent(current, edit.json);
    const merge = edit.base === undefined ? undefined : mergeFields(edit.base, edit.json, current);
    if (isSame || (merge && sameContent(current, merge.json))) {
      // The service has all the user's changes. If it also has changes of others, the user's later edits are not based
      // on those. `rebase` makes sure that the later edits are compared with the newest version.
      if (!isSame) this.#outbox.rebase(entry, current, theirs);
      this.#outbox.stored(entry, currentEtag, versionOf(currentEtag));
      return { kind: "alreadyDone" };
    }
    if (this.#outbox.takeLater(entry)) return { kind: "merged" };
    if (edit.base === undefined || !merge) return this.#conflict(entry, theirs);
    // If an earlier attempt was stored and its answer was lost, somebody may have put the old values back since then.
    // Nobody can tell, so the user decides.
    if (maybeStored) return this.#conflict(entry, theirs, { mine: merge.json, theirs: current });
    if (merge.conflicts.length === 0) {
      this.#outbox.rebase(entry, merge.json, theirs);
      return { kind: "merged" };
    }
    return this.#conflict(entry, theirs, versionsOf(edit, current));
  }

  #conflict(entry: OutboxEntry, theirs: Theirs | undefined, versions?: Versions): SendOutcome {
    this.#outbox.conflicted(entry, theirs, versions);
    return { kind: "conflict" };
  }
}

/** The texts that the user can choose between, if they can be told apart field by field. */
function versionsOf(edit: Edit, current: string): Versions | undefined {
  if (edit.kind !== "update" || edit.base === undefined) return undefined;
  return {
    mine: mergeFields(edit.base, edit.json, current).json,
    theirs: mergeFields(edit.base, current, edit.json).json,
  };
}

function versionOf(etag: string | undefined): number | undefined {
  return parseToken(etag ?? "")?.version;
}

/** Returns the service's own explanation if it sent one, and otherwise the error's message. */
export function messageOf(error: unknown): string {
  if (isTodoError(error, "HttpError") && error.detail !== "") return error.detail;
  return error instanceof Error ? error.message : String(error);
}
