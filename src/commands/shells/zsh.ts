// The completion script for zsh.

import type { Command } from "../command.ts";
import type { Flag } from "../flag.ts";
import { type Completed, completedArguments, completedValue, singleQuoted } from "./completed-words.ts";

export function zshCompletion(commands: readonly Command[]): string {
  const names = commands.map(({ name, summary }) => `    ${singleQuoted(`${name}:${escaped(summary)}`)}`);
  const cases = commands.map((command) => {
    const specs = [...command.flags.flatMap(flagSpecs), "'--help[show help]'", ...placeSpecs(command, commands)];
    return `    ${command.name}) _arguments ${specs.join(" ")} ;;`;
  });
  return `#compdef todoitems
_todoitems() {
  local -a names
  names=(
${names.join("\n")}
  )
  if (( CURRENT == 2 )); then
    _describe command names
    return
  fi
  local name=$words[2]
  shift words
  (( CURRENT-- ))
  case $name in
${cases.join("\n")}
  esac
}
# In a folder of fpath, this file is the function itself. Otherwise, the function has to be registered.
if [ "$funcstack[1]" = _todoitems ]; then _todoitems "$@"; else compdef _todoitems todoitems; fi`;
}

/**
 * Escapes characters that have a special meaning in zsh's completion specifications. For example, a colon separates the
 * parts of a specification.
 */
function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll(":", "\\:").replaceAll("[", "\\[").replaceAll("]", "\\]");
}

/** `nothing` is the action if there are no words to offer. */
function action(completed: Completed, nothing: string): string {
  if (completed === undefined) return nothing;
  return completed === "files" ? "_files" : `(${completed.map(escaped).join(" ")})`;
}

function flagSpecs(flag: Flag): string[] {
  const { name, short, meaning, placeholder, repeats } = flag;
  const value = placeholder === "" ? "" : `:${escaped(placeholder)}:${action(completedValue(flag), " ")}`;
  const spellings = [`--${name}`, ...(short === undefined ? [] : [`-${short}`])];
  const excludes = repeats ? "*" : `(${spellings.join(" ")})`;
  return spellings.map((spelling) => singleQuoted(`${excludes}${spelling}[${escaped(meaning)}]${value}`));
}

function placeSpecs(command: Command, commands: readonly Command[]): string[] {
  const { places, repeats } = completedArguments(command, commands);
  return places.map((completed, index) => {
    const place = repeats && index === places.length - 1 ? "*" : index + 1;
    // With a blank as action, zsh shows the word "argument". Then a flag that begins here is completed only at the second
    // Tab.
    return singleQuoted(`${place}:argument:${action(completed, "{true}")}`);
  });
}
