// `todoitems help`: lists the commands, or explains one of them.

import { parseFlags } from "../terminal/flags.ts";
import { asTyped } from "../terminal/program-name.ts";
import { closest } from "../terminal/suggestion.ts";
import { labelledRows, widthOf, wrap } from "../terminal/wrapped-text.ts";
import { type Command, defineCommand, UsageError } from "./command.ts";
import { connectionFlags, givenConnection } from "./connection-flags.ts";
import { adviceFor, commandMeant } from "./other-words.ts";
import { printLine } from "./output.ts";
import { noticeConnection } from "./typed-here.ts";

/** Takes a function that returns the list of all commands, because this command is itself on that list. */
export function helpCommand(commands: () => readonly Command[]): Command {
  return defineCommand(
    { name: "help", parameters: "[COMMAND]", summary: "explain a command", flags: [] },
    async (args) => {
      // More words may follow, as in `help user add`: the help of `user` explains all that it can do.
      const [name] = args.positionals;
      const named = commands().find((one) => one.name === name);
      if (name !== undefined && !named) throw new UsageError(unknownCommand(name, commands()));
      await printLine(named ? commandHelp(named) : overview(commands()));
      return 0;
    },
  );
}

export function overview(commands: readonly Command[]): string {
  return [
    "todoitems: a to-do backend for apps that speak JSON over HTTP, and its command line",
    "",
    `Usage: ${asTyped("COMMAND [flags]")}`,
    "",
    ...labelledRows(
      commands.map(({ name, parameters, summary }) => [`${name} ${parameters}`.trimEnd(), summary]),
      widthOf(process.stdout),
    ),
    "",
    `${asTyped("").trim()} alone is ${asTyped("serve")}.`,
    `For help with a command: ${asTyped("help COMMAND")}`,
    `For the version: ${asTyped("--version")}`,
    "Exit codes: 0 success, 1 failure, 2 usage error, 3 server or store unreachable, 4 nothing stored because the service is read-only",
  ]
    .map((line) => (line.startsWith(" ") ? line : wrap(line, widthOf(process.stdout))))
    .join("\n");
}

/**
 * The message for a word that is not a command. It names the command that was probably meant, if there is one. `args`
 * are the words that follow.
 */
export function unknownCommand(name: string, commands: readonly Command[], args: readonly string[] = []): string {
  // If they name a service, the commands in the message must talk to that service.
  const { values, positionals } = parseFlags(connectionFlags, args);
  noticeConnection(givenConnection(values));
  const known = commandMeant(name) ?? (name.startsWith("--") ? closest(name, ["--version", "--help"]) : undefined);
  const names = commands.map((command) => command.name);
  const dashed = names.find((one) => [`-${one}`, `--${one}`].includes(name));
  if (dashed !== undefined) return `A command has no dashes. Did you mean ${asTyped(dashed)}?`;
  if (name.startsWith("-") && known === undefined)
    return `A command comes first, and then its flags, as in: ${asTyped("serve --port 8080")}`;
  const meant = known ?? closest(name, names);
  const guess = meant === undefined ? `For a list of commands: ${asTyped("help")}` : `Did you mean ${asTyped(meant)}?`;
  return `There is no command ${name}. ${adviceFor(name, positionals.join(" ")) ?? guess}`;
}

export function commandHelp({ name, parameters, summary, flags, notes, example }: Command): string {
  const described = flags.map(({ name: flag, short, placeholder, meaning }): [string, string] => [
    `${short ? `-${short}, ` : ""}--${flag} ${placeholder}`.trimEnd(),
    meaning,
  ]);
  const width = widthOf(process.stdout);
  return [
    wrap(`todoitems ${name}: ${summary}`, width),
    "",
    `Usage: ${asTyped([name, parameters, flags.length > 0 ? "[flags]" : ""].filter((part) => part !== "").join(" "))}`,
    ...(flags.length > 0 ? ["", "Flags (defaults in parentheses):"] : []),
    ...labelledRows(described, width),
    // Indented lines are commands for the shell. They are not wrapped, so that they can be copied.
    ...(notes === undefined
      ? []
      : ["", ...notes.split("\n").map((line) => (line.startsWith(" ") ? line : wrap(line, width)))]),
    ...(example === undefined ? [] : ["", "Example:", `  ${asTyped(example)}`]),
  ].join("\n");
}
