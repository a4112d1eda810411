// The description of a command: its name, its arguments and its flags. The parser, the help texts and the shell
// completions all use this description.

import type { Environment } from "../terminal/environment.ts";
import { contradictions, type LooseWords, parseFlags } from "../terminal/flags.ts";
import { closest } from "../terminal/suggestion.ts";
import { givenConnection } from "./connection-flags.ts";
import type { Flag } from "./flag.ts";
import { flagsWithoutDashes, flagsWithQuotes } from "./meant-flags.ts";
import { choiceMeant } from "./other-words.ts";
import { noticeConnection } from "./typed-here.ts";

export interface Command {
  readonly name: string;
  /** The positional arguments as the help text shows them, such as `ID…`. Completions are made from them too. */
  readonly parameters: string;
  readonly summary: string;
  readonly flags: readonly Flag[];
  /** Shown below the flags in the help text. */
  readonly notes?: string;
  /** Shown below the notes, with the name of the program before it. */
  readonly example?: string;
  /** Resolves to the exit code. */
  readonly run: (args: readonly string[], environment: Environment) => Promise<number>;
}

export class UsageError extends Error {
  override readonly name = "UsageError";
}

export interface Arguments {
  /** The flags that the command has, given or not. */
  readonly flags: readonly Flag[];
  readonly positionals: readonly string[];
  /** The words among `positionals` that probably belong to the value of a flag, if there are any. */
  readonly loose: readonly LooseWords[];
  /** The value of a flag. If the flag was repeated, the last value. Undefined if the flag was not given. */
  text(flag: string): string | undefined;
  /** All values of a flag that may be repeated. */
  texts(flag: string): readonly string[];
  has(flag: string): boolean;
}

function parseArguments(flags: readonly Flag[], args: readonly string[]): Arguments {
  // Error messages repeat the flags that name the service, wherever these are. So read these flags first.
  noticeConnection(givenConnection(parseFlags(flags, args).values));
  const { values, positionals, loose, problems } = parseFlags(flags, args);
  const texts = (flag: string) => values.get(flag) ?? [];
  const wrong = flags.flatMap(({ name, placeholder, choices }) =>
    texts(name).flatMap((value) => {
      if (placeholder === "" && value !== "on") return [`--${name}: takes no value`];
      return choices && !choices.includes(value) ? [`--${name} ${value}: ${expectedOneOf(value, choices)}`] : [];
    }),
  );
  const all = [...problems, ...wrong, ...contradictions(flags, values)];
  if (all.length > 0) throw new UsageError(all.join("\n"));
  return { flags, positionals, loose, texts, text: (flag) => texts(flag).at(-1), has: (flag) => values.has(flag) };
}

/** Says which words are possible, and which one was probably meant. */
export function expectedOneOf(word: string, choices: readonly string[]): string {
  const meant = choiceMeant(word, choices) ?? closest(word, choices);
  return `expected one of ${choices.join(", ")}.${meant === undefined ? "" : ` Did you mean ${meant}?`}`;
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
 * messages, as in "ID", or all of them, as in "STORE and NEW". `advice` says what to do instead, if there are too many.
 */
export function positionalsOf(
  { flags, positionals, loose }: Arguments,
  min: number,
  max: number,
  what: string,
  advice = "",
): readonly string[] {
  if (positionals.length < min) {
    const missing = what.split(" and ").slice(positionals.length);
    throw new UsageError(`Missing ${missing.length > 1 ? "arguments" : "argument"}: ${missing.join(" and ")}.`);
  }
  if (positionals.length > max) {
    const expected = ["no arguments", `one ${what}`][max] ?? `${what}, and no more`;
    const meant = flagsWithoutDashes(positionals.slice(max), flags) ?? flagsWithQuotes(loose, positionals.length, max);
    const next = meant === undefined ? (addressAdvice(positionals[max], flags) ?? advice) : `Did you mean ${meant}?`;
    throw new UsageError(`${positionals[max]}: unexpected argument. This command takes ${expected}. ${next}`.trimEnd());
  }
  return positionals;
}

/** Begins like the address of a service: with a scheme, the name of this machine, a name with a port, or numbers. */
const address = /^(?:https?:|localhost\b|[a-z][\w.-]*:[0-9]+\b|[0-9]+(?:\.[0-9]+){3}\b)/i;

/** What to say if a word is an address, and the command takes an address as a flag. Otherwise undefined. */
export function addressAdvice(word: string | undefined, flags: readonly Flag[]): string | undefined {
  const takesAddress = flags.some(({ name }) => name === "server");
  return takesAddress && word !== undefined && address.test(word)
    ? `To choose the service, use --server ${word}`
    : undefined;
}
