// All commands, in the order in which the help lists them. A command is loaded only when it is needed, because most of
// the time that a short command takes is spent on loading the program.

import type { Command } from "./command-line/command.ts";

const modules: Readonly<Record<string, () => Promise<{ readonly command: Command }>>> = {
  serve: () => import("./serve.ts"),
  list: () => import("./list.ts"),
  lists: () => import("./lists.ts"),
  add: () => import("./add.ts"),
  show: () => import("./show.ts"),
  edit: () => import("./edit.ts"),
  done: () => import("./done.ts"),
  remove: () => import("./remove.ts"),
  watch: () => import("./watch.ts"),
  export: () => import("./export.ts"),
  import: () => import("./import.ts"),
  backup: () => import("./backup.ts"),
  restore: () => import("./restore.ts"),
  check: () => import("./check.ts"),
  accept: () => import("./accept.ts"),
  doctor: () => import("./doctor.ts"),
  healthcheck: () => import("./healthcheck.ts"),
  user: () => import("./user.ts"),
  certificate: () => import("./certificate.ts"),
  help: () => import("./help.ts"),
  version: () => import("./version.ts"),
};

/** Words that people type for a command. */
const otherNames: Readonly<Record<string, string>> = {
  ls: "list",
  new: "add",
  complete: "done",
  rm: "remove",
  delete: "remove",
  "--help": "help",
  "-h": "help",
  "--version": "version",
};

export const commandNames = Object.keys(modules);

/** The name of the command for which somebody types this word. */
export function commandName(word: string): string {
  return Object.hasOwn(otherNames, word) ? (otherNames[word] ?? word) : word;
}

export async function findCommand(word: string): Promise<Command | undefined> {
  const name = commandName(word);
  return Object.hasOwn(modules, name) ? (await modules[name]?.())?.command : undefined;
}

export async function allCommands(): Promise<readonly Command[]> {
  return Promise.all(Object.values(modules).map(async (load) => (await load()).command));
}
