// Secrets: may other users of this machine read or change the files that hold them, or see the database's password in
// the arguments?

import { existsSync } from "node:fs";
import { join } from "node:path";
import { exposureOf } from "../../files/exposed-file.ts";
import { asTyped } from "../../terminal/program-name.ts";
import { dataFolder } from "../../tls/data-folder.ts";
import { profilePath } from "../profile.ts";
import { type Finding, fail, pass, type Subject, type Verdict, warn } from "./finding.ts";

interface Secret {
  readonly path: string;
  readonly what: string;
  /** The verdict if other users can read the file. */
  readonly ifReadable: Exclude<Verdict, "pass">;
}

export function checkSecrets(subject: Subject): Finding[] {
  const findings: Finding[] = [];
  if (isInArguments(subject))
    findings.push(
      warn(
        "the password of the database is an argument, which other users of this machine can see",
        "set TODOITEMS_STORE instead of --store",
      ),
    );
  if (process.getuid?.() === 0)
    findings.push(
      warn(
        "doctor runs as root, who may read everything",
        `run it as the user of the service: runuser -u USER -- ${asTyped("doctor")}, with the same flags`,
      ),
    );
  if (process.platform === "win32")
    return [...findings, warn("permissions are not examined on Windows", "look at the files' security settings")];
  const secrets = secretsOf(subject).filter(({ path }) => existsSync(path));
  const exposed = secrets.flatMap(exposure);
  if (exposed.length > 0) return [...findings, ...exposed];
  return [...findings, pass(secrets.length === 0 ? "there are none" : secrets.map(({ path }) => path).join(", "))];
}

function isInArguments({ args, settings: { store } }: Subject): boolean {
  const { password } = store.engine === "postgres" ? store : { password: undefined };
  return password !== undefined && args.some((word) => word.includes("://"));
}

function secretsOf({ settings, environment }: Subject): Secret[] {
  const { users, tlsKey, httpsPort, store, demo } = settings;
  const https = join(dataFolder(environment), "https");
  const passwordFile = environment["TODOITEMS_PASSWORD_FILE"];
  const fails = (what: string, ...paths: (string | undefined)[]) =>
    paths.flatMap((path) => (path ? [{ path, what, ifReadable: "fail" } as const] : []));
  return [
    ...fails("the users file", users),
    ...fails("the key of the certificate", tlsKey),
    ...(httpsPort !== undefined && tlsKey === undefined
      ? fails("a key", join(https, "authority-key.pem"), join(https, "certificate-key.pem"))
      : []),
    ...fails("the profiles", profilePath(environment)),
    ...fails("the password", passwordFile),
    ...(store.engine === "sqlite" && !demo
      ? ["", "-wal"].map((ending) => ({ path: store.path + ending, what: "the store", ifReadable: "warn" }) as const)
      : []),
  ];
}

function exposure({ path, what, ifReadable }: Secret): Finding[] {
  const exposed = exposureOf(path);
  if (!exposed) return [];
  const text = `${path}: every user of this machine can ${exposed.can} ${what}`;
  return [exposed.can === "read" && ifReadable === "warn" ? warn(text, exposed.hint) : fail(text, exposed.hint)];
}
