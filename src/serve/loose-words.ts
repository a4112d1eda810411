// Words that follow the value of a flag, because somebody has left out the quotation marks: `--name Buy soy milk`.

import { asWord } from "../program-name.ts";

interface FlagShape {
  readonly name: string;
  readonly placeholder: string;
}

/** The words after the value of one flag. */
export interface LooseWords {
  readonly shape: FlagShape;
  readonly value: string;
  readonly words: readonly string[];
  /** Where the words begin among the arguments of the command. */
  readonly start: number;
}

/** True if the value of the flag may be several words. */
export function takesWords({ placeholder }: FlagShape): boolean {
  return placeholder.includes("TEXT") || placeholder === "FIELDS";
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
