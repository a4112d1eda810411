// Sends the edits in the outbox, one after the other, and decides what each answer means for its edit.

import { isPassing } from "../client/errors.ts";
import { isTodoError, type PreconditionFailedError, type TodoClient } from "../client/index.ts";
import { sameContent } from "../client/item-text.ts";
import { parseToken } from "../items/token.ts";
import type { Edit, Outbox, OutboxEntry } from "./outbox.ts";

/** The result of sending one edit. The outbox already reflects it. */
export type SendOutcome =
  | { readonly kind: "stored"; readonly entry: OutboxEntry }
  /**
   * The service already had this state: somebody else made the same change, or the answer to an earlier attempt was
   * lost.
   */
  | { readonly kind: "alreadyDone" }
  /** The item has changed since the edit was made. The user must decide. */
  | { readonly kind: "conflict" }
  /** The edit waits until somebody signs in. */
  | { readonly kind: "signInNeeded" }
  /** The edit waits for the next attempt. */
  | { readonly kind: "tryLater" }
  /** The service refused the edit, and it has been removed from the outbox. */
  | { readonly kind: "refused"; readonly edit: Edit; readonly error: unknown };

export interface SenderParts {
  readonly outbox: Outbox;
  /** The client to send the next edit with. */
  readonly client: () => TodoClient<string>;
  /** Called after each attempt to send an edit. */
  readonly onOutcome: (outcome: SendOutcome) => void;
}

const resendMs = 2_000;

export class Sender {
  readonly #parts: SenderParts;
  readonly #outbox: Outbox;
  #sending = false;
  #resend: ReturnType<typeof setTimeout> | undefined;

  constructor(parts: SenderParts) {
    this.#parts = parts;
    this.#outbox = parts.outbox;
  }

  /** Sends edits until none is left, or until the next one has to wait. */
  async send(): Promise<void> {
    if (this.#sending) return;
    this.#sending = true;
    clearTimeout(this.#resend);
    for (let entry = this.#outbox.next(); entry; entry = this.#outbox.next()) {
      entry.state = "sending";
      const outcome = await this.#sendOne(entry);
      const waits = outcome.kind === "signInNeeded" || outcome.kind === "tryLater";
      if (waits) entry.state = "waiting";
      if (outcome.kind === "tryLater") this.#resend = setTimeout(() => void this.send(), resendMs);
      this.#parts.onOutcome(outcome);
      if (waits) break;
    }
    this.#sending = false;
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

  /** Whether the item that has the ID of a new one is that item: the answer to an earlier attempt may have been lost. */
  async #isAlreadyStored(entry: OutboxEntry): Promise<boolean> {
    const { edit } = entry;
    if (edit.kind !== "create") return false;
    try {
      const { item, etag } = await this.#parts.client().get(edit.id);
      if (!sameContent(item, edit.json)) return false;
      this.#outbox.stored(entry, etag, versionOf(etag));
      return true;
    } catch (error) {
      // Whatever kept the item from being read, the 409 stays the answer.
      if (isTodoError(error)) return false;
      throw error;
    }
  }

  /** Returns the ETag of the new state; undefined after a deletion. */
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
    this.#outbox.drop(entry);
    if (isTodoError(error, "NotFoundError") && edit.kind === "delete") return { kind: "alreadyDone" };
    return { kind: "refused", edit, error };
  }

  #changedElsewhere(entry: OutboxEntry, { current, currentEtag }: PreconditionFailedError<unknown>): SendOutcome {
    const { edit } = entry;
    const theirs = typeof current === "string" ? { json: current, etag: currentEtag } : undefined;
    if (edit.kind !== "delete" && theirs && sameContent(theirs.json, edit.json)) {
      this.#outbox.stored(entry, currentEtag, versionOf(currentEtag));
      return { kind: "alreadyDone" };
    }
    this.#outbox.conflicted(entry, theirs);
    return { kind: "conflict" };
  }
}

function versionOf(etag: string | undefined): number | undefined {
  return parseToken(etag ?? "")?.version;
}
