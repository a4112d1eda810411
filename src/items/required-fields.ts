// Fields that an item must have because the operator requires them. The original service requires `Name` and `Notes`.

import { ItemError } from "./item-error.ts";
import { type ObjectText, stringOf } from "./object-text.ts";

/** Throws if one of these fields is missing, null or blank. Names are compared without regard to letter case. */
export function checkRequiredFields(object: ObjectText, required: readonly string[]): void {
  if (required.length === 0) return;
  // If a name repeats, also in another letter case, its last value counts.
  const values = new Map(object.entries().map(([name, value]) => [name.toLowerCase(), value]));
  const missing = required.filter((name) => isBlank(values.get(name.toLowerCase())));
  if (missing.length === 0) return;
  const names = missing.map((name) => JSON.stringify(name)).join(", ");
  throw new ItemError(
    "FieldRequired",
    `The item lacks ${names}: send ${missing.length === 1 ? "this field" : "these fields"} with a value that is not blank.`,
  );
}

function isBlank(json: string | undefined): boolean {
  return json === undefined || json === "null" || stringOf(json)?.trim() === "";
}
