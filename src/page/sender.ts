// Sends the user's edits to the service, one after the other, and decides what each answer means for its edit. The
// outbox holds the edits.

import { isPassing } from "../client/errors.ts";
import { isTodoError, type PreconditionFailedError, type TodoClient } from "../client/index.ts";
import { sameContent } from "../client/item-text.ts";
import { mergeFields } from "../items/field-merge.ts";
import { parseToken } from "../items/token.ts";
import type { Edit, Outbox, OutboxEntry } from "./outbox.ts";

/** The result of trying to send one edit. By the time it is reported, the outbox has been updated. */
export type SendOutcome =
  | { readonly kind: "stored"; readonly entry: OutboxEntry }
  /**
   * The item was already as the edit would make it. Either somebody else made the same change, or an earlier attempt
   * succeeded but its answer was lost.
   */
  | { readonly kind: "alreadyDone" }
  /** Somebody else has changed other fields of the item. The edit now contains their changes and will be sent again. */
  | { readonly kind: "merged" }
  /** Somebody else has deleted the item, or changed a field that the user has changed. The user must decide which version to keep. */
  | { readonly kind: "conflict" }
  /** The service asks for credentials. The edit waits until the user signs in. */
  | { readonly kind: "signInNeeded" }
  /** The attempt failed for a reason that may pass, such as a lost connection. The edit will be sent again. */
  | { readonly kind: "tryLater" }
  /**
   * The service refused the edit. A new or changed item stays in the outbox, so that the user can correct it. A refused
   * deletion is dropped.
   */
  | { readonly kind: "refused"; readonly edit: Edit; readonly problem: string };

export interface SenderParts {
  readonly outbox: Outbox;
  /** Returns the client to send the next edit with. After the user signs in or out, that is another client. */
  readonly client: () => TodoClient<string>;
  /** Called after each attempt to send an edit. */
  readonly onOutcome: (outcome: SendOutcome) => void;
}

const resendMs = 2_000;

export class Sender {
  readonly #parts: SenderParts;
  readonly #outbox: Outbox;
  #sending = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

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
      entry.state = "sending";
      const outcome = await this.#sendOne(entry);
      const waits = outcome.kind === "signInNeeded" || outcome.kind === "tryLater";
      if (waits) entry.state = "waiting";
      if (outcome.kind === "tryLater") waitMs = resendMs;
      this.#parts.onOutcome(outcome);
      if (waits) break;
    }
    this.#sending = false;
    const time = this.#outbox.nextTime(Date.now());
    if (time !== undefined) waitMs ??= Math.max(0, time - Date.now());
    if (waitMs !== undefined) this.#timer = setTimeout(() => void this.send(), waitMs);
  }

  async #sendOne(entry: OutboxEntry): Promise<SendOutcome> {
    try {
      const etag = await this.#request(entry.edit);
      this.#outbox.stored(entry, etag, versionOf(etag));
      return { kind: "stored", entry };
    } catch (error) {
      const isTaken = entry.edit.kind === "create" && isTodoError(error, "ConflictError");
      return isTaken && (await this.#isAlreadyStored(entry)) ? { kind: "alreadyDone" } : this.#failed(entry, error);
    }
  }

  /**
   * Called when a create was refused because its ID is taken. An earlier attempt may have created the item although its
   * answer was lost. If the service's item has the same content, marks the edit as stored and returns true.
   */
  async #isAlreadyStored(entry: OutboxEntry): Promise<boolean> {
    const { edit } = entry;
    if (edit.kind !== "create") return false;
    try {
      const { item, etag } = await this.#parts.client().get(edit.id);
      if (!sameContent(item, edit.json)) return false;
      this.#outbox.stored(entry, etag, versionOf(etag));
      return true;
    } catch (error) {
      // The item could not be read. Then the create counts as refused, with the original 409 answer.
      if (isTodoError(error)) return false;
      throw error;
    }
  }

  /** Sends an edit. Returns the item's new ETag; undefined after a deletion. */
  async #request(edit: Edit): Promise<string | undefined> {
    const client = this.#parts.client();
    if (edit.kind === "create") return (await client.create(edit.json)).etag;
    if (edit.kind === "update") return (await client.update(edit.json, { ifMatch: edit.etag })).etag;
    await client.remove(edit.id, { ifMatch: edit.etag });
    return undefined;
  }

  #failed(entry: OutboxEntry, error: unknown): SendOutcome {
    const { edit } = entry;
    if (isTodoError(error, "UnauthorizedError")) return { kind: "signInNeeded" };
    if (isPassing(error)) return { kind: "tryLater" };
    if (isTodoError(error, "PreconditionFailedError")) return this.#changedElsewhere(entry, error);
    if (isTodoError(error, "NotFoundError") && edit.kind === "update") {
      this.#outbox.conflicted(entry, undefined);
      return { kind: "conflict" };
    }
    const problem = messageOf(error);
    if (edit.kind === "delete") this.#outbox.drop(entry);
    else this.#outbox.refused(entry, problem);
    if (isTodoError(error, "NotFoundError") && edit.kind === "delete") return { kind: "alreadyDone" };
    return { kind: "refused", edit, problem };
  }

  #changedElsewhere(entry: OutboxEntry, { current, currentEtag }: PreconditionFailedError<unknown>): SendOutcome {
    const { edit } = entry;
    if (typeof current !== "string") {
      this.#outbox.conflicted(entry, undefined);
      return { kind: "conflict" };
    }
    if (edit.kind !== "delete" && sameContent(current, edit.json)) {
      this.#outbox.stored(entry, currentEtag, versionOf(currentEtag));
      return { kind: "alreadyDone" };
    }
    const theirs = { json: current, withMine: current, etag: currentEtag };
    if (edit.kind !== "update" || edit.base === undefined) {
      this.#outbox.conflicted(entry, theirs);
      return { kind: "conflict" };
    }
    const { json, conflicts } = mergeFields(edit.base, edit.json, current);
    this.#outbox.rebase(entry, json, theirs);
    if (conflicts.length === 0) return { kind: "merged" };
    // The dialog then shows only the fields that both have changed.
    const withMine = mergeFields(edit.base, current, edit.json).json;
    this.#outbox.conflicted(entry, { ...theirs, withMine });
    return { kind: "conflict" };
  }
}

function versionOf(etag: string | undefined): number | undefined {
  return parseToken(etag ?? "")?.version;
}

/** Returns the service's own explanation if it sent one, and otherwise the error's message. */
export function messageOf(error: unknown): string {
  if (isTodoError(error, "HttpError") && error.detail !== "") return error.detail;
  return error instanceof Error ? error.message : String(error);
}
