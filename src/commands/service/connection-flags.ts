// The flags of all commands that read or change items through a service. `serve` has to know their environment
// variables too, because it warns about variables that no command reads.

import { variableOf } from "../../terminal/environment.ts";
import type { Flag } from "../command-line/command.ts";

export const connectionFlags: readonly Flag[] = [
  {
    name: "server",
    short: "s",
    placeholder: "URL",
    meaning: "address of the service, or of one of its lists; or set TODOITEMS_SERVER (http://127.0.0.1:5000/)",
  },
  {
    name: "user",
    short: "u",
    placeholder: "NAME",
    meaning: "your name, if the service needs credentials; or set TODOITEMS_USER, or TODOITEMS_TOKEN to a token",
  },
  {
    name: "password-file",
    placeholder: "FILE",
    meaning: "file with the password in its first line; or set TODOITEMS_PASSWORD to the password",
  },
  {
    name: "form",
    placeholder: "a|b",
    meaning: "where the service expects an item's ID: in the path (a) or in the body (b) (b)",
  },
  { name: "ca", placeholder: "FILE", meaning: "certificate authority to trust for HTTPS, a PEM file" },
];

/** The password and a token have no flags, because other users can see the arguments of a process. */
export const connectionVariables = [
  ...connectionFlags.map(({ name }) => variableOf(name)),
  ...["TODOITEMS_PASSWORD", "TODOITEMS_TOKEN"],
];
