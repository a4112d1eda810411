// What an offline list shows: its items with the edits on top, the edits that wait, and its status. Objects stay the same
// until something about them changes, so that user interfaces can compare them with `===`.

import type { ItemCodec } from "./codecs.ts";
import { firstStatus, type ItemState, type ListStatus, unchanged } from "./live-list.ts";
import { type Edit, type EditProblem, type Outbox, overlaid } from "./outbox.ts";

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
  /**
   * `waiting`: it is sent as soon as possible. `sending`: it is being sent. `conflict`: call `resolve`. `refused`: change
   * the item again, or call `discard`. `held`: another store answers than the edit was made for; call `sendAnyway` or
   * `discard`.
   */
  readonly state: "waiting" | "sending" | "conflict" | "refused" | "held";
  readonly problem: EditProblem | undefined;
  readonly conflict: Conflict<Item> | undefined;
}

export interface OfflineStatus extends ListStatus {
  /** True if edits and the list survive a restart of the app, because this instance keeps them on the device. */
  readonly kept: boolean;
  /** Why something could not be read from or written to the device. */
  readonly storageError: unknown;
}

export interface OfflineSnapshot<Item> {
  readonly items: readonly OfflineItem<Item>[];
  readonly pending: readonly PendingEdit<Item>[];
  readonly status: OfflineStatus;
}

interface Shown<Item> {
  readonly text: string;
  readonly entry: OfflineItem<Item>;
}

export const emptySnapshot: OfflineSnapshot<never> = {
  items: [],
  pending: [],
  status: { ...firstStatus, kept: false, storageError: undefined },
};

export class OfflineView<Item> {
  readonly #codec: ItemCodec<Item>;
  #shown = new Map<string, Shown<Item>>();
  #pendings = new Map<Edit, PendingEdit<Item>>();
  #snapshot: OfflineSnapshot<Item> = emptySnapshot;
  /** Brings the snapshot up to date, if something may have changed since it was made. */
  #renew: (() => OfflineSnapshot<Item>) | undefined;
  /** What the items of the snapshot are made of. */
  #drawn: { readonly items: ReadonlyMap<string, ItemState>; readonly outbox: Outbox } | undefined;

  constructor(codec: ItemCodec<Item>) {
    this.#codec = codec;
  }

  /** The same object until something changes. It is made when somebody asks: many edits in a row need only one. */
  get snapshot(): OfflineSnapshot<Item> {
    this.#snapshot = this.#renew?.() ?? this.#snapshot;
    this.#renew = undefined;
    return this.#snapshot;
  }

  update(
    items: ReadonlyMap<string, ItemState>,
    outbox: Outbox,
    status: OfflineStatus,
    stateOf: (edit: Edit) => "waiting" | "sending" | "held",
  ): void {
    this.#renew = () => {
      const before = this.#snapshot;
      return unchanged(before, {
        items: unchanged(before.items, this.#items(items, outbox)),
        pending: unchanged(before.pending, this.#pending(outbox, stateOf)),
        status: unchanged(before.status, status),
      });
    };
  }

  conflictOf({ id, base, mine, theirs }: Edit): Conflict<Item> {
    const [seen, wanted, other] = [base, mine, theirs?.json].map((json) =>
      json === undefined ? undefined : this.#codec.parse(json),
    );
    return { id, base: seen, mine: wanted, theirs: other };
  }

  #items(items: ReadonlyMap<string, ItemState>, outbox: Outbox): readonly OfflineItem<Item>[] {
    if (this.#drawn?.items === items && this.#drawn.outbox === outbox) return this.#snapshot.items;
    this.#drawn = { items, outbox };
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

  #pending(outbox: Outbox, stateOf: (edit: Edit) => "waiting" | "sending" | "held"): PendingEdit<Item>[] {
    const pendings = outbox.map((edit) => {
      const { id, kind, problem, theirs } = edit;
      const state = theirs ? "conflict" : problem ? "refused" : stateOf(edit);
      const before = this.#pendings.get(edit);
      if (before?.state === state) return [edit, before] as const;
      return [edit, { id, kind, state, problem, conflict: theirs && this.conflictOf(edit) }] as const;
    });
    this.#pendings = new Map(pendings);
    return pendings.map(([, pending]) => pending);
  }
}
