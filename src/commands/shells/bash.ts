// The completion script for bash. It also works in the old bash of macOS.

import type { Command } from "../command.ts";
import type { Flag } from "../flag.ts";
import { type Completed, completedArguments, completedValue } from "./completed-words.ts";

export function bashCompletion(commands: readonly Command[]): string {
  const names = commands.map(({ name }) => name).join(" ");
  return `# bash completion for todoitems
_todoitems() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} command=\${COMP_WORDS[1]}
  local words="" place=0 index=2 IFS=$' \\t\\n'
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${names} --help --version" -- "$current"))
    return
  fi
  # bash makes a word of its own of the = in --flag=value.
  if [ "$current" = "=" ]; then
    current=""
  elif [ "$previous" = "=" ]; then
    previous=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  case "$command $previous" in
${commands.flatMap(valueCases).join("\n")}
    *)
      if [[ $current == -* ]]; then
        case $command in
${commands.map(flagCase).join("\n")}
        esac
      else
        # Count the arguments before this one.
        while [ "$index" -lt "$COMP_CWORD" ]; do
          case "$command \${COMP_WORDS[index]}" in
            ${valuePatterns(commands)}) index=$((index + 1)) ;;
            "$command "-*) ;;
            *) place=$((place + 1)) ;;
          esac
          index=$((index + 1))
        done
        case "$command $place" in
${commands.flatMap((command) => placeCases(command, commands)).join("\n")}
        esac
      fi ;;
  esac
  if [ "$words" = "<files>" ]; then
    IFS=$'\\n'
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$current"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  fi
}
complete -F _todoitems todoitems`;
}

function wordsOf(completed: Completed): string {
  return completed === "files" ? '"<files>"' : `"${(completed ?? []).join(" ")}"`;
}

function patternsOf(command: Command, { name, short }: Flag): string {
  return [`"${command.name} --${name}"`, ...(short === undefined ? [] : [`"${command.name} -${short}"`])].join("|");
}

function valueFlagsOf({ flags }: Command): Flag[] {
  return flags.filter(({ placeholder }) => placeholder !== "");
}

function valueCases(command: Command): string[] {
  return valueFlagsOf(command).map(
    (flag) => `    ${patternsOf(command, flag)}) words=${wordsOf(completedValue(flag))} ;;`,
  );
}

function valuePatterns(commands: readonly Command[]): string {
  return commands.flatMap((command) => valueFlagsOf(command).map((flag) => patternsOf(command, flag))).join("|");
}

function flagCase({ name, flags }: Command): string {
  return `          ${name}) words="${[...flags.map((flag) => `--${flag.name}`), "--help"].join(" ")}" ;;`;
}

function placeCases(command: Command, commands: readonly Command[]): string[] {
  const { places, repeats } = completedArguments(command, commands);
  return places.flatMap((completed, place) => {
    const pattern = repeats && place === places.length - 1 ? `"${command.name} "*` : `"${command.name} ${place}"`;
    return completed === undefined ? [] : [`          ${pattern}) words=${wordsOf(completed)} ;;`];
  });
}
