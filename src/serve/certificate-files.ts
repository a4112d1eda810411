// Finds the certificate for HTTPS: the operator's own, or a development certificate in the user's data folder. Checks
// that it can be used.

import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createSecureContext } from "node:tls";
import { dataFolder } from "../credentials/data-folder.ts";
import type { CertificateFiles, DevelopmentCertificate } from "../credentials/development-certificate.ts";
import { systemReason } from "../files/system-reason.ts";
import type { Log } from "../http/log.ts";
import type { Environment } from "../terminal/environment.ts";
import { asTyped } from "../terminal/program-name.ts";
import type { Certificate } from "../wire/listen.ts";
import { FixableError } from "./fixable-error.ts";
import type { Settings } from "./settings-table.ts";

export async function certificateFiles(
  { tlsCert, tlsKey }: Settings,
  environment: Environment,
  log: Log,
): Promise<CertificateFiles> {
  if (tlsCert !== undefined && tlsKey !== undefined) return { cert: tlsCert, key: tlsKey };
  const files = await openDevelopmentCertificate(environment);
  if (files.replacedAuthority) log("warn", authorityWasReplaced());
  return files;
}

/** The message for people who trusted the old authority. It says what they have to do. */
export function authorityWasReplaced(): string {
  return `There is a new development authority, because the old one was made by an older version, was damaged or was about to expire. Clients that trusted the old one have to trust the new one: ${asTyped("certificate")} shows how`;
}

// The imports are dynamic, because the X.509 library doubles the program's start-up time. The library needs
// reflect-metadata, which is therefore imported first, in a separate step. If a single import loaded both, the runtime
// might load them in the wrong order when the machine is busy.
export async function openDevelopmentCertificate(environment: Environment): Promise<DevelopmentCertificate> {
  await import("../credentials/reflect-metadata.ts");
  const { developmentCertificate } = await import("../credentials/development-certificate.ts");
  const folder = join(dataFolder(environment), "https");
  try {
    return await developmentCertificate(folder);
  } catch (error) {
    throw new FixableError(`${folder}: the development certificate cannot be made: ${systemReason(error)}`);
  }
}

/** Reads a certificate and its key. Throws a `FixableError` unless they belong together and can be used. */
export function readCertificate(files: CertificateFiles): Certificate {
  const [cert, key] = [readPem(files.cert, "certificate"), readPem(files.key, "key")];
  const parsed = parse(files.cert, "certificate", () => new X509Certificate(cert));
  const parsedKey = parse(files.key, "private key without a passphrase", () => createPrivateKey(key));
  if (!parsed.checkPrivateKey(parsedKey))
    throw new FixableError(`${files.key}: this is not the key of the certificate ${files.cert}`);
  if (new Date(parsed.validTo) < new Date())
    throw new FixableError(`${files.cert}: the certificate expired on ${parsed.validTo}`);
  // Parse the whole chain now, as the listener will do later, so that a mistake in it is reported here.
  parse(files.cert, "certificate", () => createSecureContext({ cert, key }));
  return { cert, key };
}

function readPem(path: string, part: "certificate" | "key"): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new FixableError(`${path}: the ${part} cannot be read: ${systemReason(error)}`, { cause: error });
  }
}

// The messages of the TLS library's errors name its internal functions, so these messages are not shown.
function parse<Result>(path: string, expected: string, action: () => Result): Result {
  try {
    return action();
  } catch (error) {
    throw new FixableError(`${path}: this is not a PEM file of a ${expected}, or it is damaged`, { cause: error });
  }
}
