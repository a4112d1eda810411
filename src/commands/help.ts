// `todoitems help`: what can be run, and what can be set.

import { type Command, command, only, UsageError } from "./command.ts";
import { print } from "./output.ts";

/** The command needs to know all the others, so it is made where they are gathered. */
export function helpCommand(commands: () => readonly Command[]): Command {
  return command(
    { name: "help", parameters: "[COMMAND]", summary: "show this text, or that of a command", flags: [] },
    async (args) => {
      const [name] = only(args, 0, 1, "command");
      const named = commands().find((one) => one.name === name);
      if (name !== undefined && !named) throw new UsageError(`todoitems has no command ${name}.`);
      await print(named ? commandHelp(named) : overview(commands()));
      return 0;
    },
  );
}

export function overview(commands: readonly Command[]): string {
  return [
    "todoitems: a to-do backend for apps that speak JSON over HTTP, and a command line for it",
    "",
    "Usage: todoitems COMMAND [flags]     (from a clone of the project: npx todoitems COMMAND)",
    "",
    ...rows(commands.map(({ name, parameters, summary }) => [`${name} ${parameters}`.trimEnd(), summary])),
    "",
    "todoitems help COMMAND says more. --version shows the version.",
    "Exit codes: 0 done, 1 refused, 2 wrongly typed, 3 nobody answered.",
  ].join("\n");
}

export function commandHelp({ name, parameters, summary, flags, notes }: Command): string {
  const described = flags.map(({ name: flag, short, placeholder, meaning }): [string, string] => [
    `${short ? `-${short}, ` : ""}--${flag} ${placeholder}`.trimEnd(),
    meaning,
  ]);
  return [
    `todoitems ${name}: ${summary}`,
    "",
    `Usage: todoitems ${[name, parameters, flags.length > 0 ? "[flags]" : ""].filter((part) => part !== "").join(" ")}`,
    ...(flags.length > 0 ? ["", "Flags (defaults in parentheses):"] : []),
    ...rows(described),
    ...(notes === undefined ? [] : ["", notes]),
  ].join("\n");
}

function rows(cells: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(0, ...cells.map(([left]) => left.length));
  return cells.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}
