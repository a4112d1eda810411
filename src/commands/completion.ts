// `todoitems completion`: prints a script that lets bash, zsh or fish complete commands, flags and values.

import { type Command, defineCommand, type Flag, positionalsOf, UsageError } from "./command.ts";
import { printLine } from "./output.ts";

type Shell = (commands: readonly Command[]) => string;

const shells: Readonly<Record<string, Shell>> = { bash, zsh, fish };

const installation = `To try one:  source <(todoitems completion bash)
To keep it:
  bash  todoitems completion bash > ~/.local/share/bash-completion/completions/todoitems
  zsh   todoitems completion zsh > "\${fpath[1]}/_todoitems"
  fish  todoitems completion fish > ~/.config/fish/completions/todoitems.fish`;

/** Takes a function that returns the list of all commands, because this command is itself on that list. */
export function completionCommand(commands: () => readonly Command[]): Command {
  return defineCommand(
    {
      name: "completion",
      parameters: "bash|zsh|fish",
      summary: "print a script for your shell",
      flags: [],
      notes: installation,
    },
    async (args) => {
      const [name = ""] = positionalsOf(args, 1, 1, "shell");
      const shell = shells[name];
      if (!shell) throw new UsageError(`${name}: expected one of ${Object.keys(shells).join(", ")}.`);
      await printLine(shell(commands()));
      return 0;
    },
  );
}

const filePlaceholder = /^FILE/;

function bash(commands: readonly Command[]): string {
  const cases = commands.map(({ name, flags }) => {
    const words = flags.map((flag) => `--${flag.name}`).join(" ");
    return `    ${name}) words="${words} --help" ;;`;
  });
  const values = valueFlags(commands).map(({ name, choices, placeholder }) => {
    const reply = choices
      ? `COMPREPLY=($(compgen -W "${choices.join(" ")}" -- "$current"))`
      : filePlaceholder.test(placeholder)
        ? `COMPREPLY=($(compgen -f -- "$current"))`
        : "COMPREPLY=()";
    return `    --${name}) ${reply}; return ;;`;
  });
  return `# bash completion for todoitems
_todoitems() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} words
  case $previous in
${values.join("\n")}
  esac
  case \${COMP_WORDS[1]} in
${cases.join("\n")}
    *) words="${commands.map(({ name }) => name).join(" ")} --help --version" ;;
  esac
  [ "$COMP_CWORD" -eq 1 ] && words="${commands.map(({ name }) => name).join(" ")} --help --version"
  if [[ $current == -* || $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}
complete -o filenames -F _todoitems todoitems`;
}

function zsh(commands: readonly Command[]): string {
  const quoted = (text: string) => text.replaceAll("'", "'\\''").replaceAll(":", "\\:");
  const names = commands.map(({ name, summary }) => `    '${name}:${quoted(summary)}'`);
  const cases = commands.map(({ name, flags }) => {
    const specs = flags.map((flag) => `'${zshFlag(flag)}'`);
    return `    ${name}) _arguments ${[...specs, "'--help[show help]'", "'*:file:_files'"].join(" ")} ;;`;
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
compdef _todoitems todoitems`;
}

function zshFlag({ name, meaning, placeholder, choices, repeats }: Flag): string {
  const text = meaning
    .replace(/[[\]`]/g, "")
    .replaceAll("'", "'\\''")
    .replaceAll(":", "\\:");
  const action = choices ? `(${choices.join(" ")})` : filePlaceholder.test(placeholder) ? "_files" : "";
  return `${repeats ? "*" : ""}--${name}[${text}]${placeholder === "" ? "" : `:${placeholder.replaceAll(":", "")}:${action}`}`;
}

function fish(commands: readonly Command[]): string {
  const quoted = (text: string) => `'${text.replaceAll("`", "").replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const names = commands.map(
    ({ name, summary }) => `complete -c todoitems -f -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`,
  );
  const flags = commands.flatMap(({ name, flags: own }) =>
    own.map(({ name: flag, short, placeholder, meaning, choices }) =>
      [
        `complete -c todoitems -n '__fish_seen_subcommand_from ${name}' -l ${flag}`,
        ...(short ? [`-s ${short}`] : []),
        ...(placeholder === "" ? [] : [filePlaceholder.test(placeholder) ? "-r -F" : "-x"]),
        ...(choices ? [`-a ${quoted(choices.join(" "))}`] : []),
        `-d ${quoted(meaning)}`,
      ].join(" "),
    ),
  );
  return ["# fish completion for todoitems", ...names, ...flags].join("\n");
}

/** All flags that take a value, without duplicates. */
function valueFlags(commands: readonly Command[]): Flag[] {
  const flags = commands.flatMap((one) => one.flags).filter(({ placeholder }) => placeholder !== "");
  return [...new Map(flags.map((flag) => [flag.name, flag])).values()];
}
