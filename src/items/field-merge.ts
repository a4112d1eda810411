// Combines the changes that two people made to one item, field by field.

import { scanObject } from "./json-text.ts";

export interface FieldMerge {
  /** The other person's state of the item, with my changes made to it. If we both changed a field, my value is used. */
  readonly json: string;
  /** The fields that both people changed, to different values. */
  readonly conflicts: readonly string[];
}

/** Merges two changed states of an item, `mine` and `theirs`. `base` is the state that both people started from. */
export function mergeFields(base: string, mine: string, theirs: string): FieldMerge {
  const [old, my, their] = [scanObject(base).toMap(), scanObject(mine).toMap(), scanObject(theirs).toMap()];
  const names = [...new Set([...my.keys(), ...their.keys()])];
  const isMine = (name: string) => my.get(name) !== old.get(name);
  const fields = names.flatMap((name) => {
    const value = isMine(name) ? my.get(name) : their.get(name);
    return value === undefined ? [] : [`${JSON.stringify(name)}:${value}`];
  });
  const conflicts = names.filter(
    (name) => isMine(name) && their.get(name) !== old.get(name) && my.get(name) !== their.get(name),
  );
  return { json: `{${fields.join(",")}}`, conflicts };
}
