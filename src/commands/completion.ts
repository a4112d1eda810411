// `todoitems completion`: prints a script that lets bash, zsh or fish complete commands, flags and values.

import { type Command, defineCommand, expectedOneOf, positionalsOf, UsageError } from "./command.ts";
import { printLine } from "./output.ts";
import { bashCompletion } from "./shells/bash.ts";
import { fishCompletion } from "./shells/fish.ts";
import { zshCompletion } from "./shells/zsh.ts";

const shells = new Map([
  ["bash", bashCompletion],
  ["zsh", zshCompletion],
  ["fish", fishCompletion],
]);

const installation = `The script is for the command todoitems. In a clone of the project, npm link makes that command.
To try it in bash:
  source <(todoitems completion bash)
To keep it in bash:
  mkdir -p ~/.local/share/bash-completion/completions
  todoitems completion bash > ~/.local/share/bash-completion/completions/todoitems
In zsh:
  mkdir -p ~/.zfunc
  todoitems completion zsh > ~/.zfunc/_todoitems
  echo 'fpath=(~/.zfunc $fpath); autoload -Uz compinit; compinit' >> ~/.zshrc
In fish:
  mkdir -p ~/.config/fish/completions
  todoitems completion fish > ~/.config/fish/completions/todoitems.fish`;

/** Takes a function that returns the list of all commands, because this command is itself on that list. */
export function completionCommand(commands: () => readonly Command[]): Command {
  return defineCommand(
    {
      name: "completion",
      parameters: [...shells.keys()].join("|"),
      summary: "print a script that completes commands in your shell",
      flags: [],
      notes: installation,
    },
    async (args) => {
      const [name = ""] = positionalsOf(args, 1, 1, "shell (bash, zsh or fish)");
      const script = shells.get(name);
      if (!script) throw new UsageError(`${name}: ${expectedOneOf(name, [...shells.keys()])}`);
      await printLine(script(commands()));
      return 0;
    },
  );
}
