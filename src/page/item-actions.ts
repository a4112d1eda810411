// What the user does to items. Every action goes to the offline list, which shows it at once and sends it when it can.
// A message says what can be undone.

import type { OfflineItem, OfflineList, PendingEdit } from "../client/offline.ts";
import type { FieldNames } from "../items/field-names.ts";
import { scanObject } from "../items/json-text.ts";
import { withKnownFields } from "../items/known-fields.ts";
import { type FormEdits, withFormEdits } from "./item-form.ts";
import { quoted, viewOf } from "./item-view.ts";
import { missingNames, newItem } from "./new-item.ts";
import { type Action, problemText } from "./page-status.ts";
import type { NewEntry } from "./pasted-lines.ts";

export interface Notice {
  readonly kind: "done" | "problem";
  readonly text: string;
  readonly action?: Action;
  /** The item that this message is about. The message goes when the user edits the item again. */
  readonly id?: string;
  /** The items that this message says are deleted. */
  readonly removed?: readonly OfflineItem<string>[];
  /** Something would be lost with this message: it stays until the user closes it, and the page asks before it is left. */
  readonly isUnfinished?: boolean;
}

/** Replaces the message that is shown, if there is one. Those about something unfinished stay beside it. */
export type Notify = (next: (shown: Notice | undefined) => Notice | undefined) => void;

/** The list looks for each edit that cannot be kept with those beside it, which takes long if they are many. */
const batchMax = 100;

export class ItemActions {
  /** How many actions of all lists in this tab are under way. Their edits are neither kept nor refused yet. */
  static running = 0;
  readonly #list: OfflineList<string>;
  readonly #fieldNames: FieldNames;
  readonly notify: Notify;
  /** Takes back what the user has done last, if that is a deletion or a tick. */
  #takeBack: (() => void) | undefined;
  /** The items of which nothing but the tick waits for the service. */
  readonly #ticked = new Set<string>();

  constructor(list: OfflineList<string>, fieldNames: FieldNames, notify: Notify) {
    this.#list = list;
    this.#fieldNames = fieldNames;
    this.notify = notify;
  }

  /** Returns the ID of the last new item. Undefined if it could not be added. */
  async add(entries: readonly NewEntry[]): Promise<string | undefined> {
    const like = this.#list.getSnapshot().items.at(-1)?.item;
    const one = (entry: NewEntry) => this.#list.add(newItem(entry, like, this.#fieldNames));
    const added = await this.#all(entries, "Added", one, (rest) => void this.add(rest));
    return [...added.values()].at(-1);
  }

  /** Returns whether the tick is kept. If the service refuses it, the item is shown as it is there again. */
  async setDone(item: OfflineItem<string>, done: boolean): Promise<boolean> {
    const { id } = item;
    const name = quoted(viewOf(item).name);
    if (this.#pending(id) === undefined) this.#ticked.add(id);
    const isKept = await this.attempt(() =>
      this.#list.change(id, (json) => withKnownFields(json, { done }, missingNames(scanObject(json)))),
    );
    if (!isKept) return false;
    const undo = () => void this.setDone(item, false);
    if (done) this.notify(() => ({ kind: "done", id, text: `${name} is done`, action: this.#undoing(undo) }));
    const unsubscribe = this.#list.subscribe(() => settle());
    const settle = () => {
      const edit = this.#pending(id);
      if (edit && edit.state !== "refused") return;
      unsubscribe();
      if (!this.#ticked.delete(id) || !edit) return;
      void this.discard(id);
      this.notify(() => ({ kind: "problem", id, text: `${name} was not saved: ${edit.problem?.detail}` }));
    };
    // It may have settled before the list could tell.
    settle();
    return true;
  }

  /** Saves what the user has typed. If somebody has deleted the item, creates it again from `seen`, its last text. */
  save(id: string, edits: FormEdits, seen: string): Promise<boolean> {
    const isThere = this.#list.getSnapshot().items.some((item) => item.id === id);
    this.edits(id);
    this.#ticked.delete(id);
    return this.attempt(() =>
      isThere ? this.#list.change(id, (json) => edited(json, edits)) : this.#list.add(edited(seen, edits)),
    );
  }

  /** The user edits this item: what a message says about it is no longer true, or no longer of interest. */
  edits(id: string): void {
    this.notify((shown) => (shown?.id === id ? undefined : shown));
  }

  async remove(...items: readonly OfflineItem<string>[]): Promise<void> {
    const again = items.length > 1 ? (rest: readonly OfflineItem<string>[]) => void this.remove(...rest) : undefined;
    for (const { id } of items) this.#ticked.delete(id);
    const removed = [...(await this.#all(items, "Deleted", ({ id }) => this.#list.remove(id), again)).keys()];
    // Undo brings back everything that was deleted since the message appeared.
    if (removed.length > 0) this.notify((shown) => this.#removal([...(shown?.removed ?? []), ...removed]));
  }

  resolve(id: string, choice: "mine" | "theirs"): Promise<boolean> {
    return this.attempt(() => this.#list.resolve(id, choice));
  }

  /** Without an ID, discards all edits that the service does not have. */
  discard(id?: string): Promise<boolean> {
    return this.attempt(() => this.#list.discard(id));
  }

  /** Takes back what the user has done last, once, also if its message is gone. Of other edits, nothing is taken back. */
  readonly undo = (): void => this.#takeBack?.();

  /** If the action fails, shows a message, of which `more` is a part. Returns whether it succeeded. */
  async attempt(action: () => Promise<unknown>, more?: (problem: string) => Partial<Notice>): Promise<boolean> {
    this.#takeBack = undefined;
    ItemActions.running++;
    try {
      await action();
      return true;
    } catch (error) {
      const text = problemText(error);
      this.notify(() => ({ kind: "problem", text, ...more?.(text) }));
      return false;
    } finally {
      ItemActions.running--;
    }
  }

  /**
   * Does this for many of them at once, because the list then keeps their edits with one write. Stops when one fails.
   * Returns those that succeeded. The message about the others says how many `did`, and offers to do the rest `again`.
   */
  async #all<Of extends NewEntry | OfflineItem<string>, Result>(
    those: readonly Of[],
    did: string,
    action: (one: Of) => Promise<Result>,
    again?: (rest: readonly Of[]) => void,
  ): Promise<ReadonlyMap<Of, Result>> {
    const done = new Map<Of, Result>();
    await this.attempt(
      async () => {
        for (let start = 0; start < those.length; start += batchMax) {
          const attempts = those.slice(start, start + batchMax).map(async (of) => done.set(of, await action(of)));
          const failed = (await Promise.allSettled(attempts)).find(({ status }) => status === "rejected");
          if (failed?.status === "rejected") throw failed.reason;
        }
      },
      (problem) => {
        const rest = those.filter((one) => !done.has(one));
        const [part, all] = [done.size, those.length].map((count) => count.toLocaleString("en"));
        const [first] = rest;
        const isOne = first && those.length === 1;
        const what = isOne ? `${quoted(nameOf(first))} is not ${did.toLowerCase()}` : `${did} ${part} of ${all}`;
        const text = `${what}. ${problem}`;
        return { text, ...(again && { action: { label: "Try again", run: () => again(rest) }, isUnfinished: true }) };
      },
    );
    return done;
  }

  async #bringBack(items: readonly OfflineItem<string>[]): Promise<void> {
    const again = (rest: readonly OfflineItem<string>[]) => void this.#bringBack(rest);
    await this.#all(items, "Brought back", ({ item }) => this.#list.add(item), again);
  }

  #pending(id: string): PendingEdit<string> | undefined {
    return this.#list.getSnapshot().pending.find((edit) => edit.id === id);
  }

  #removal(removed: readonly OfflineItem<string>[]): Notice {
    const [first] = removed;
    const what =
      first && removed.length === 1 ? quoted(viewOf(first).name) : `${removed.length.toLocaleString("en")} items`;
    const undo = this.#undoing(() => void this.#bringBack(removed));
    return { kind: "done", text: `Deleted ${what}`, action: undo, removed };
  }

  #undoing(takeBack: () => void): Action {
    const run = () => {
      this.#takeBack = undefined;
      this.notify(() => undefined);
      takeBack();
    };
    this.#takeBack = run;
    return { label: "Undo", run };
  }
}

function nameOf(one: NewEntry | OfflineItem<string>): string {
  return "name" in one ? one.name : viewOf(one).name;
}

function edited(json: string, edits: FormEdits): string {
  const result = withFormEdits(json, edits);
  if ("problem" in result) throw new TypeError(`${result.name}: ${result.problem}`);
  return result.json;
}
