// Splits a command line into flags and other words. `serve` and every other command use this. Mistakes are collected,
// so that all of them can be shown at once.
// Why: docs/decisions/0007-development-tools.md

import { parseArgs } from "node:util";
import { closest } from "./suggestion.ts";

export interface FlagShape {
  readonly name: string;
  /** A one-letter form of the name. */
  readonly short?: string;
  /** Stands for the flag's value in the help text. Empty for a switch, which needs no value. */
  readonly placeholder: string;
}

export interface ParsedFlags {
  /** The values of each flag that was given, in order. A switch without a value has the value `on`. */
  readonly values: ReadonlyMap<string, readonly string[]>;
  readonly positionals: readonly string[];
  readonly problems: readonly string[];
}

/** `hasArguments`: words that are not flags have a meaning, too. */
export function parseFlags(shapes: readonly FlagShape[], args: readonly string[], hasArguments = false): ParsedFlags {
  const values = new Map<string, string[]>();
  const positionals: string[] = [];
  const problems = new Set<string>();
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
    if (token.kind === "positional" && token.index - 1 !== unknownAt) positionals.push(token.value);
    if (token.kind !== "option") continue;
    const { name, rawName, value, inlineValue } = token;
    const [word = ""] = args.slice(token.index);
    const shape = shapes.find((one) => one.name === name);
    // `-notes` could be read as `-n otes`, and then the item would get the wrong text. So a value that is attached to a
    // one-letter flag is always refused.
    const isAttached = !word.startsWith("--") && word.length > 2;
    if (isAttached || !shape) {
      unknownAt = token.index;
      problems.add(unknownFlag(isAttached ? word : rawName, shapes, hasArguments));
    } else if (shape.placeholder !== "" && (value === undefined || (!inlineValue && isFlag(value, shapes))))
      problems.add(`${rawName}: needs a value, as in ${rawName} ${shape.placeholder}`);
    else values.set(name, [...(values.get(name) ?? []), value ?? "on"]);
  }
  return { values, positionals, problems: [...problems] };
}

/** True if a word is a flag rather than a value. A value may begin with one dash, as in `-5 degrees`. */
function isFlag(word: string, shapes: readonly FlagShape[]): boolean {
  return word.startsWith("--") || shapes.some(({ short }) => short !== undefined && word === `-${short}`);
}

function unknownFlag(word: string, shapes: readonly FlagShape[], hasArguments: boolean): string {
  // Compare the names without their dashes, because the dashes would make short names look alike.
  const meant = closest(word.replace(/^-+/, ""), [...shapes.map(({ name }) => name), "help", "version"]);
  const advice = hasArguments ? "; if it is an argument, put -- before it" : "";
  return `${word}: there is no such flag${meant === undefined ? advice : `; did you mean --${meant}?`}`;
}
