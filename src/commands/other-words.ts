// Words that people know from other programs and try here, and the words of this program with the same meaning.

import { asTyped, asTypedHere } from "../program-name.ts";

const actions: Readonly<Record<string, string>> = {
  create: "add",
  new: "add",
  insert: "add",
  ls: "list",
  all: "list",
  print: "list",
  rm: "remove",
  del: "remove",
  delete: "remove",
  destroy: "remove",
  erase: "remove",
  drop: "remove",
};

const commands: Readonly<Record<string, string>> = {
  ...actions,
  get: "show",
  cat: "show",
  view: "show",
  update: "edit",
  change: "edit",
  set: "edit",
  rename: "edit",
  complete: "done",
  finish: "done",
  close: "done",
  tick: "done",
  undo: "done --undo",
  undone: "done --undo",
  untick: "done --undo",
  uncheck: "done --undo",
  reopen: "done --undo",
  follow: "watch",
  tail: "watch",
  dump: "export",
  load: "import",
  save: "backup",
  verify: "check",
  repair: "recover",
  status: "healthcheck",
  ping: "healthcheck",
  start: "serve",
  run: "serve",
  up: "serve",
  register: "user add",
  adduser: "user add",
  useradd: "user add",
  passwd: "user add",
  deluser: "user remove",
  userdel: "user remove",
  version: "--version",
  "-v": "--version",
  "-V": "--version",
};

/** Advice for words that no single command stands for. */
const advice: Readonly<Record<string, () => string>> = {
  find: searchAdvice,
  grep: searchAdvice,
  search: searchAdvice,
  login: signInAdvice,
  signin: signInAdvice,
  toggle: toggleAdvice,
};

/** How to find items that contain a text. */
export function searchAdvice(text = "TEXT"): string {
  const filter = process.platform === "win32" ? "findstr /i" : "grep -i";
  return `To search, use: ${asTypedHere("list")} | ${filter} ${text.includes(" ") ? `"${text}"` : text}`;
}

function signInAdvice(): string {
  return `Give your name with each command, as in: ${asTyped("list --username NAME")}, or save it in a profile: ~/.config/todoitems/profiles.json`;
}

function toggleAdvice(): string {
  return `Use ${asTyped("done ID")}, or ${asTyped("done ID --undo")}`;
}

const adviceByWord = new Map(Object.entries(advice));
const commandMeanings = new Map(Object.entries(commands));
const actionMeanings = new Map(Object.entries(actions));

/**
 * Returns the command that a word from other programs means, perhaps with arguments: `undo` means `done --undo`.
 * Undefined if the word is not known.
 */
export function commandMeant(word: string): string | undefined {
  return commandMeanings.get(word) ?? commandMeanings.get(word.toLowerCase());
}

/** What to do instead of the command that this word names in other programs. */
export function adviceFor(word: string): string | undefined {
  return adviceByWord.get(word.toLowerCase())?.();
}

/**
 * Returns the choice that a word from other programs means: `rm` means `remove`. Undefined if none of these choices is
 * meant.
 */
export function choiceMeant(word: string, choices: readonly string[]): string | undefined {
  const meant = actionMeanings.get(word.toLowerCase());
  return choices.find((choice) => choice === meant);
}
