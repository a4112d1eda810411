// Shows commands that talk to the same service as this one: they repeat the flags that name the service.

import { asTyped } from "../terminal/program-name.ts";

let connection = "";

/** Call this when a command starts, with its flags that name the service. */
export function noticeConnection(flags: string): void {
  connection = flags;
}

/** The command as the user can type it, with the flags that name the service. */
export function asTypedHere(command: string): string {
  return asTyped(`${command} ${connection}`.trimEnd());
}
