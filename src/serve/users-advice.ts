// Says what is wrong with a users file, and which command repairs it.

import type { UsersFileError } from "../credentials/users-file.ts";
import { asTyped, asWord } from "../terminal/program-name.ts";

export function explainUsersError({ message, path, missingUser }: UsersFileError): string {
  if (missingUser === undefined) return `${message}.`;
  return `${message}. Set a password with: ${asTyped(`user add ${asWord(missingUser)} --users ${asWord(path)}`)}`;
}
