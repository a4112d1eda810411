// Secrets: may other users of this machine read or change the files that hold them, or see the database's password in
// the arguments?

import { existsSync } from "node:fs";
import { join } from "node:path";
import { exposureOf } from "../../files/exposed-file.ts";
import { dataFolder } from "../../tls/data-folder.ts";
import { type Finding, fail, pass, type Subject, warn } from "./finding.ts";

export function checkSecrets(subject: Subject): Finding[] {
  const findings: Finding[] = [];
  const { store } = subject.settings;
  const hasPassword = store.engine === "postgres" && store.password !== undefined;
  if (hasPassword && subject.args.some((word) => word.includes("://")))
    findings.push(
      warn(
        "the password of the database is an argument, which other users of this machine can see",
        "set TODOITEMS_STORE instead of --store",
      ),
    );
  if (process.getuid?.() === 0)
    findings.push(warn("doctor runs as root, who may read everything", "run it as the user of the service"));
  const paths = secretsOf(subject).filter((path) => existsSync(path));
  for (const path of paths) {
    const exposed = exposureOf(path);
    if (exposed) findings.push(fail(`${path}: every user of this machine can ${exposed.can} it`, exposed.hint));
  }
  return findings.length > 0 ? findings : [pass(paths.length === 0 ? "there are none" : paths.join(", "))];
}

function secretsOf({ settings: { users, tlsKey, httpsPort, store, demo }, environment }: Subject): string[] {
  const https = join(dataFolder(environment), "https");
  const isDevelopment = httpsPort !== undefined && tlsKey === undefined;
  return [
    users,
    tlsKey,
    environment["TODOITEMS_PASSWORD_FILE"],
    ...(isDevelopment ? ["authority-key.pem", "certificate-key.pem"].map((name) => join(https, name)) : []),
    ...(store.engine === "sqlite" && !demo ? [store.path, `${store.path}-wal`] : []),
  ].filter((path) => path !== undefined);
}
