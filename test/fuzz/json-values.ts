// Random JSON text, compact, with everything that a careless server would change: long numbers, escapes, odd names.

import type { Random } from "../wire/random.ts";

const numbers = ["0", "-0", "1.0", "1.50", "12345678901234567890", "1e400", "-1E-7", "0.1", "9007199254740993"];
const characters = [
  "a",
  "Z",
  " ",
  "é",
  "漢",
  "😀",
  '\\"',
  "\\\\",
  "\\/",
  "\\n",
  "\\u0000",
  "\\ud800",
  "\\udc00",
  "\\u00e9",
  "<",
  "</script>",
  "\u2028",
  "\u007f",
  "%00",
  "'",
  "--",
  "{",
  "]",
  ",",
];
const names = [
  "Name",
  "name",
  "Notes",
  "Done",
  "__proto__",
  "constructor",
  "toString",
  "",
  "ids",
  "I",
  "идентификатор",
  "a.b",
  "$x",
  "hasOwnProperty",
  "\\u0049",
  "x y",
  "ID2",
];

function jsonString(random: Random): string {
  return `"${Array.from({ length: random.below(8) }, () => random.pick(characters)).join("")}"`;
}

export function jsonValue(random: Random, depth = 0): string {
  const way = random.below(depth > 4 ? 4 : 6);
  if (way === 0) return random.pick(["true", "false", "null"]);
  if (way === 1) return random.pick(numbers);
  if (way < 4) return jsonString(random);
  const values = Array.from({ length: random.below(4) }, () => jsonValue(random, depth + 1));
  if (way === 4) return `[${values.join(",")}]`;
  return `{${values.map((value) => `${jsonString(random)}:${value}`).join(",")}}`;
}

/** Members of an object, without an ID. Their names differ as text, but `I` and `\u0049` are the same name. */
export function jsonMembers(random: Random): string[] {
  const chosen = new Set(Array.from({ length: random.below(5) }, () => random.pick(names)));
  return [...chosen].map((name) => `"${name}":${jsonValue(random)}`);
}
