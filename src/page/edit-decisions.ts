// What the user decides about edits that cannot simply be sent: edits with a conflict, refused edits, edits that wait
// for a sign-in, and edits that may belong to another store.

import { newId, sameContent } from "../client/item-text.ts";
import type { Conflict, Edit } from "./edit.ts";
import { named, readFields, withId } from "./item-fields.ts";
import type { ItemUndo } from "./item-undo.ts";
import type { Outbox } from "./outbox.ts";
import type { OutboxEntry } from "./outbox-entry.ts";

export interface EditDecisionsParts {
  readonly outbox: Outbox;
  readonly undo: ItemUndo;
  /** Gives the focus to this item. */
  readonly focus: (id: string) => void;
  /** Called after a conflict was resolved or held edits were confirmed. Edits may be sent now. */
  readonly onEdit: () => void;
  /** Called after refused, unsent or held edits were dropped. */
  readonly onDrop: () => void;
}

export class EditDecisions {
  readonly #parts: EditDecisionsParts;
  readonly #outbox: Outbox;

  constructor(parts: EditDecisionsParts) {
    this.#parts = parts;
    this.#outbox = parts.outbox;
  }

  /**
   * Resolves a conflict. "mine" sends the user's edit again. "theirs" gives up those changes of the user that
   * contradict the other version. "both" drops the edit and adds the user's version as a new item. Undoing "mine"
   * leads to the other version. Undoing "theirs" or "both" asks the user again.
   */
  decide(id: string, which: "mine" | "theirs" | "both"): void {
    const entry = this.#outbox.entries.find(({ edit, state }) => edit.id === id && state === "conflict");
    if (!entry) return;
    const { undo, focus, onEdit } = this.#parts;
    const { edit, conflict } = entry;
    const theirs = conflict?.theirs;
    focus(id);
    if (edit.kind === "update") undo.forgetSaved(edit);
    if (which === "mine") {
      this.#rememberInsisting(edit, theirs);
      this.#outbox.insist(entry);
    } else {
      const copy = which === "both" && theirs ? copyOf(theirs.versions.mine) : undefined;
      if (edit.kind !== "create") undo.addGivenUp(edit, copy);
      if (which === "theirs" && theirs && !sameContent(theirs.versions.theirs, theirs.json))
        this.#outbox.rebase(entry, theirs.versions.theirs, theirs);
      else this.#outbox.drop(entry);
      if (copy) {
        focus(copy.id);
        this.#outbox.add({ kind: "create", ...copy });
      }
    }
    onEdit();
  }

  #rememberInsisting(edit: Edit, theirs: Conflict["theirs"]): void {
    const { undo } = this.#parts;
    const { id } = edit;
    if (edit.kind === "delete") {
      if (theirs) undo.addInsistedDeletion(id, theirs.json);
    } else if (theirs) undo.addSaved({ id, json: theirs.json }, theirs.versions.mine);
    else undo.addAdded([{ id, json: edit.json }]);
  }

  /** Drops the edit of this item that the service refused. */
  discardRefused(id: string): void {
    const isRefused = ({ edit, state }: OutboxEntry) => edit.id === id && state === "refused";
    const first = this.#outbox.entries.find(isRefused);
    // Later edits of the item are based on the refused one.
    this.#discard(({ edit, number }) => first !== undefined && edit.id === id && number >= first.number);
  }

  /** Drops all edits that the service has not stored, except those that the user must confirm. */
  discardUnsent(): void {
    this.#discard(({ state, held }) => state !== "stored" && !held);
  }

  /** Names the edits that may be for another store. They are not sent before the user confirms them. */
  get heldNames(): readonly string[] {
    return this.#outbox.held.map(({ edit }) => {
      if (edit.kind !== "delete") return named(readFields(edit.json));
      return edit.name === undefined ? "a deletion" : `the deletion of ${named({ name: edit.name })}`;
    });
  }

  /** Sends the edits of `heldNames` to the store that the page is connected to, or drops them. */
  decideHeld(which: "send" | "discard"): void {
    if (which === "send") {
      this.#outbox.confirmHeld();
      this.#parts.onEdit();
    } else this.#discard(({ held }) => held);
  }

  /** Drops edits, and offers to bring them back. */
  #discard(isDiscarded: (entry: OutboxEntry) => boolean): void {
    const discarded = this.#outbox.entries.filter(isDiscarded);
    this.#outbox.discard(discarded);
    this.#parts.undo.offerDiscarded(discarded);
    this.#parts.onDrop();
  }
}

/** Returns a new item with the content of `json`. */
function copyOf(json: string): { readonly id: string; readonly json: string } {
  const id = newId();
  return { id, json: withId(json, id) };
}
