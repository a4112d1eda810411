// Words that people know from other programs and try here, and the words of this program with the same meaning.

const actions: Readonly<Record<string, string>> = {
  create: "add",
  new: "add",
  insert: "add",
  ls: "list",
  all: "list",
  rm: "remove",
  del: "remove",
  delete: "remove",
  erase: "remove",
  drop: "remove",
};

const commands: Readonly<Record<string, string>> = {
  ...actions,
  find: "list",
  search: "list",
  get: "show",
  cat: "show",
  view: "show",
  update: "edit",
  change: "edit",
  set: "edit",
  complete: "done",
  finish: "done",
  undo: "done --undo",
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
  login: "user",
  adduser: "user add",
  useradd: "user add",
  passwd: "user add",
  deluser: "user remove",
  userdel: "user remove",
  version: "--version",
  "-v": "--version",
  "-V": "--version",
};

const commandMeanings = new Map(Object.entries(commands));
const actionMeanings = new Map(Object.entries(actions));

/**
 * Returns the command that a word from other programs means, perhaps with arguments: `undo` means `done --undo`.
 * Undefined if the word is not known.
 */
export function commandMeant(word: string): string | undefined {
  return commandMeanings.get(word) ?? commandMeanings.get(word.toLowerCase());
}

/**
 * Returns the choice that a word from other programs means: `rm` means `remove`. Undefined if none of these choices is
 * meant.
 */
export function choiceMeant(word: string, choices: readonly string[]): string | undefined {
  const meant = actionMeanings.get(word.toLowerCase());
  return choices.find((choice) => choice === meant);
}
