// What `doctor` examines. Each check returns findings: a verdict, a sentence and, if something is wrong, what to do.

import { X509Certificate } from "node:crypto";
import { accessSync, existsSync, constants as modes, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { dataFolder } from "../../credentials/data-folder.ts";
import { readSomeUsers } from "../../credentials/users-file.ts";
import { readCondition } from "../../engines/postgres/postgres-condition.ts";
import { exposureOf } from "../../files/exposed-file.ts";
import { systemReason } from "../../files/system-reason.ts";
import { readCertificate } from "../../serve/certificate-files.ts";
import { isLoopback } from "../../serve/loopback.ts";
import { readSeed, SeedError } from "../../serve/seed.ts";
import { dangers } from "../../serve/serve.ts";
import type { Settings } from "../../serve/settings-table.ts";
import type { Environment } from "../../terminal/environment.ts";
import { countOf } from "../command-line/output.ts";
import { followLink } from "../files/file-argument.ts";
import { checkStore, describeVerdict } from "../stores/check-store.ts";
import { describeStore, type KeptStore } from "../stores/store-setting.ts";

export type Verdict = "pass" | "warn" | "fail";

export interface Finding {
  readonly verdict: Verdict;
  readonly text: string;
  /** What to do. A finding with the verdict "pass" has no hint. */
  readonly hint?: string;
}

/** What is examined: the settings with which the service would start. */
export interface Subject {
  readonly settings: Settings;
  readonly environment: Environment;
  readonly args: readonly string[];
}

export type Check = (subject: Subject) => readonly Finding[] | Promise<readonly Finding[]>;

const pass = (text: string): Finding => ({ verdict: "pass", text });
export const warn = (text: string, hint: string): Finding => ({ verdict: "warn", text, hint });
export const fail = (text: string, hint: string): Finding => ({ verdict: "fail", text, hint });

/** Settings that are valid, but dangerous, and whether anybody can sign in. */
function checkSettings({ settings }: Subject): Finding[] {
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

/** Can the store be opened and written, and is its content sound? */
async function checkTheStore({ settings: { store, demo, readOnly } }: Subject): Promise<Finding[]> {
  if (demo) return [pass("none: --demo keeps its items in memory")];
  if (store.engine === "memory")
    return [warn("memory: the items end with the service", "keep them with --store sqlite:PATH")];
  if (store.engine === "postgres") {
    const { hasStore } = await readCondition(store);
    return [hasStore ? await soundness(store) : pass("the tables are made at the first start")];
  }
  const path = followLink(store.path);
  const folder = dirname(resolve(path));
  if (!existsSync(folder)) return [fail(`${folder}: there is no such folder`, "make it for the user of the service")];
  // SQLite makes its log beside the file, so the folder must be writable too.
  const refused = readOnly ? [] : [folder, path].filter(existsSync).flatMap(notWritable);
  if (refused.length > 0) return refused;
  if (existsSync(path)) return [await soundness({ engine: "sqlite", path })];
  if (readOnly) return [warn(`${path}: there is no such file, so a read-only service has no items`, "check the path")];
  return [pass(`${path}: it is made at the first start`)];
}

/** `todoitems check` checks the content in the same way. */
async function soundness(store: KeptStore): Promise<Finding> {
  const { facts, findings, isSound } = await checkStore(store);
  if (!isSound) return fail(`damaged: ${findings.join("; ")}`, describeVerdict(store, false));
  const [, items = "?"] = facts.find(([label]) => label === "Items") ?? [];
  return pass(`${describeStore(store)}: sound, ${items} item${items === "1" ? "" : "s"}`);
}

function notWritable(path: string): Finding[] {
  try {
    accessSync(path, modes.W_OK);
    return [];
  } catch (error) {
    const hint = `it belongs to user ${statSync(path).uid}: give it to the user of the service, or run doctor as that user`;
    return [fail(`${path} cannot be written: ${systemReason(error)}`, hint)];
  }
}

/** Would a power failure or a failover of PostgreSQL lose anything? */
async function checkPostgres({ settings: { store, demo } }: Subject): Promise<Finding[]> {
  if (store.engine !== "postgres" || demo) return [pass("not used")];
  const { serverVersion, fsync, synchronousCommit, synchronousStandbys, standbys } = await readCondition(store);
  const findings = [pass(`the primary is PostgreSQL ${serverVersion}`)];
  if (!fsync)
    findings.push(fail("fsync is off: a power failure loses answered writes", "set fsync = on in postgresql.conf"));
  if (standbys === 0)
    findings.push(
      store.hosts.length > 1
        ? warn("no standby is connected, so there is nothing to fail over to", "start the standbys")
        : pass("no standby: the store is as safe as this server's disk and your backups"),
    );
  else if (synchronousStandbys === "")
    findings.push(
      warn(
        "standbys are connected, but no commit waits for one: a failover may lose answered writes",
        "set synchronous_standby_names, for example to ANY 1 (a, b)",
      ),
    );
  else
    findings.push(
      pass(
        `connected standbys: ${standbys}; a commit waits for ${synchronousStandbys} (synchronous_commit = ${synchronousCommit})`,
      ),
    );
  return findings;
}

/** May other users of this machine read or change the files that hold secrets, or see the database's password? */
function checkSecrets({ settings, environment, args }: Subject): Finding[] {
  const findings: Finding[] = [];
  const { users, tlsKey, httpsPort, store, demo } = settings;
  const hasPassword = store.engine === "postgres" && store.password !== undefined;
  if (hasPassword && args.some((word) => word.includes("://")))
    findings.push(
      warn(
        "the password of the database is an argument, which other users of this machine can see",
        "set TODOITEMS_STORE instead of --store",
      ),
    );
  if (process.getuid?.() === 0)
    findings.push(warn("doctor runs as root, who may read everything", "run it as the user of the service"));
  const https = join(dataFolder(environment), "https");
  const isDevelopment = httpsPort !== undefined && tlsKey === undefined;
  const paths = [
    users,
    tlsKey,
    environment["TODOITEMS_PASSWORD_FILE"],
    ...(isDevelopment ? ["authority-key.pem", "certificate-key.pem"].map((name) => join(https, name)) : []),
    ...(store.engine === "sqlite" && !demo ? [store.path, `${store.path}-wal`] : []),
  ].filter((path) => path !== undefined && existsSync(path));
  for (const path of paths) {
    const exposed = path && exposureOf(path);
    if (exposed) findings.push(fail(`${path}: every user of this machine can ${exposed.can} it`, exposed.hint));
  }
  return findings.length > 0 ? findings : [pass(paths.length === 0 ? "there are none" : paths.join(", "))];
}

const dayMs = 86_400_000;
/** Tools such as certbot renew a certificate 30 days before it expires. With fewer days left, that has failed. */
const renewalDays = 21;

/** Can the certificate for HTTPS be used, and for how long? */
function checkCertificate({ settings: { httpsPort, tlsCert, tlsKey } }: Subject): Finding[] {
  if (httpsPort === undefined) return [pass("none is needed: HTTPS is off")];
  if (tlsCert === undefined || tlsKey === undefined)
    return [
      warn(
        "HTTPS uses a development certificate, which other machines do not trust",
        "for real clients, give a certificate with --tls-cert and --tls-key",
      ),
    ];
  readCertificate({ cert: tlsCert, key: tlsKey });
  const { validFrom, validTo } = new X509Certificate(readFileSync(tlsCert));
  const days = Math.floor((Date.parse(validTo) - Date.now()) / dayMs);
  if (Date.parse(validFrom) > Date.now())
    return [fail(`${tlsCert} is valid from ${validFrom} on`, "check the clock, or wait")];
  const text = `${tlsCert} is valid for ${days} more days`;
  return [days < renewalDays ? warn(text, "renew it; the service reads the new files by itself") : pass(text)];
}

/** The checks by area, in the order of the table. */
export const checks: Readonly<Record<string, Check>> = {
  Settings: checkSettings,
  Store: checkTheStore,
  PostgreSQL: checkPostgres,
  Secrets: checkSecrets,
  Certificate: checkCertificate,
};
