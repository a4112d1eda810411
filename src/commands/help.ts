// `todoitems help`: lists the commands, or explains one of them.

import { asTyped } from "../terminal/program-name.ts";
import { labelledRows, widthOf, wrap } from "../terminal/wrapped-text.ts";
import { type Command, defineCommand, unknownCommand } from "./command-line/command.ts";
import { UsageError } from "./command-line/errors.ts";
import { printLine } from "./command-line/output.ts";

export const command = defineCommand(
  { name: "help", parameters: "[COMMAND]", summary: "explain a command", flags: [], example: "help list" },
  async ({ positionals: [name] }, _environment, commands) => {
    const all = await commands();
    const named = all.find((one) => one.name === name);
    const names = all.map((one) => one.name);
    if (name !== undefined && !named) throw new UsageError(unknownCommand(name, names));
    await printLine(named ? commandHelp(named) : overview(all));
  },
);

function overview(commands: readonly Command[]): string {
  const width = widthOf(process.stdout);
  return [
    "todoitems: a to-do backend for apps that speak JSON over HTTP, and its command line",
    "",
    `Usage: ${asTyped("COMMAND [flags]")}`,
    "",
    ...labelledRows(
      commands.map(({ name, parameters, summary }) => [`${name} ${parameters}`.trimEnd(), summary]),
      width,
    ),
    "",
    `${asTyped("").trim()} alone is ${asTyped("serve")}. For help with a command: ${asTyped("help COMMAND")}`,
    wrap(
      "Exit codes: 0 success, 1 failure, 2 usage error, 3 server or store unreachable, 4 nothing stored because the service is read-only",
      width,
    ),
  ].join("\n");
}

function commandHelp({ name, parameters, summary, flags, notes, example }: Command): string {
  const width = widthOf(process.stdout);
  const described = flags.map(({ name: flag, short, placeholder, meaning }): [string, string] => [
    `${short ? `-${short}, ` : ""}--${flag} ${placeholder}`.trimEnd(),
    meaning,
  ]);
  return [
    wrap(`todoitems ${name}: ${summary}`, width),
    "",
    `Usage: ${asTyped([name, parameters, flags.length > 0 ? "[flags]" : ""].filter((part) => part !== "").join(" "))}`,
    ...(flags.length > 0 ? ["", "Flags (defaults in parentheses):", ...labelledRows(described, width)] : []),
    ...(notes === undefined ? [] : ["", wrap(notes, width)]),
    "",
    `Example: ${asTyped(example)}`,
  ].join("\n");
}
