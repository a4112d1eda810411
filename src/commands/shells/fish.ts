// The completion script for fish.

import type { Command } from "../command.ts";
import type { Flag } from "../flag.ts";
import { type Completed, completedArguments, completedValue } from "./completed-words.ts";

export function fishCompletion(commands: readonly Command[]): string {
  return [
    "# fish completion for todoitems",
    // With -f, fish offers files only where a later line asks for them.
    "complete -c todoitems -f",
    placeFunction(commands),
    ...commands.map(
      ({ name, summary }) => `complete -c todoitems -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`,
    ),
    ...commands.flatMap((command) => [
      ...command.flags.map((flag) => flagLine(command.name, flag)),
      ...placeLines(command, commands),
    ]),
  ].join("\n");
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

function offer(completed: Completed): string[] {
  if (completed === undefined) return [];
  return [completed === "files" ? "-F" : `-a ${quoted(completed.join(" "))}`];
}

function flagLine(command: string, flag: Flag): string {
  const { name, short, placeholder, meaning } = flag;
  return [
    `complete -c todoitems -n '__fish_seen_subcommand_from ${command}' -l ${name}`,
    ...(short === undefined ? [] : [`-s ${short}`]),
    ...(placeholder === "" ? [] : [completedValue(flag) === "files" ? "-r" : "-x"]),
    ...offer(completedValue(flag)),
    `-d ${quoted(meaning)}`,
  ].join(" ");
}

/**
 * A fish function that counts the arguments before the cursor: the words after the command, without flags and their
 * values.
 */
function placeFunction(commands: readonly Command[]): string {
  const valueFlags = commands.flatMap(({ flags }) => flags.filter(({ placeholder }) => placeholder !== ""));
  const spellings = valueFlags.flatMap(({ name, short }) => [
    `--${name}`,
    ...(short === undefined ? [] : [`-${short}`]),
  ]);
  return `function __todoitems_place
  set -l place 0
  set -l is_value 0
  for word in (commandline -opc)[3..]
    if test $is_value = 1
      set is_value 0
    else if contains -- $word ${[...new Set(spellings)].join(" ")}
      set is_value 1
    else if not string match -q -- '-*' $word
      set place (math $place + 1)
    end
  end
  echo $place
end`;
}

function placeLines(command: Command, commands: readonly Command[]): string[] {
  const { places, repeats } = completedArguments(command, commands);
  return places.flatMap((completed, place) => {
    if (completed === undefined) return [];
    const isHere = `__fish_seen_subcommand_from ${command.name}; and test (__todoitems_place) -${repeats ? "ge" : "eq"} ${place}`;
    return [`complete -c todoitems -n ${quoted(isHere)} ${offer(completed).join(" ")}`];
  });
}
