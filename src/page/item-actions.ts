// What the user does to items. Every action goes to the offline list, which shows it at once and sends it when it can.
// A message says what can be undone.

import type { OfflineList } from "../client/offline.ts";
import type { FieldNames } from "../items/field-names.ts";
import { scanObject } from "../items/json-text.ts";
import { withKnownFields } from "../items/known-fields.ts";
import { type FormEdits, withFormEdits } from "./item-form.ts";
import { quoted } from "./item-view.ts";
import type { ShownItem } from "./list-view.ts";
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
  readonly removed?: readonly ShownItem[];
}

/** Replaces the message that is shown, if there is one. */
export type Notify = (next: (shown: Notice | undefined) => Notice | undefined) => void;

export class ItemActions {
  readonly #list: OfflineList<string>;
  readonly #fieldNames: FieldNames;
  readonly #notify: Notify;
  /** Takes back what the user has done last, if that is a deletion or a tick. */
  #takeBack: (() => void) | undefined;

  constructor(list: OfflineList<string>, fieldNames: FieldNames, notify: Notify) {
    this.#list = list;
    this.#fieldNames = fieldNames;
    this.#notify = notify;
  }

  /** Returns the ID of the last new item. Undefined if it could not be added. */
  async add(entries: readonly NewEntry[]): Promise<string | undefined> {
    const like = this.#list.getSnapshot().items.at(-1)?.item;
    const ids = await this.#all(entries, (entry) => this.#list.add(newItem(entry, like, this.#fieldNames)));
    return ids.at(-1)?.result;
  }

  async setDone({ id, view }: ShownItem, done: boolean): Promise<void> {
    const mark = (isDone: boolean) =>
      this.attempt(() =>
        this.#list.change(id, (json) => withKnownFields(json, { done: isDone }, missingNames(scanObject(json)))),
      );
    if (!(await mark(done)) || !done) return;
    const text = `${quoted(view.name)} is done`;
    this.#notify(() => ({ kind: "done", id, text, action: this.#undoing(() => void mark(false)) }));
  }

  /** Saves what the user has typed. If somebody has deleted the item, creates it again from `seen`, its last text. */
  save(id: string, edits: FormEdits, seen: string): Promise<boolean> {
    const isThere = this.#list.getSnapshot().items.some((item) => item.id === id);
    this.edits(id);
    return this.attempt(() =>
      isThere ? this.#list.change(id, (json) => edited(json, edits)) : this.#list.add(edited(seen, edits)),
    );
  }

  /** The user edits this item: what a message says about it is no longer true, or no longer of interest. */
  edits(id: string): void {
    this.#notify((shown) => (shown?.id === id ? undefined : shown));
  }

  async remove(...items: readonly ShownItem[]): Promise<void> {
    const removed = (await this.#all(items, ({ id }) => this.#list.remove(id))).map(({ of }) => of);
    // Undo brings back everything that was deleted since the message appeared.
    if (removed.length > 0) this.#notify((shown) => this.#removal([...(shown?.removed ?? []), ...removed]));
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

  /** Shows a message if an action fails. Returns whether it succeeded. */
  async attempt(action: () => Promise<unknown>): Promise<boolean> {
    this.#takeBack = undefined;
    try {
      await action();
      return true;
    } catch (error) {
      this.#notify(() => ({ kind: "problem", text: problemText(error) }));
      return false;
    }
  }

  /** Does this for all of them at once, because the list then keeps all edits with one write. Returns those that succeeded. */
  async #all<Of, Result>(
    those: readonly Of[],
    action: (one: Of) => Promise<Result>,
  ): Promise<{ readonly of: Of; readonly result: Result }[]> {
    const done: { readonly of: Of; readonly result: Result }[] = [];
    const attempts = those.map(async (of) => done.push({ of, result: await action(of) }));
    await this.attempt(async () => {
      const failed = (await Promise.allSettled(attempts)).find(({ status }) => status === "rejected");
      if (failed?.status === "rejected") throw failed.reason;
    });
    return done;
  }

  #removal(removed: readonly ShownItem[]): Notice {
    const [first] = removed;
    const what =
      first && removed.length === 1 ? quoted(first.view.name) : `${removed.length.toLocaleString("en")} items`;
    const run = () => void this.#all(removed, ({ json }) => this.#list.add(json));
    return { kind: "done", text: `Deleted ${what}`, action: this.#undoing(run), removed };
  }

  #undoing(takeBack: () => void): Action {
    const run = () => {
      this.#takeBack = undefined;
      this.#notify(() => undefined);
      takeBack();
    };
    this.#takeBack = run;
    return { label: "Undo", run };
  }
}

function edited(json: string, edits: FormEdits): string {
  const result = withFormEdits(json, edits);
  if ("problem" in result) throw new TypeError(`${result.name}: ${result.problem}`);
  return result.json;
}
