// Advice for input that should be a JSON array of items, but is something else.

import { printable } from "../../terminal/text.ts";
import { isJson } from "../fields.ts";

/** `start` is the beginning of the input. */
export function arrayAdvice(start: string): string {
  const expected = "An array of items was expected, as in [{…},{…}].";
  const text = start.replace(/^\uFEFF/, "").trimStart();
  if (text === "" || text.startsWith("[")) return expected;
  return `${expected} ${text.startsWith("{") ? objectAdvice(text) : "If this is CSV, add --format csv."}`;
}

function objectAdvice(text: string): string {
  const [, field] = /"([^"\\]+)"\s*:\s*\[\s*\{/.exec(text) ?? [];
  const [line = "", next = ""] = text.split("\n");
  // An item may have an array of objects as a field. If the first line is a complete object, and another object begins
  // on the next line, each line is an item, and the array is such a field.
  const isLines = isJson(line) && next.startsWith("{");
  if (field !== undefined && !isLines) return `The array is in the field ${printable(field)}. Import that array alone.`;
  if (isJson(line)) return "Each line is an item of its own, so add --format ndjson.";
  return "This is one object. Put [ before it and ] after it.";
}
