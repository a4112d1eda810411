// Names this program's commands as the user can type them: `npx todoitems list`, or `todoitems list` if it is installed
// for the whole machine.

let start = "todoitems";

/**
 * To be called once, at the start. npm sets this variable for `npx` and for scripts such as `npm start`. Whoever uses
 * those cannot be expected to have `todoitems` as a command.
 */
export function noticeStart(environment: Readonly<Record<string, string | undefined>>): void {
  start = environment["npm_lifecycle_event"] === undefined ? "todoitems" : "npx todoitems";
}

/** For example, `npx todoitems help serve` for `help serve`. */
export function asTyped(command: string): string {
  return `${start} ${command}`;
}
