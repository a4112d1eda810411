// The description of a command: its name, its arguments and its flags. The parser, the help texts and the manual page
// all use this description.

import { type Environment, variableOf } from "../../terminal/environment.ts";
import { type FlagShape, parseFlags } from "../../terminal/flags.ts";
import { asTyped } from "../../terminal/program-name.ts";
import { closest } from "../../terminal/suggestion.ts";
import { UsageError } from "./errors.ts";

export interface Flag extends FlagShape {
  readonly meaning: string;
}

type AllCommands = () => Promise<readonly Command[]>;

export interface Command {
  readonly name: string;
  /**
   * The arguments as the help text shows them: `FILE`, `[FILE]` if it may be left out, `ID…` if there may be several,
   * `on|off` for one of these words. The value of a flag is shown, and checked, in the same way.
   */
  readonly parameters: string;
  readonly summary: string;
  readonly flags: readonly Flag[];
  /** Shown below the flags in the help text. */
  readonly notes?: string;
  /** Shown below the notes, with the name of the program before it. `test/commands/smoke.test.ts` runs it. */
  readonly example: string;
  /** Resolves to the exit code. `commands` loads all commands, for the help. */
  readonly run: (args: readonly string[], environment: Environment, commands: AllCommands) => Promise<number>;
}

export interface Arguments {
  readonly positionals: readonly string[];
  /** The value of a flag. If the flag was repeated, the last value. Undefined if the flag was not given. */
  text(flag: string): string | undefined;
  /** The value of a flag, or of its environment variable. An empty variable counts as not set. */
  setting(flag: string): string | undefined;
  /** All values of a flag that may be repeated. */
  texts(flag: string): readonly string[];
  has(flag: string): boolean;
}

/** Makes a command from its description and a function that takes parsed arguments. Without a number, it returns 0. */
export function defineCommand(
  description: Omit<Command, "run">,
  run: (args: Arguments, environment: Environment, commands: AllCommands) => Promise<number | undefined>,
): Command {
  return {
    ...description,
    run: async (args, environment, commands) =>
      (await run(parseArguments(description, args, environment), environment, commands)) ?? 0,
  };
}

function parseArguments(
  { flags, parameters }: Omit<Command, "run">,
  args: readonly string[],
  environment: Environment,
): Arguments {
  const { values, positionals, problems } = parseFlags(flags, args, parameters !== "");
  const texts = (flag: string) => values.get(flag) ?? [];
  const wrong = flags.flatMap(({ name, placeholder }) =>
    texts(name).flatMap((value) => {
      if (placeholder === "" && value !== "on") return [`--${name}: takes no value`];
      return wrongChoice(placeholder, value).map((problem) => `--${name} ${problem}`);
    }),
  );
  const all = [...problems, ...wrong, ...wrongPositionals(parameters, positionals)];
  if (all.length > 0) throw new UsageError(all.join("\n"));
  const text = (flag: string) => texts(flag).at(-1);
  const setting = (flag: string) => text(flag) ?? (environment[variableOf(flag)] || undefined);
  return { positionals, texts, text, setting, has: (flag) => values.has(flag) };
}

function wrongPositionals(parameters: string, positionals: readonly string[]): string[] {
  const names = parameters.split(" ").filter((name) => name !== "");
  const missing = names.slice(positionals.length).filter((name) => !name.startsWith("["));
  if (missing.length > 0) return [`Missing argument: ${missing.join(" ")}`];
  const unexpected = parameters.includes("…") ? undefined : positionals[names.length];
  if (unexpected !== undefined) return [`Unexpected argument: ${unexpected}`];
  return positionals.flatMap((value, index) => wrongChoice(names[index], value));
}

function wrongChoice(shape = "", value: string): string[] {
  const choices = shape.split("|");
  return choices.length < 2 || choices.includes(value) ? [] : [`${value}: expected one of ${choices.join(", ")}`];
}

/** The message for a word that is not a command. */
export function unknownCommand(name: string, commandNames: readonly string[]): string {
  const meant = closest(name, commandNames);
  const advice = meant === undefined ? `For a list of commands: ${asTyped("help")}` : `Did you mean ${asTyped(meant)}?`;
  return `There is no command ${name}. ${advice}`;
}
