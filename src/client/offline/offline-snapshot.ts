// What an offline list shows: its items with the edits on top, the edits that wait, and its status. Objects stay the same
// until something about them changes, so that user interfaces can compare them with `===`.

import type { ItemCodec } from "../codecs.ts";
import { withEdits } from "../item-text.ts";
import { type Entry, unchanged } from "../live/mirror.ts";
import { firstStatus, type OfflineStatus } from "../live/status.ts";
import { type Edit, type EditProblem, type EditState, insisted, insistence, type Outbox, overlaid } from "./outbox.ts";

export interface OfflineItem<Item> {
  /** In lower case. */
  readonly id: string;
  readonly item: Item;
  /** True if the service has not confirmed an edit of this item. */
  readonly pending: boolean;
}

/** An edit and the change of somebody else that it contradicts. */
export interface Conflict<Item> {
  readonly id: string;
  /** The item as the user saw it. */
  readonly base: Item | undefined;
  /** What "mine" would store. Undefined if it would remove the item. */
  readonly mine: Item | undefined;
  /** The item on the service. Undefined if somebody else has deleted it. */
  readonly theirs: Item | undefined;
}

/** How a conflict is resolved: by one of its sides, or by another item. */
export type Resolution<Item> = "mine" | "theirs" | Item;

/** An edit that the service has not confirmed. */
export interface PendingEdit<Item> {
  readonly id: string;
  readonly kind: Edit["kind"];
  readonly state: EditState;
  readonly problem: EditProblem | undefined;
  readonly conflict: Conflict<Item> | undefined;
}

export interface OfflineSnapshot<Item> {
  readonly items: readonly OfflineItem<Item>[];
  readonly pending: readonly PendingEdit<Item>[];
  readonly status: OfflineStatus;
}

export const emptySnapshot: OfflineSnapshot<never> = {
  items: [],
  pending: [],
  status: { ...firstStatus, kept: false, storageError: undefined },
};

export class OfflineView<Item> {
  readonly #codec: ItemCodec<Item>;
  /** The items of the snapshot with their texts, by ID. */
  #shown = new Map<string, { readonly text: string; readonly entry: OfflineItem<Item> }>();
  readonly #pending = new WeakMap<Edit, PendingEdit<Item>>();
  /** The same object until something changes. */
  snapshot: OfflineSnapshot<Item> = emptySnapshot;
  /** The items of the snapshot without the edits. The user has not seen anything newer. */
  seen: readonly Entry<Item>[] = [];

  constructor(codec: ItemCodec<Item>) {
    this.#codec = codec;
  }

  draw(items: readonly Entry<Item>[], outbox: Outbox, status: OfflineStatus, stateOf: (edit: Edit) => EditState): void {
    const before = this.snapshot;
    try {
      const pending = outbox.map((edit) => this.#pendingOf(edit, stateOf(edit)));
      this.snapshot = unchanged(before, {
        items: unchanged(before.items, this.#items(items, outbox)),
        pending: unchanged(before.pending, pending),
        status: unchanged(before.status, status),
      });
      this.seen = items;
    } catch (error) {
      // The codec refuses what two people have made of an item together.
      this.snapshot = { ...before, status: { ...status, connection: { kind: "failed", error } } };
    }
  }

  #items(items: readonly Entry<Item>[], outbox: Outbox): readonly OfflineItem<Item>[] {
    const edited = new Set(outbox.map(({ id }) => id));
    const shown = Array.from(overlaid(items, outbox), ([id, text]) => {
      const before = this.#shown.get(id);
      const pending = edited.has(id);
      if (before?.text === text && before.entry.pending === pending) return [id, before] as const;
      const item = before?.text === text ? before.entry.item : this.#codec.parse(text);
      return [id, { text, entry: { id, item, pending } }] as const;
    });
    this.#shown = new Map(shown);
    return shown.map(([, { entry }]) => entry);
  }

  #pendingOf(edit: Edit, state: EditState): PendingEdit<Item> {
    const { id, kind, problem, theirs } = edit;
    const before = this.#pending.get(edit);
    if (before?.state === state) return before;
    const pending = { id, kind, state, problem, conflict: theirs && this.conflictOf(edit) } as const;
    this.#pending.set(edit, pending);
    return pending;
  }

  conflictOf(edit: Edit): Conflict<Item> {
    const { id, base, theirs } = edit;
    const parsed = (json: string | undefined) => (json === undefined ? undefined : this.#codec.parse(json));
    return { id, base: parsed(base), mine: parsed(insistence(edit)), theirs: parsed(theirs?.json) };
  }

  /** The edit after somebody has decided its conflict. Undefined drops the edit; without a choice, it waits. */
  decided(edit: Edit, choice: Resolution<Item> | undefined): Edit | undefined {
    if (choice === undefined) return edit;
    if (choice === "theirs") return undefined;
    if (choice === "mine") return insisted(edit);
    const original = edit.theirs?.json ?? edit.mine ?? edit.base ?? "";
    const mine = this.edited(original, () => choice);
    return insisted(edit, mine);
  }

  /** The text of an item after an edit: exact, except for the fields that the edit has changed. */
  edited(original: string, edit: (item: Item) => Item): string {
    const seen = this.#codec.parse(original);
    const was = this.#codec.stringify(seen);
    const made = edit(seen);
    if (typeof Reflect.get(Object(made), "then") === "function")
      throw new TypeError("The function must return the edited item, not a promise of it.");
    return withEdits(original, was, this.#codec.stringify(made));
  }
}
