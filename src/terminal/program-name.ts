// Shows this program's commands as the user can type them: `npx todoitems list`, or `todoitems list` if the program is
// installed for the whole machine.

let start = "todoitems";

/**
 * Call this once, at the start. npm sets `npm_lifecycle_event` for `npx` and for scripts such as `npm start`. Whoever
 * starts the program in one of these ways possibly has no `todoitems` command, so `npx todoitems` is shown instead.
 */
export function noticeStart(environment: Readonly<Record<string, string | undefined>>): void {
  start = environment["npm_lifecycle_event"] === undefined ? "todoitems" : "npx todoitems";
}

/** The command as the user can type it. For example, `npx todoitems help serve` for `help serve`. */
export function asTyped(command: string): string {
  return `${start} ${command}`;
}

/** Text that a shell takes as one word, without quotation marks. */
const plainWord = /^[\p{L}\p{N}_@%+=:,./-]+$/u;

/** The text as one word of a command. It gets quotation marks if a shell would change or split it without them. */
export function asWord(text: string): string {
  if (plainWord.test(text)) return text;
  if (process.platform === "win32") return `"${text.replaceAll('"', '\\"')}"`;
  return `'${text.replaceAll("'", "'\\''")}'`;
}
