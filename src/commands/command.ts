// What a command is: its name, its arguments and its flags, described once. The parser, the help and the shell
// completions all use this description.

import { parseArgs } from "node:util";
import type { Environment } from "../serve/environment.ts";

export interface Flag {
  readonly name: string;
  /** A one-letter form of the name. */
  readonly short?: string;
  /** What follows the flag in the help; empty for a switch. */
  readonly placeholder: string;
  readonly meaning: string;
  /** All valid values, for a flag that has only a few. */
  readonly choices?: readonly string[];
  readonly repeats?: boolean;
}

export interface Command {
  readonly name: string;
  /** What follows the name in the help. */
  readonly parameters: string;
  readonly summary: string;
  readonly flags: readonly Flag[];
  /** Shown in the help below the flags. */
  readonly notes?: string;
  /** Resolves to the exit code. */
  readonly run: (args: readonly string[], environment: Environment) => Promise<number>;
}

/** The command was typed wrongly. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** What was typed after the command's name. */
export interface Arguments {
  readonly positionals: readonly string[];
  /** The value of a flag, if it was given. */
  text(flag: string): string | undefined;
  /** The values of a flag that repeats. */
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

/** The positional arguments, of which there must be at least `min` and at most `max`; `what` names one of them. */
export function positionalsOf({ positionals }: Arguments, min: number, max: number, what: string): readonly string[] {
  if (positionals.length < min) throw new UsageError(`Which ${what}?`);
  if (positionals.length > max) throw new UsageError(`${positionals[max]}: one ${what} too many.`);
  return positionals;
}
