// The words that may come next on the command line, as far as a shell can complete them. All three completion scripts
// are based on this.

import type { Command } from "../command.ts";
import type { Flag } from "../flag.ts";

/** Words to choose from, or `files` for the name of any file. Undefined if the shell cannot know what comes next. */
export type Completed = readonly string[] | "files" | undefined;

const filePlaceholder = /FILE/;
/** As an argument, a store may be named by its file alone. */
const fileParameter = /FILE|STORE|NEW/;

export function completedValue({ placeholder, choices, examples }: Flag): Completed {
  return choices ?? examples ?? (filePlaceholder.test(placeholder) ? "files" : undefined);
}

/**
 * What each positional argument of a command may be. If `repeats` is true, the last entry also applies to all further
 * arguments.
 */
export function completedArguments(command: Command, commands: readonly Command[]) {
  const parameters = command.parameters.split(" ").filter((word) => word !== "");
  return {
    places: parameters.map((parameter): Completed => {
      if (parameter.includes("|")) return parameter.split("|");
      if (parameter.includes("COMMAND")) return commands.map(({ name }) => name);
      return fileParameter.test(parameter) ? "files" : undefined;
    }),
    repeats: command.parameters.endsWith("…"),
  };
}

/** A text in single quotes, for a shell that has no escape sequences inside single quotes. */
export function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
