// HTTPS on a developer's machine. A certificate authority is created once, and the developer trusts it by hand. The
// authority signs a certificate for this machine. That certificate is renewed automatically.
//
// The authority is named exactly `CN=localhost`. The debug builds of the tutorial's apps accept any certificate from an
// issuer with that name, because the development certificate of .NET has the same issuer (docs/decisions, 61).

import "./reflect-metadata.ts";
import { createPrivateKey, X509Certificate as ParsedCertificate, randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { isIP } from "node:net";
import { hostname, networkInterfaces } from "node:os";
import { join } from "node:path";
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from "@peculiar/x509";
import { withFileLock } from "../files/file-lock.ts";
import { nameConstraints, permits } from "./name-constraints.ts";

export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

export interface DevelopmentCertificate extends CertificateFiles {
  /** The file with the authority's certificate, which clients must trust. */
  readonly authorityCert: string;
  /** The names and addresses of this machine for which the certificate is valid. */
  readonly names: readonly string[];
  /**
   * Names of this machine for which the certificate is not valid. The authority's certificate lists the names that it
   * may certify, and the machine got these names later.
   */
  readonly otherNames: readonly string[];
  /** True if an older authority could not be used and was replaced. Clients then have to trust the new one. */
  readonly replacedAuthority: boolean;
}

const authorityName = "CN=localhost";

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const dayMs = 86_400_000;
const authorityDays = 3_650;
// Must stay below 825 days. Apple's systems refuse longer-lived certificates, even if their authority is trusted by
// hand.
const certificateDays = 397;
const renewalDays = 30;

/**
 * The certificate in this folder. A new one is made if there is none, or if the existing one is damaged, expires soon,
 * lacks a name of this machine, or was not signed by the authority in this folder.
 */
export async function developmentCertificate(folder: string, now = new Date()): Promise<DevelopmentCertificate> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return withFileLock(join(folder, "certificate"), () => openCertificate(folder, now));
}

async function openCertificate(folder: string, now: Date): Promise<DevelopmentCertificate> {
  const authority = { cert: join(folder, "authority.pem"), key: join(folder, "authority-key.pem") };
  const files = { cert: join(folder, "certificate.pem"), key: join(folder, "certificate-key.pem") };
  const replacedAuthority = existsSync(authority.cert) && !isUsableAuthority(authority, now);
  if (!isUsableAuthority(authority, now)) await makeAuthority(authority, now);
  const { names, otherNames } = certifiableNames(authority);
  if (!isUsable(files, now) || !isFor(files, names) || !isSignedBy(files, authority))
    await makeCertificate(files, authority, names, now);
  return { ...files, authorityCert: authority.cert, names, otherNames, replacedAuthority };
}

function certifiableNames(authority: CertificateFiles): Pick<DevelopmentCertificate, "names" | "otherNames"> {
  const certificate = new X509Certificate(readFileSync(authority.cert, "utf8"));
  const all = machineNames();
  const names = all.filter((name) => permits(certificate, name));
  return { names, otherNames: all.filter((name) => !names.includes(name)) };
}

/** The names and addresses under which clients reach this machine. An Android emulator reaches its host at 10.0.2.2. */
export function machineNames(): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  const usable = addresses.filter(({ address }) => !address.startsWith("fe80:")).map(({ address }) => address);
  return [...new Set(["localhost", "127.0.0.1", "::1", "10.0.2.2", hostname(), ...usable])];
}

/** True if the certificate and its key exist, belong together, and do not expire soon. */
function isUsable({ cert, key }: CertificateFiles, now: Date): boolean {
  try {
    const certificate = new ParsedCertificate(readFileSync(cert));
    if (!certificate.checkPrivateKey(createPrivateKey(readFileSync(key)))) return false;
    return new Date(certificate.validTo).getTime() - now.getTime() > renewalDays * dayMs;
  } catch (error) {
    // A file is missing, truncated or corrupt. In each case a new certificate is created.
    if (error instanceof Error) return false;
    throw error;
  }
}

function isUsableAuthority(files: CertificateFiles, now: Date): boolean {
  return isUsable(files, now) && new ParsedCertificate(readFileSync(files.cert)).subject === authorityName;
}

function isFor({ cert }: CertificateFiles, names: readonly string[]): boolean {
  const parsed = new ParsedCertificate(readFileSync(cert));
  return names.every((name) => (isIP(name) ? parsed.checkIP(name) : parsed.checkHost(name)) !== undefined);
}

function isSignedBy(files: CertificateFiles, authority: CertificateFiles): boolean {
  return new ParsedCertificate(readFileSync(files.cert)).verify(
    new ParsedCertificate(readFileSync(authority.cert)).publicKey,
  );
}

async function makeAuthority(files: CertificateFiles, now: Date): Promise<void> {
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    ...lifetime(now, authorityDays),
    serialNumber: serialNumber(),
    name: authorityName,
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      nameConstraints(machineNames()),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  await save(files, certificate, keys.privateKey);
}

async function makeCertificate(
  files: CertificateFiles,
  authority: CertificateFiles,
  names: readonly string[],
  now: Date,
): Promise<void> {
  const issuer = new X509Certificate(readFileSync(authority.cert, "utf8"));
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const certificate = await X509CertificateGenerator.create({
    ...lifetime(now, certificateDays),
    serialNumber: serialNumber(),
    issuer: issuer.subject,
    // This must never be the issuer's name, not even on a machine called localhost. Otherwise the certificate would
    // look self-signed.
    subject: `CN=todoitems on ${nameOfMachine()}`,
    signingAlgorithm: algorithm,
    signingKey: await readKey(authority.key),
    publicKey: keys.publicKey,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension(names.map((value) => ({ type: isIP(value) ? "ip" : "dns", value }))),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
      await AuthorityKeyIdentifierExtension.create(issuer),
    ],
  });
  await save(files, certificate, keys.privateKey);
}

function lifetime(now: Date, days: number): { notBefore: Date; notAfter: Date } {
  // The certificate is valid from yesterday on, so that clients whose clocks are behind accept it.
  return { notBefore: new Date(now.getTime() - dayMs), notAfter: new Date(now.getTime() + days * dayMs) };
}

/** A random positive number, long enough to be unique. */
function serialNumber(): string {
  return `01${randomBytes(15).toString("hex")}`;
}

// The machine's name. Commas and similar characters are replaced, because they have a special meaning in the names of a
// certificate.
function nameOfMachine(): string {
  return hostname().replaceAll(/[^A-Za-z0-9.-]/g, "-");
}

async function save(files: CertificateFiles, certificate: X509Certificate, privateKey: CryptoKey): Promise<void> {
  const key = Buffer.from(await crypto.subtle.exportKey("pkcs8", privateKey)).toString("base64");
  replace(
    files.key,
    `-----BEGIN PRIVATE KEY-----\n${key.replaceAll(/.{64}/g, "$&\n").trimEnd()}\n-----END PRIVATE KEY-----\n`,
  );
  replace(files.cert, `${certificate.toString("pem")}\n`);
}

async function readKey(path: string): Promise<CryptoKey> {
  const base64 = readFileSync(path, "utf8").replaceAll(/-----[^-]+-----|\s/g, "");
  return crypto.subtle.importKey("pkcs8", Buffer.from(base64, "base64"), algorithm, false, ["sign"]);
}

function replace(path: string, text: string): void {
  writeFileSync(`${path}.new`, text, { mode: 0o600 });
  chmodSync(`${path}.new`, 0o600);
  renameSync(`${path}.new`, path);
}
