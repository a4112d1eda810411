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
import { problemText } from "./page-status.ts";
import type { NewEntry } from "./pasted-lines.ts";

export interface Notice {
  readonly kind: "done" | "problem";
  readonly text: string;
  readonly action?: { readonly label: string; readonly run: () => void };
  /** The items that this message says are deleted. */
  readonly removed?: readonly ShownItem[];
}

/** Replaces the message that is shown, if there is one. */
export type Notify = (next: (shown: Notice | undefined) => Notice | undefined) => void;

export class ItemActions {
  readonly #list: OfflineList<string>;
  readonly #fieldNames: FieldNames;
  readonly #notify: Notify;

  constructor(list: OfflineList<string>, fieldNames: FieldNames, notify: Notify) {
    this.#list = list;
    this.#fieldNames = fieldNames;
    this.#notify = notify;
  }

  /** Returns the ID of the last new item. Undefined if it could not be added. */
  async add(entries: readonly NewEntry[]): Promise<string | undefined> {
    const like = this.#list.getSnapshot().items.at(-1)?.item;
    let id: string | undefined;
    await this.attempt(async () => {
      for (const entry of entries) id = await this.#list.add(newItem(entry, like, this.#fieldNames));
    });
    return id;
  }

  async setDone({ id, view }: ShownItem, done: boolean): Promise<void> {
    const mark = (isDone: boolean) =>
      this.attempt(() =>
        this.#list.change(id, (json) => withKnownFields(json, { done: isDone }, missingNames(scanObject(json)))),
      );
    if (!(await mark(done)) || !done) return;
    const text = `${quoted(view.name)} is done`;
    this.#notify(() => ({ kind: "done", text, action: { label: "Undo", run: () => void mark(false) } }));
  }

  /** Saves what the user has typed. If somebody has deleted the item, creates it again from `seen`, its last text. */
  save(id: string, edits: FormEdits, seen: string): Promise<boolean> {
    const isThere = this.#list.getSnapshot().items.some((item) => item.id === id);
    return this.attempt(() =>
      isThere ? this.#list.change(id, (json) => edited(json, edits)) : this.#list.add(edited(seen, edits)),
    );
  }

  async remove(...items: readonly ShownItem[]): Promise<void> {
    const removed: ShownItem[] = [];
    await this.attempt(async () => {
      for (const item of items) {
        await this.#list.remove(item.id);
        removed.push(item);
      }
    });
    // Undo brings back everything that was deleted since the message appeared.
    if (removed.length > 0) this.#notify((shown) => this.#removal([...(shown?.removed ?? []), ...removed]));
  }

  /** Shows a message if an action fails. Returns whether it succeeded. */
  async attempt(action: () => Promise<unknown>): Promise<boolean> {
    try {
      await action();
      return true;
    } catch (error) {
      this.#notify(() => ({ kind: "problem", text: problemText(error) }));
      return false;
    }
  }

  #removal(removed: readonly ShownItem[]): Notice {
    const [first] = removed;
    const what =
      first && removed.length === 1 ? quoted(first.view.name) : `${removed.length.toLocaleString("en")} items`;
    const run = () =>
      void this.attempt(async () => {
        for (const { json } of removed) await this.#list.add(json);
      });
    return { kind: "done", text: `Deleted ${what}`, action: { label: "Undo", run }, removed };
  }
}

function edited(json: string, edits: FormEdits): string {
  const result = withFormEdits(json, edits);
  if ("problem" in result) throw new TypeError(`${result.name}: ${result.problem}`);
  return result.json;
}
