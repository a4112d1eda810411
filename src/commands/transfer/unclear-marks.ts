// Counts the imported items whose mark for done is neither true nor false, such as "yes". Nothing is rewritten, so such
// an item counts as not done, and the user has to know that.

import { isMark } from "../../items/done-mark.ts";
import { printable, shorten } from "../../terminal/text.ts";
import { displayText, doneFieldOf } from "../fields.ts";
import { countOf } from "../output.ts";
import type { FileItem } from "./item-formats.ts";

const shownColumns = 30;

interface Unclear {
  items: number;
  readonly value: string;
  readonly place: string;
}

export class UnclearMarks {
  /** By field name, with the first value of each field. */
  readonly #fields = new Map<string, Unclear>();

  /** Passes the items on, and counts those with an unclear mark. */
  async *counting(items: AsyncIterable<FileItem>): AsyncGenerator<FileItem> {
    for await (const item of items) {
      const { name, value } = doneFieldOf(item.json);
      const shown = displayText(value);
      if (shown !== "" && !isMark(value)) {
        const unclear = this.#fields.get(name) ?? { items: 0, value: shown, place: item.place };
        unclear.items++;
        this.#fields.set(name, unclear);
      }
      yield item;
    }
  }

  /** One warning for each field. */
  warnings(): string[] {
    return Array.from(
      this.#fields,
      ([name, { items, value, place }]) =>
        `warning: In ${countOf(items)}, the field ${name} has a value such as ${shorten(printable(value), shownColumns)} (${place}), which does not mark an item as done. For that, use true. The items are stored as they are.`,
    );
  }
}
