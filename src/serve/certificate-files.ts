// Finds the certificate for HTTPS: the operator's own, or a development certificate in the user's data folder. Checks
// that it can be used.

import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createSecureContext } from "node:tls";
import { systemReason } from "../files/system-reason.ts";
import type { Log } from "../http/log.ts";
import { asTyped } from "../program-name.ts";
import { dataFolder } from "../tls/data-folder.ts";
import type { CertificateFiles, DevelopmentCertificate } from "../tls/development-certificate.ts";
import type { Certificate } from "../wire/listen.ts";
import type { Environment } from "./environment.ts";
import type { Settings } from "./settings-table.ts";

const rsaBitsMin = 2048;

/** The certificate cannot be used. `message` says which file is at fault and why. */
export class CertificateError extends Error {
  override readonly name = "CertificateError";
}

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
  await import("../tls/reflect-metadata.ts");
  const { developmentCertificate } = await import("../tls/development-certificate.ts");
  const folder = join(dataFolder(environment), "https");
  try {
    return await developmentCertificate(folder);
  } catch (error) {
    throw new CertificateError(`${folder}: the development certificate cannot be made: ${systemReason(error)}`);
  }
}

/** Reads a certificate and its key, and checks that they belong together and can be used. */
export function readCertificate({ cert, key }: CertificateFiles): Certificate {
  const certificate = readPem(cert, "certificate");
  const privateKey = readPem(key, "key");
  refuseOtherContent({ path: cert, pem: certificate, part: "certificate" }, privateKey);
  refuseOtherContent({ path: key, pem: privateKey, part: "key" }, certificate);
  const parsed = parse(cert, "certificate", () => new X509Certificate(certificate));
  const parsedKey = parse(key, "key", () => createPrivateKey(privateKey));
  if (!parsed.checkPrivateKey(parsedKey))
    throw new CertificateError(`${key}: this is not the key of the certificate ${cert}`);
  if (new Date(parsed.validTo) < new Date())
    throw new CertificateError(`${cert}: the certificate expired on ${parsed.validTo}`);
  const bits = parsed.publicKey.asymmetricKeyDetails?.modulusLength;
  // Clients refuse weaker keys, with error messages that are hard to understand. So refuse them here, with a clear one.
  if (bits !== undefined && bits < rsaBitsMin)
    throw new CertificateError(`${cert}: an RSA key of ${bits} bits is too weak; use one of ${rsaBitsMin} or more`);
  // Parse the whole chain now, as the listener will do later, so that a mistake in it is reported here.
  parse(cert, "certificate", () => createSecureContext({ cert: certificate, key: privateKey }));
  return { cert: certificate, key: privateKey };
}

type Part = "certificate" | "key";

function readPem(path: string, part: Part): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new CertificateError(`${path}: the ${part} cannot be read: ${systemReason(error)}`, { cause: error });
  }
}

/** The kinds of content of a PEM file, as its labels name them, such as `CERTIFICATE` and `EC PRIVATE KEY`. */
function labelsIn(pem: string): string[] {
  return [...pem.matchAll(/^-----BEGIN ([A-Z0-9 ]+)-----/gm)].map(([, label = ""]) => label);
}

const partOf: Readonly<Record<Part, (label: string) => boolean>> = {
  certificate: (label) => label.endsWith("CERTIFICATE"),
  key: (label) => label.endsWith("PRIVATE KEY"),
};

/**
 * Refuses a file that contains something else than it should. `otherPem` is the content of the other file: if each
 * file is what the other one should be, the two are exchanged.
 */
function refuseOtherContent(
  { path, pem, part }: { readonly path: string; readonly pem: string; readonly part: Part },
  otherPem: string,
): void {
  const labels = labelsIn(pem);
  const isWanted = partOf[part];
  const [first] = labels;
  if (first !== undefined && !labels.some(isWanted)) {
    const other = partOf[part === "key" ? "certificate" : "key"];
    const isExchanged = labels.some(other) && labelsIn(otherPem).some(isWanted);
    const found = labels.some(partOf.key) ? "private key" : first.toLowerCase();
    throw new CertificateError(
      `${path}: this file contains a ${found} and not a ${part === "key" ? "private key" : part}${isExchanged ? ". Perhaps --tls-cert and --tls-key are exchanged" : ""}`,
    );
  }
  if (part === "key" && (labels.includes("ENCRYPTED PRIVATE KEY") || /^Proc-Type: 4,ENCRYPTED/m.test(pem)))
    throw new CertificateError(
      `${path}: the key is encrypted. Give a key without a passphrase, as made by: openssl pkey -in ${path} -out NEW`,
    );
}

// The messages of the TLS library's errors name its internal functions, so these messages are not shown.
function parse<Result>(path: string, part: Part, action: () => Result): Result {
  try {
    return action();
  } catch (error) {
    throw new CertificateError(`${path}: the ${part} cannot be used: it is not a PEM file, or a damaged one`, {
      cause: error,
    });
  }
}
