// Compares two states of an item field by field.

import { scanObject } from "../items/json-text.ts";
import { printable } from "../terminal/text.ts";
import { displayText } from "./fields.ts";

/** One line for each field that differs, for people to read. */
export function describeChanges(before: string, after: string): string[] {
  const [old, current] = [scanObject(before).toMap(), scanObject(after).toMap()];
  return changedFields(before, after).map(
    (name) => `  ${printable(name)}: ${shown(old.get(name))} → ${shown(current.get(name))}`,
  );
}

/** The names of the fields that differ. */
export function changedFields(before: string, after: string): string[] {
  const [old, current] = [scanObject(before).toMap(), scanObject(after).toMap()];
  return [...new Set([...old.keys(), ...current.keys()])].filter((name) => old.get(name) !== current.get(name));
}

function shown(value: string | undefined): string {
  if (value === undefined) return "(no field)";
  return ["true", "false", "null"].includes(value) ? value : printable(displayText(value)) || '""';
}
