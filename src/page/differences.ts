// Compares the versions of an item field by field, for a person who must choose between them.

import { scanObject } from "../items/json-text.ts";
import { isIdName } from "../items/todo-item.ts";
import { labelOf, valueText } from "./item-view.ts";

export interface Difference {
  readonly label: string;
  /** The value in each version, as text; undefined if that version lacks the field. */
  readonly values: readonly (string | undefined)[];
}

/** The fields in which the last two versions differ. */
export function differences(versions: readonly string[]): Difference[] {
  const fields = versions.map((json) => scanObject(json).toMap());
  const [one, other] = fields.slice(-2);
  return [...new Set(fields.flatMap((version) => [...version.keys()]))]
    .filter((name) => !isIdName(name) && one?.get(name) !== other?.get(name))
    .map((name) => ({
      label: labelOf(name),
      values: fields.map((version) => (version.has(name) ? valueText(version.get(name)) : undefined)),
    }));
}
