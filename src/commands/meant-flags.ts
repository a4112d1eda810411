// Guesses which flags were meant, if a command got more words than it takes: somebody has left out the dashes of a flag,
// or the quotation marks around its value.

import { commonShapes, type FlagShape, type LooseWords } from "../terminal/flags.ts";
import { asWord } from "../terminal/program-name.ts";

/**
 * The flags that these words mean, if somebody has left out the dashes: `columns Name` means `--columns Name`. Undefined
 * if a word is neither the name of a flag nor the value of one.
 */
export function flagsWithoutDashes(words: readonly string[], shapes: readonly FlagShape[]): string | undefined {
  const meant: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at]?.toLowerCase();
    const shape = shapes.find(({ name }) => name === word) ?? commonShapes.find(({ name }) => name === word);
    if (!shape) return undefined;
    meant.push(`--${shape.name}`);
    if (shape.placeholder !== "") meant.push(words[++at] ?? shape.placeholder);
  }
  return meant.length === 0 ? undefined : meant.join(" ");
}

/** The flag as it was probably meant. */
export function withQuotes({ shape, value, words }: LooseWords): string {
  const all = [value, ...words];
  if (shape.placeholder.includes("=")) return `--${shape.name} ${asWord(asSetting(all))}`;
  const isList = shape.placeholder === "FIELDS";
  return `--${shape.name} ${isList ? all.join(" ").split(/[ ,]+/).join(",") : asWord(all.join(" "))}`;
}

/** The name of a field, then a sign or only a blank, then the value. */
const setting = /^([^\s=]+?)\s*(:?=|\s)\s*(.*)$/s;

/** The words as `NAME=TEXT` or `NAME:=JSON`: `due tomorrow` means `due=tomorrow`. */
function asSetting(words: readonly string[]): string {
  const [, name = "", sign = "", value = ""] = setting.exec(words.join(" ")) ?? [];
  return `${name}${sign.trim() || "="}${value}`;
}

/**
 * The flags that were probably meant, if a command got `count` arguments but takes only `max`. Undefined if there is
 * another reason for the number of arguments.
 */
export function flagsWithQuotes(loose: readonly LooseWords[], count: number, max: number): string | undefined {
  const [first, second] = loose;
  if (!first) return undefined;
  // If there are no other arguments, the last words are the arguments.
  if (!second && first.words.length === count)
    return withQuotes({ ...first, words: first.words.slice(0, count - max) });
  const wordCount = loose.reduce((sum, { words }) => sum + words.length, 0);
  return first.start === max && wordCount === count - max ? loose.map(withQuotes).join(" ") : undefined;
}
