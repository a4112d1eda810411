// Finds settings that are valid, but dangerous or unsuitable for this machine.

import { descriptorLimit } from "../../serve/descriptor-limit.ts";
import { isLoopback } from "../../serve/loopback.ts";
import { readSeed, SeedError } from "../../serve/seed.ts";
import { dangers } from "../../serve/serve.ts";
import type { Settings } from "../../serve/settings-table.ts";
import { connectionsMax } from "../../wire/listen.ts";
import { type Finding, fail, pass, type Subject, warn } from "./finding.ts";

/** The number of files and sockets that the service needs besides one for each connection. */
const ownDescriptors = 64;

export function checkSettings({ settings }: Subject): Finding[] {
  const { host, auth, readOnly, demo } = settings;
  const findings = [...seedFaults(settings), ...dangers(settings).map(({ text, hint }) => warn(text, hint))];
  if (auth === "off" && !readOnly && !demo && !isLoopback(host))
    findings.push(
      warn(
        `anybody who can reach ${host} may change every item`,
        "ask for passwords with --auth writes --users FILE, or listen on localhost behind a proxy that does",
      ),
    );
  const descriptors = descriptorLimit();
  if (descriptors !== undefined && descriptors < connectionsMax + ownDescriptors)
    findings.push(
      warn(
        `the system allows ${descriptors.toLocaleString("en")} open files, too few for the ${connectionsMax.toLocaleString("en")} connections that the service serves`,
        "raise the limit (ulimit -n, LimitNOFILE= in a systemd unit)",
      ),
    );
  return findings.length > 0 ? findings : [pass("they are valid")];
}

function seedFaults(settings: Settings): Finding[] {
  try {
    readSeed(settings);
    return [];
  } catch (error) {
    if (!(error instanceof SeedError)) throw error;
    return [fail(error.message, "the service cannot start like this")];
  }
}
