// Combines the changes that two people made to one item, field by field. The letter case of top-level names does not
// matter, because services may change it.

import { scanObject } from "./json-text.ts";
import { isIdName } from "./todo-item.ts";

export interface FieldMerge {
  /** The other person's state of the item, with my changes made to it. If we both changed a field, my value is used. */
  readonly json: string;
  /** The fields that both people changed, to different values. */
  readonly conflicts: readonly string[];
  /** True if the other person's state already has all my changes. */
  readonly isDone: boolean;
}

/** Merges two changed states of an item, `mine` and `theirs`. `base` is the state that both people started from. */
export function mergeFields(base: string, mine: string, theirs: string): FieldMerge {
  const theirObject = scanObject(theirs);
  const items = [scanObject(base).toMap(), scanObject(mine).toMap(), theirObject.toMap()];
  // If an item has two names that differ only in letter case, they are two fields.
  const isLower = items.every((item) => new Set([...item.keys()].map((name) => name.toLowerCase())).size === item.size);
  const keyOf = (name: string) => (isLower ? name.toLowerCase() : name);
  const [old, my, their] = items.map((item) => new Map(Array.from(item, ([name, value]) => [keyOf(name), value])));
  const [, mineFields = [], theirFields = []] = items;
  const names = new Map([...theirFields, ...mineFields, ...theirFields].map(([name]) => [keyOf(name), name]));
  const isMine = (key: string) => !isIdName(key) && my?.get(key) !== old?.get(key);
  const unmet = [...names].filter(([key]) => isMine(key) && my?.get(key) !== their?.get(key));
  // The fields keep the order, the names and the repetitions that the other person's state has. If a name repeats, its
  // last value counts. Those that I have added come last.
  const last = new Map(theirObject.members.map((member) => [keyOf(theirObject.name(member)), member]));
  const kept = theirObject.members.flatMap((member) => {
    const key = keyOf(theirObject.name(member));
    if (isMine(key) && !my?.has(key)) return [];
    const value = isMine(key) && last.get(key) === member ? my?.get(key) : theirObject.value(member);
    return `${theirObject.nameLiteral(member)}:${value}`;
  });
  const added = unmet.filter(([key]) => my?.has(key) && !their?.has(key));
  const fields = [...kept, ...added.map(([key, name]) => `${JSON.stringify(name)}:${my?.get(key)}`)];
  const conflicts = unmet.filter(([key]) => their?.get(key) !== old?.get(key)).map(([, name]) => name);
  return { json: `{${fields}}`, conflicts, isDone: unmet.length === 0 };
}

/** Whether two states of an item have the same fields with exactly the same values, in any order. */
export function sameFields(one: string, other: string): boolean {
  return mergeFields(one, other, one).isDone;
}
