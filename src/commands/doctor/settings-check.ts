// Finds settings that are valid, but dangerous or unsuitable for this machine, and whether anybody can sign in.

import { readSomeUsers } from "../../credentials/users-file.ts";
import { isLoopback } from "../../serve/loopback.ts";
import { readSeed, SeedError } from "../../serve/seed.ts";
import { dangers } from "../../serve/serve.ts";
import { countOf } from "../command-line/output.ts";
import { type Finding, fail, pass, type Subject, warn } from "./finding.ts";

export function checkSettings({ settings }: Subject): Finding[] {
  const { host, auth, users, readOnly, demo } = settings;
  const findings = dangers(settings).map(({ text, hint }) => warn(text, hint));
  try {
    readSeed(settings);
  } catch (error) {
    if (!(error instanceof SeedError)) throw error;
    findings.push(fail(error.message, "the service cannot start like this"));
  }
  if (auth === "off" && !readOnly && !demo && !isLoopback(host))
    findings.push(
      warn(
        `anybody who can reach ${host} may change every item`,
        "ask for passwords with --auth writes --users FILE, or listen on localhost behind a proxy that does",
      ),
    );
  if (auth !== "off" && users !== undefined)
    findings.push(pass(`${countOf(readSomeUsers(users).size, "user")} may sign in`));
  return findings.length > 0 ? findings : [pass("they are valid")];
}
