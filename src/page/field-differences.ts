// Compares two versions of an item field by field, for a person who must choose between them.

import { scanObject } from "../items/json-text.ts";
import { stringOf } from "../items/object-text.ts";

export interface FieldDifference {
  readonly name: string;
  /** The values as text; undefined if that version does not have the field. */
  readonly mine: string | undefined;
  readonly theirs: string | undefined;
}

/**
 * Returns the fields that differ, in the order of the user's version. At the end are the fields that only the other
 * version has.
 */
export function fieldDifferences(mine: string, theirs: string): FieldDifference[] {
  const [own, other] = [scanObject(mine).toMap(), scanObject(theirs).toMap()];
  return [...new Set([...own.keys(), ...other.keys()])]
    .filter((name) => own.get(name) !== other.get(name))
    .map((name) => ({ name, mine: readable(own.get(name)), theirs: readable(other.get(name)) }));
}

function readable(json: string | undefined): string | undefined {
  if (json === "true") return "Yes";
  if (json === "false") return "No";
  return stringOf(json) ?? json;
}
