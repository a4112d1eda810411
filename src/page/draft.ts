// What the user has typed into the editor of an item: a name and notes in a form, or the whole item as JSON. This
// module also checks what was typed before it is saved.

import { idOf } from "../client/item-text.ts";
import { compacted, readFields, withFields } from "./item-fields.ts";
import type { ShownItem } from "./overlay.ts";

export interface Draft {
  /** The version of the item that the user started to edit. */
  readonly base: ShownItem;
  /**
   * The text of the item, without what the user has typed into the form. `filledIn` puts the form's name and notes into
   * it.
   */
  readonly json: string;
  readonly name: string;
  readonly notes: string;
  /** The text in the JSON view; undefined if the form is shown instead. */
  readonly text: string | undefined;
}

type Checked = { readonly json: string } | { readonly problem: string };

/** Returns the item as the form changes it, whether it can be saved or not. */
export function filledIn({ json, name, notes }: Draft): string {
  const fields = readFields(json);
  return withFields(json, {
    ...(name === fields.name ? {} : { name }),
    ...(notes === fields.notes ? {} : { notes }),
  });
}

/** Returns the item to save, or a message that says why the draft cannot be saved. */
export function checkedDraft(draft: Draft): Checked {
  const { base, name, text } = draft;
  if (text !== undefined) return checkedJson(text, base.id);
  return name.trim() === "" && base.fields.name.trim() !== ""
    ? { problem: "The item needs a name. To remove the item, delete it." }
    : { json: filledIn(draft) };
}

function checkedJson(text: string, id: string): Checked {
  const result = compacted(text);
  if ("problem" in result) return result;
  if (idOf(result.json)?.toLowerCase() === id) return result;
  return { problem: `The ID says which item this is and cannot be changed: it must stay ${id}.` };
}
