// Words that people know from other programs and try here, and the words of this program with the same meaning.

import { asTyped, asWord } from "../terminal/program-name.ts";
import { asTypedHere } from "./typed-here.ts";

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
  repair: "restore",
  recover: "restore",
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
const advice: Readonly<Record<string, (words?: string) => string>> = {
  find: searchAdvice,
  grep: searchAdvice,
  search: searchAdvice,
  login: signInAdvice,
  signin: signInAdvice,
  toggle: toggleAdvice,
  stop: stopAdvice,
  down: stopAdvice,
  kill: stopAdvice,
  shutdown: stopAdvice,
  quit: stopAdvice,
  exit: stopAdvice,
  restart: stopAdvice,
  clear: removeDoneAdvice,
  clean: removeDoneAdvice,
  prune: removeDoneAdvice,
  purge: removeDoneAdvice,
  profile: profileAdvice,
  profiles: profileAdvice,
  config: profileAdvice,
};

/** How to find items that contain a text. */
export function searchAdvice(text?: string): string {
  return `To search, use: ${searchCommand(text)}`;
}

function searchCommand(text = "TEXT"): string {
  const filter = process.platform === "win32" ? "findstr /i" : "grep -i";
  // A list without --columns hides the notes if few items have any.
  return `${asTypedHere("list --columns ID,Name,Notes")} | ${filter} ${asWord(text)}`;
}

const searchFlag = (text: string | undefined) => `to search, use: ${searchCommand(text)}`;
const limitFlag = () =>
  `list shows all items; to see only the first ones, use: ${asTypedHere("list")} | ${process.platform === "win32" ? "more" : "head"}`;
const sortFlag = () =>
  `items are listed in the order in which they were added; to sort them, use: ${asTypedHere("list --columns Name,ID")} | ${process.platform === "win32" ? "" : "tail -n +2 | "}sort`;
const statusFlag = "use --open or --done";
const formatFlag = (format: string | undefined) =>
  format === "json" ? "use --json" : `use --json, or for a spreadsheet: ${asTypedHere("export items.csv")}`;

/** Advice for flags that lists have in other programs. */
export const otherListFlags = {
  search: searchFlag,
  query: searchFlag,
  q: searchFlag,
  filter: searchFlag,
  grep: searchFlag,
  find: searchFlag,
  limit: limitFlag,
  n: limitFlag,
  max: limitFlag,
  head: limitFlag,
  sort: sortFlag,
  "sort-by": sortFlag,
  order: sortFlag,
  "order-by": sortFlag,
  status: statusFlag,
  state: statusFlag,
  format: formatFlag,
  csv: formatFlag,
  ndjson: "use --json",
  jsonl: "use --json",
} as const;

const removeDoneFlag = () => `to remove all items that are done, use: ${removeDone()}`;
const removeAllFlag = () => `give the ID of each item; to remove all items that are done, use: ${removeDone()}`;

/** Advice for flags that commands for deleting have in other programs. */
export const otherRemoveFlags = { done: removeDoneFlag, completed: removeDoneFlag, all: removeAllFlag } as const;

const markAllFlag = () => `give the ID of each item; to mark all items as done, use: ${forEach("--open", "done")}`;

/** Advice for flags that commands for marking items have in other programs. */
export const otherDoneFlags = { all: markAllFlag, a: markAllFlag } as const;

const removeDone = () => forEach("--done", "remove");

/** The command that runs `command` for all items that `list` shows with `filter`. */
function forEach(filter: string, command: string): string {
  const ids = asTypedHere(`list ${filter} --columns ID`);
  const typed = asTypedHere(command);
  if (process.platform === "win32") return `${typed} ID…`;
  // Without -r, GNU's xargs runs the command even if there is no ID. That of macOS never does, and may not know -r.
  return `${ids} | tail -n +2 | xargs ${process.platform === "linux" ? "-r " : ""}${typed}`;
}

function removeDoneAdvice(): string {
  return `To remove all items that are done, use: ${removeDone()}`;
}

function signInAdvice(): string {
  return `Give your name with each command, as in: ${asTyped("list --username NAME")}, or save it in a profile: ~/.config/todoitems/profiles.json`;
}

function stopAdvice(): string {
  return "To stop the service, press Ctrl-C in its terminal, or use what started it, such as: systemctl stop todoitems";
}

function profileAdvice(): string {
  return `Profiles are in the file ~/.config/todoitems/profiles.json. To use one: ${asTyped("list --profile NAME")}`;
}

function toggleAdvice(): string {
  return `Use ${asTypedHere("done ID")}, or ${asTypedHere("done ID --undo")}`;
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

/** What to do instead of the command that this word names in other programs. `words` are the words after it. */
export function adviceFor(word: string, words: string): string | undefined {
  return adviceByWord.get(word.toLowerCase())?.(words === "" ? undefined : words);
}

/**
 * Returns the choice that a word from other programs means: `rm` means `remove`. Undefined if none of these choices is
 * meant.
 */
export function choiceMeant(word: string, choices: readonly string[]): string | undefined {
  const meant = actionMeanings.get(word.toLowerCase());
  return choices.find((choice) => choice === meant);
}
