// The description of a command: its name, its arguments and its flags. The parser, the help texts and the shell
// completions all use this description.

import { parseArgs } from "node:util";
import type { Environment } from "../serve/environment.ts";

export interface Flag {
  readonly name: string;
  /** A one-letter form of the name. */
  readonly short?: string;
  /** Stands for the flag's value in the help text. Empty for a switch, which takes no value. */
  readonly placeholder: string;
  readonly meaning: string;
  /** All valid values, if there are only a few. */
  readonly choices?: readonly string[];
  readonly repeats?: boolean;
}

export interface Command {
  readonly name: string;
  /** Shown after the name in the help text. */
  readonly parameters: string;
  readonly summary: string;
  readonly flags: readonly Flag[];
  /** Shown below the flags in the help text. */
  readonly notes?: string;
  /** Resolves to the exit code. */
  readonly run: (args: readonly string[], environment: Environment) => Promise<number>;
}

/** Invalid command-line usage. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The parsed arguments of a command. */
export interface Arguments {
  readonly positionals: readonly string[];
  /** The value of a flag, if it was given. */
  text(flag: string): string | undefined;
  /** All values of a flag that may be repeated. */
  texts(flag: string): readonly string[];
  has(flag: string): boolean;
}

function parseArguments(flags: readonly Flag[], args: readonly string[]): Arguments {
  const { values, positionals } = parseStrictly(flags, args);
  const texts = (flag: string) => [values[flag] ?? []].flat().map(String);
  for (const { name, choices } of flags) {
    const wrong = choices && texts(name).find((value) => !choices.includes(value));
    if (wrong !== undefined) throw new UsageError(`--${name} ${wrong}: expected one of ${choices?.join(", ")}.`);
  }
  return { positionals, texts, text: (flag) => texts(flag).at(-1), has: (flag) => values[flag] !== undefined };
}

function parseStrictly(flags: readonly Flag[], args: readonly string[]) {
  const options = Object.fromEntries(
    flags.map(({ name, short, placeholder, repeats = false }) => [
      name,
      { type: placeholder === "" ? "boolean" : "string", multiple: repeats, ...(short && { short }) } as const,
    ]),
  );
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** Makes a command from its description and a function that takes parsed arguments. */
export function defineCommand(
  description: Omit<Command, "run">,
  run: (args: Arguments, environment: Environment) => Promise<number>,
): Command {
  return {
    ...description,
    run: async (args, environment) => run(parseArguments(description.flags, args), environment),
  };
}

/**
 * Checks that there are between `min` and `max` positional arguments, and returns them. `what` names one of them in
 * messages.
 */
export function positionalsOf({ positionals }: Arguments, min: number, max: number, what: string): readonly string[] {
  if (positionals.length < min) throw new UsageError(`Which ${what}?`);
  if (positionals.length > max) throw new UsageError(`${positionals[max]}: one ${what} too many.`);
  return positionals;
}
