// Compares two states of an item field by field, and combines the changes of two people.

import { scanObject } from "../items/json-text.ts";
import { displayText } from "./fields.ts";
import { printable } from "./terminal.ts";

/** One line for each field that differs, for people to read. */
export function describeChanges(before: string, after: string): string[] {
  const [old, current] = [scanObject(before).toMap(), scanObject(after).toMap()];
  const names = [...new Set([...old.keys(), ...current.keys()])].filter((name) => old.get(name) !== current.get(name));
  return names.map((name) => `  ${printable(name)}: ${shown(old.get(name))} → ${shown(current.get(name))}`);
}

function shown(value: string | undefined): string {
  if (value === undefined) return "(no field)";
  return ["true", "false", "null"].includes(value) ? value : printable(displayText(value)) || '""';
}

/**
 * Their state of the item with my changes in it. `base` is the state that both started from. If both changed a field,
 * my value counts.
 */
export function combineChanges(base: string, mine: string, theirs: string): string {
  const [old, my, their] = [scanObject(base).toMap(), scanObject(mine).toMap(), scanObject(theirs).toMap()];
  const fields = [...new Set([...my.keys(), ...their.keys()])].flatMap((name) => {
    const value = my.get(name) === old.get(name) ? their.get(name) : my.get(name);
    return value === undefined ? [] : [`${JSON.stringify(name)}:${value}`];
  });
  return `{${fields.join(",")}}`;
}
