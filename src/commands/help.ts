// `todoitems help`: lists the commands, or explains one of them.

import { type Command, defineCommand, positionalsOf, UsageError } from "./command.ts";
import { printLine } from "./output.ts";
import { widthOf } from "./terminal.ts";

/** Takes a function that returns the list of all commands, because this command is itself on that list. */
export function helpCommand(commands: () => readonly Command[]): Command {
  return defineCommand(
    { name: "help", parameters: "[COMMAND]", summary: "show this text, or that of a command", flags: [] },
    async (args) => {
      const [name] = positionalsOf(args, 0, 1, "command");
      const named = commands().find((one) => one.name === name);
      if (name !== undefined && !named) throw new UsageError(`todoitems has no command ${name}.`);
      await printLine(named ? commandHelp(named) : overview(commands()));
      return 0;
    },
  );
}

export function overview(commands: readonly Command[]): string {
  return [
    "todoitems: a to-do backend for apps that speak JSON over HTTP, and its command line",
    "",
    "Usage: todoitems COMMAND [flags]",
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
    ...(notes === undefined ? [] : ["", ...notes.split("\n").flatMap((line) => wrap(line, widthOf(process.stdout)))]),
  ].join("\n");
}

function rows(cells: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(0, ...cells.map(([left]) => left.length));
  const indentation = " ".repeat(width + 4);
  return cells.map(([left, right]) => {
    const lines = wrap(right, widthOf(process.stdout) - indentation.length);
    return `  ${left.padEnd(width)}  ${lines.join(`\n${indentation}`)}`;
  });
}

/** Wraps the text into lines of at most this many columns. With fewer than 20 columns, the text is not wrapped. */
function wrap(text: string, columns: number): string[] {
  return columns === Number.POSITIVE_INFINITY || columns < 20 ? [text] : Bun.wrapAnsi(text, columns).split("\n");
}
