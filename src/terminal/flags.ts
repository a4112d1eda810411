// Splits a command line into flags and other words. `serve` and every other command use this. Mistakes are collected,
// so that all of them can be shown at once.

import { parseArgs } from "node:util";
import { asWord } from "./program-name.ts";
import { closest } from "./suggestion.ts";

/**
 * Text, or a function that returns it, if the text names a command as the user can type it. The function gets the value
 * of the flag, if there is one.
 */
type Advice = string | ((value: string | undefined) => string);

export interface FlagShape {
  readonly name: string;
  /** A one-letter form of the name. */
  readonly short?: string;
  /** Stands for the flag's value in the help text. Empty for a switch, which needs no value. */
  readonly placeholder: string;
  /** True if the flag may be given several times, and all values count. */
  readonly repeats?: boolean;
  /** True if the value becomes part of an item. If it is given twice, one of the two texts would be lost. */
  readonly isContent?: boolean;
  /**
   * Advice for people who try a flag that does not exist. The key is the name of that flag. In the advice, `VALUE`
   * stands for the value that was given.
   */
  readonly triedInstead?: Readonly<Record<string, Advice>>;
}

/** Words that follow the value of a flag, because somebody has left out the quotation marks: `--name Buy soy milk`. */
export interface LooseWords {
  readonly shape: FlagShape;
  readonly value: string;
  readonly words: readonly string[];
  /** Where the words begin among the arguments of the command. */
  readonly start: number;
}

export interface ParsedFlags {
  /** The values of each flag that was given, in order. A switch without a value has the value `on`. */
  readonly values: ReadonlyMap<string, readonly string[]>;
  readonly positionals: readonly string[];
  /** The words among `positionals` that probably belong to the value of a flag, if there are any. */
  readonly loose: readonly LooseWords[];
  readonly problems: readonly string[];
}

export function parseFlags(shapes: readonly FlagShape[], args: readonly string[]): ParsedFlags {
  const values = new Map<string, string[]>();
  const positionals: string[] = [];
  const problems: string[] = [];
  const valuesOfWords: (LooseWords & { readonly words: string[]; readonly end: number })[] = [];
  const options = Object.fromEntries(
    shapes.map(({ name, short, placeholder }) => [
      name,
      { type: placeholder === "" ? "boolean" : "string", ...(short && { short }) } as const,
    ]),
  );
  const { tokens } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true });
  let unknownAt: number | undefined;
  for (const token of tokens) {
    // A word right after an unknown flag is probably the value of that flag, so it is not treated as an argument.
    if (token.kind === "positional" && token.index - 1 !== unknownAt) {
      const before = valuesOfWords.at(-1);
      // A word with a sign, such as `Shop=Aldi`, is a setting of its own. A sign alone belongs to what is before it.
      const isSetting = token.value.includes("=") && !["=", ":="].includes(token.value);
      const isLoose = before && token.index === before.end + before.words.length && !isSetting;
      if (isLoose) before.words.push(token.value);
      positionals.push(token.value);
    }
    if (token.kind !== "option") continue;
    // An argument such as `-5 degrees` is read as many short flags. One message is enough for all of them.
    if (token.index === unknownAt) continue;
    const { name, rawName, value, inlineValue } = token;
    const shape = shapes.find((one) => one.name === name);
    const [word = "", next] = args.slice(token.index);
    const nextValue = next?.startsWith("-") ? undefined : next;
    // `-notes` could be read as `-n otes`, and then the item would get the wrong text. So a value that is attached to a
    // one-letter flag is always refused.
    if (!word.startsWith("--") && word.length > 2) {
      unknownAt = token.index;
      problems.push(oneDash(word, nextValue, shape, shapes));
    } else if (!shape) {
      unknownAt = token.index;
      problems.push(unknownFlag(rawName, name, value ?? nextValue, shapes));
    } else if (shape.placeholder !== "" && (value === undefined || (!inlineValue && isFlag(value, shapes))))
      problems.push(`${rawName}: needs a value, as in ${rawName} ${shape.placeholder}`);
    else {
      values.set(name, [...(values.get(name) ?? []), value ?? "on"]);
      if (value !== undefined && takesWords(shape))
        valuesOfWords.push({
          shape,
          value,
          words: [],
          start: positionals.length,
          end: token.index + (inlineValue ? 1 : 2),
        });
    }
  }
  return { values, positionals, loose: valuesOfWords.filter(({ words }) => words.length > 0), problems };
}

/** True if the value of the flag may be several words. */
function takesWords({ placeholder }: FlagShape): boolean {
  return placeholder.includes("TEXT") || placeholder === "FIELDS";
}

/** True if a word is a flag rather than a value. A value may begin with one dash, as in `-5 degrees`. */
function isFlag(word: string, shapes: readonly FlagShape[]): boolean {
  return word.startsWith("--") || shapes.some(({ short }) => short !== undefined && word === `-${short}`);
}

/**
 * Names the flags that were given several times with different values, if each of these values may be wanted: texts for
 * an item, and lists. Of any other flag, the last one counts, so that it can override a flag in an alias or a script.
 */
export function contradictions(
  shapes: readonly FlagShape[],
  values: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  return shapes.flatMap(({ name, placeholder, repeats = false, isContent = false }) => {
    const given = values.get(name) ?? [];
    const takesList = placeholder.includes("[,");
    if (repeats || !(isContent || takesList) || new Set(given).size < 2) return [];
    const [times, rest] = given.length === 2 ? ["twice", "one of the two"] : [`${given.length} times`, "all but one"];
    const advice = takesList
      ? `Give it once, with commas between the values: --${name} ${given.join(",")}`
      : `Leave out ${rest}`;
    return [`--${name}: given ${times}, with different values. ${advice}`];
  });
}

const noSuchFlag = "there is no such flag";
const argumentAdvice = "if it is an argument, put -- before it";

/** Flags that every command has. */
const commonFlags = ["help", "version"];
export const commonShapes = commonFlags.map((name): FlagShape => ({ name, placeholder: "" }));

/**
 * The message for a word with one dash and several letters. `short` is the flag with the first of these letters, if
 * there is one.
 */
function oneDash(
  word: string,
  next: string | undefined,
  short: FlagShape | undefined,
  shapes: readonly FlagShape[],
): string {
  const [, typedName = "", value] = /^-([^=]*)(?:=(.*))?$/s.exec(word) ?? [];
  const names = namesOf(shapes);
  const isLetterOfFlag = short !== undefined && typedName.length === 1;
  const instead = isLetterOfFlag ? undefined : (adviceFor(typedName, value ?? next, shapes) ?? guess(typedName, names));
  if (instead !== undefined) return `-${typedName}: ${noSuchFlag}; ${instead}`;
  const meant = names.find((name) => name.length > 2 && typedName.startsWith(name));
  if (meant !== undefined) return `-${typedName}: ${noSuchFlag}; did you mean --${meant}?`;
  if (!short) return `${word}: ${noSuchFlag}; ${argumentAdvice}`;
  const [letter, rest] = [word.slice(0, 2), word.slice(2).replace(/^=/, "")];
  return `${word}: put a blank between the flag and its value: ${letter} ${asWord(rest)}`;
}

/** The advice that `triedInstead` has for this flag. Undefined if there is none. */
function adviceFor(typedName: string, value: string | undefined, shapes: readonly FlagShape[]): string | undefined {
  const tried = shapes.flatMap(({ triedInstead = {} }) => Object.entries(triedInstead));
  const [, advice] = tried.find(([flag]) => flag === typedName) ?? [];
  const instead = typeof advice === "function" ? advice(value) : advice;
  return instead?.replace("VALUE", () => (value === undefined ? "VALUE" : asWord(value)));
}

/** Asks whether one of these flags was meant. Undefined if none of them resembles the typed name. */
function guess(typedName: string, names: readonly string[]): string | undefined {
  // Compare the names without their dashes, because the dashes would make short names look alike.
  const meant = closest(typedName, names);
  return meant === undefined ? undefined : `did you mean --${meant}?`;
}

function namesOf(shapes: readonly FlagShape[]): string[] {
  return [...shapes.map(({ name }) => name), ...commonFlags];
}

function unknownFlag(
  rawName: string,
  typedName: string,
  value: string | undefined,
  shapes: readonly FlagShape[],
): string {
  const instead = adviceFor(typedName, value, shapes) ?? guess(typedName, namesOf(shapes));
  if (instead !== undefined) return `${rawName}: ${noSuchFlag}; ${instead}`;
  const isNumber = !Number.isNaN(Number(rawName));
  if (isNumber) return `${rawName}: ${noSuchFlag}; ${argumentAdvice}`;
  // People try flags such as --done or --price, but the fields of an item have no flags of their own. So the message
  // names --field, if the command has that flag.
  const field = shapes.find(({ name }) => name === "field");
  const advice =
    field && rawName.startsWith("--") ? `; to set a field, use --field ${field.placeholder}; ${argumentAdvice}` : "";
  return `${rawName}: ${noSuchFlag}${advice}`;
}
