// What `doctor` examines. Each check yields findings: a verdict, a sentence and, if something is wrong, what to do. A
// check throws if the service could not start.

import { X509Certificate } from "node:crypto";
import { accessSync, existsSync, constants as modes } from "node:fs";
import { dirname, resolve } from "node:path";
import { ProviderKeys } from "../../credentials/provider-keys.ts";
import { readSomeUsers } from "../../credentials/users-file.ts";
import { readCondition } from "../../engines/postgres/postgres-condition.ts";
import { exposedFiles } from "../../files/exposed-file.ts";
import { systemReason } from "../../files/system-reason.ts";
import { readCertificate } from "../../serve/certificate-files.ts";
import { isLoopback } from "../../serve/loopback.ts";
import { listMismatchIn } from "../../serve/offered-lists.ts";
import { dangers } from "../../serve/run-service.ts";
import { readSeed } from "../../serve/seed.ts";
import type { Settings } from "../../serve/settings-table.ts";
import { countOf } from "../command-line/output.ts";
import { followLink } from "../files/target-file.ts";
import { checkStore, damagedAdvice } from "../stores/check-store.ts";
import { listsOf } from "../stores/owned-lists.ts";
import { describeStore, type KeptStore } from "../stores/store-setting.ts";

export interface DoctorFinding {
  readonly verdict: "pass" | "warn" | "fail";
  readonly text: string;
  /** What to do. A finding with the verdict "pass" has no hint. */
  readonly hint?: string;
}

/** `args` are the words on the command line, without --json. */
type Check = (settings: Settings, args: readonly string[]) => Iterable<DoctorFinding> | AsyncIterable<DoctorFinding>;

const pass = (text: string): DoctorFinding => ({ verdict: "pass", text });
export const warn = (text: string, hint: string): DoctorFinding => ({ verdict: "warn", text, hint });
export const fail = (text: string, hint: string): DoctorFinding => ({ verdict: "fail", text, hint });
export const cannotStart = "the service cannot start like this";

/** Settings that are valid, but dangerous, and whether anybody can sign in. */
async function* checkSettings(settings: Settings): AsyncGenerator<DoctorFinding> {
  const { host, auth, users, tokenIssuer, readOnly, demo } = settings;
  for (const { text, hint } of dangers(settings)) yield warn(text, hint);
  if (auth === "off" && !readOnly && !demo && !isLoopback(host))
    yield warn(
      `anybody who can reach ${host} may change every item`,
      "ask for passwords with --auth writes --users FILE, or listen on localhost behind a proxy that does",
    );
  if (auth !== "off" && users !== undefined) yield pass(`${countOf(readSomeUsers(users).size, "user")} may sign in`);
  if (tokenIssuer !== undefined) yield await keysOf(tokenIssuer);
  readSeed(settings);
}

async function keysOf(issuer: string): Promise<DoctorFinding> {
  const troubles: string[] = [];
  const onTrouble = (message: string) => troubles.push(message);
  await new ProviderKeys(issuer, { onTrouble, onWithdrawn: () => {} }).renew();
  if (troubles.length === 0) return pass(`${issuer} shows its keys, so its tokens can be verified`);
  return warn(`no token can be verified: ${troubles}`, "start the identity provider, or correct --token-issuer");
}

/** Can the store be opened and written, is its content sound, and would a power failure lose anything? */
async function* checkTheStore({ store, demo, readOnly, lists }: Settings): AsyncGenerator<DoctorFinding> {
  if (demo) return;
  if (store.engine === "memory")
    yield warn("memory: the items end with the service", "keep them with --store sqlite:PATH");
  else if (store.engine === "postgres") yield* checkPostgres(store, lists);
  else yield* checkFile(followLink(store.path), readOnly, lists);
}

async function* checkFile(path: string, readOnly: boolean, lists: Settings["lists"]): AsyncGenerator<DoctorFinding> {
  const folder = dirname(resolve(path));
  // SQLite makes its log beside the file, so the folder must be writable too.
  for (const place of readOnly ? [] : [folder, path].filter(existsSync))
    try {
      accessSync(place, modes.W_OK);
    } catch (error) {
      const hint = "give it to the user of the service, or run doctor as that user";
      yield fail(`${place} cannot be written: ${systemReason(error)}`, hint);
    }
  if (existsSync(path)) yield await soundness({ engine: "sqlite", path }, lists);
  else if (!existsSync(folder)) yield fail(`${folder}: there is no such folder`, "make it for the user of the service");
  else if (readOnly) yield warn(`${path}: there is no such file, so there are no items`, "check the path");
  else yield pass(`${path}: it is made at the first start`);
}

async function* checkPostgres(
  store: Extract<KeptStore, { readonly engine: "postgres" }>,
  lists: Settings["lists"],
): AsyncGenerator<DoctorFinding> {
  const condition = await readCondition(store);
  const { serverVersion, fsync, synchronousCommit, synchronousStandbys, standbys } = condition;
  yield condition.hasStore ? await soundness(store, lists) : pass("the tables are made at the first start");
  const wait = `a commit waits for ${synchronousStandbys || "none"} (synchronous_commit = ${synchronousCommit})`;
  yield pass(`PostgreSQL ${serverVersion}; connected standbys: ${standbys}; ${wait}`);
  if (!fsync) yield fail("fsync is off: a power failure loses answered writes", "set fsync = on in postgresql.conf");
  if (standbys === 0 && store.hosts.length > 1)
    yield warn("no standby is connected, so there is nothing to fail over to", "start the standbys");
  if (standbys > 0 && synchronousStandbys === "")
    yield warn(
      "standbys are connected, but no commit waits for one: a failover may lose answered writes",
      "set synchronous_standby_names, for example to ANY 1 (a, b)",
    );
}

/** `todoitems check` checks the content in the same way. Would the service also show all of it? */
async function soundness(store: KeptStore, offered: Settings["lists"]): Promise<DoctorFinding> {
  const { items, findings } = await checkStore(store);
  if (findings.length > 0) return fail(`${describeStore(store)}: ${findings.join("; ")}`, damagedAdvice());
  const names = (await listsOf(store)).flatMap(({ owner, name }) => (owner === "" ? [name] : []));
  const mismatch = listMismatchIn({ itemCount: items, names }, offered);
  if (mismatch !== undefined) return fail(`${describeStore(store)}: ${mismatch}`, cannotStart);
  return pass(`${describeStore(store)}: sound, ${countOf(items)}`);
}

/** May other users of this machine read or change the files that hold secrets, or see the database's password? */
function* checkSecrets({ users, tlsKey, store }: Settings, args: readonly string[]): Generator<DoctorFinding> {
  if (store.engine === "postgres" && store.password !== undefined && args.some((word) => word.includes("://")))
    yield warn(
      "the password of the database is an argument, which other users of this machine can see",
      "set TODOITEMS_STORE instead of --store",
    );
  for (const { text, hint } of exposedFiles([users, tlsKey, store.engine === "sqlite" ? store.path : undefined]))
    yield fail(text, hint);
}

const dayMs = 86_400_000;
/** Tools such as certbot renew a certificate 30 days before it expires. With fewer days left, that has failed. */
const renewalDays = 21;

/** Can the certificate for HTTPS be used, and for how long? */
function* checkCertificate({ httpsPort, tlsCert, tlsKey }: Settings): Generator<DoctorFinding> {
  if (httpsPort === undefined) return;
  if (tlsCert === undefined || tlsKey === undefined) {
    yield warn(
      "HTTPS uses a development certificate, which other machines do not trust",
      "for real clients, give a certificate with --tls-cert and --tls-key",
    );
    return;
  }
  const { validFrom, validTo } = new X509Certificate(readCertificate({ cert: tlsCert, key: tlsKey }).cert);
  const days = Math.floor((Date.parse(validTo) - Date.now()) / dayMs);
  const text = `${tlsCert} is valid for ${days} more days`;
  if (Date.parse(validFrom) > Date.now()) yield fail(`${tlsCert} is valid from ${validFrom} on`, "check the clock");
  else yield days < renewalDays ? warn(text, "renew it; the service reads the new files by itself") : pass(text);
}

/** The checks by area, in the order of the table. */
export const checks: Readonly<Record<string, Check>> = {
  Settings: checkSettings,
  Store: checkTheStore,
  Secrets: checkSecrets,
  Certificate: checkCertificate,
};
