// The flags of all commands that read or change items through a service. `serve` has to know their environment
// variables too, because it warns about variables that no command reads.

import { variableOf } from "../terminal/environment.ts";
import { asWord } from "../terminal/program-name.ts";
import type { Flag } from "./flag.ts";

export const connectionFlags: readonly Flag[] = [
  {
    name: "server",
    short: "s",
    placeholder: "URL",
    meaning: "address of the service; or set TODOITEMS_SERVER (http://127.0.0.1:5000/)",
    triedInstead: {
      store: "this command asks a service, which --server names; the service has the store",
      host: "this command takes an address: --server http://VALUE:5000/",
      port: "this command takes an address: --server http://127.0.0.1:VALUE/",
      password: "other users can see it there. Set TODOITEMS_PASSWORD, or use --password-file FILE",
    },
  },
  { name: "username", short: "u", placeholder: "NAME", meaning: "your name, if the service needs credentials" },
  {
    name: "password-file",
    placeholder: "FILE",
    meaning: "file with the password in its first line; or set TODOITEMS_PASSWORD to the password",
  },
  {
    name: "form",
    placeholder: "FORM",
    meaning: "where the service expects an item's ID: a (in the path) or b (in the body) (b)",
    choices: ["a", "b"],
  },
  { name: "ca", placeholder: "FILE", meaning: "certificate authority to trust for HTTPS, a PEM file" },
  {
    name: "profile",
    short: "p",
    placeholder: "NAME",
    meaning:
      "take the settings above from this profile of the file ~/.config/todoitems/profiles.json, before the environment (the profile called default, after the environment)",
  },
];

/** The flags above that were given, written so that they can be typed again. `values` has the values of all flags. */
export function givenConnection(values: ReadonlyMap<string, readonly string[]>): string {
  return connectionFlags
    .flatMap(({ name }) => {
      const value = values.get(name)?.at(-1);
      return value === undefined ? [] : [`--${name} ${asWord(value)}`];
    })
    .join(" ");
}

/**
 * The environment variables for the flags above and for the password. The password has no flag, because other users can
 * see the arguments of a process.
 */
export const connectionVariables = [...connectionFlags.map(({ name }) => variableOf(name)), "TODOITEMS_PASSWORD"];
