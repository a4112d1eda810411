// The users file: can it be read, and can anybody sign in?

import { readSomeUsers } from "../../credentials/users-file.ts";
import { formatCount } from "../stores/store-summary.ts";
import { type Finding, pass, type Subject } from "./finding.ts";

export function checkUsers({ settings: { auth, users } }: Subject): Finding[] {
  if (auth === "off" || users === undefined) return [pass("no credentials are asked for")];
  return [pass(`${formatCount(readSomeUsers(users).size, "user")} may sign in`)];
}
