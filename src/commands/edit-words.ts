// Advice for people who give `edit` more words than the ID, such as `Price=3` or a new name.

import { asWord } from "../terminal/program-name.ts";
import { isDoneField, isNameField, splitField, yesAndNo } from "./fields.ts";
import { mayBeId } from "./find-item.ts";
import { asTypedHere } from "./typed-here.ts";

/** True if these words are further IDs. A word such as `cafe` may also be a name, but not if fields are set with flags. */
export function areIds(words: readonly string[], setsFields: boolean): boolean {
  return words.length > 0 && words.every((word) => mayBeId(word) && (setsFields || /\d/.test(word)));
}

/** How to write what these words mean. A word without `=` belongs to the field before it. */
export function adviceForWords(id: string, words: readonly string[]): string {
  const starts = words.flatMap((word, index) => (splitField(word) ? [index] : []));
  if (starts[0] !== 0) return nameAdvice(words.join(" "));
  return starts.map((start, index) => fieldAdvice(id, words.slice(start, starts[index + 1]).join(" "))).join(". ");
}

function nameAdvice(name: string): string {
  return `To change the item's name, use --name ${asWord(name)}`;
}

function fieldAdvice(id: string, words: string): string {
  const { name, value } = splitField(words) ?? { name: "", value: "" };
  if (isNameField(name)) return nameAdvice(value);
  if (name.toLowerCase() === "notes") return `To change the item's notes, use --notes ${asWord(value)}`;
  const mark = isDoneField(name) ? yesAndNo.get(value.toLowerCase()) : undefined;
  if (mark === "true") return `To mark the item as done, use: ${asTypedHere(`done ${id}`)}`;
  if (mark === "false") return `To mark the item as not done, use: ${asTypedHere(`done ${id} --undo`)}`;
  return `To set a field, use --field ${asWord(words)}`;
}
