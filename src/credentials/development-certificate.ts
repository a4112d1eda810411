// HTTPS on a developer's machine. A certificate authority is created once, and the developer trusts it by hand. The
// authority signs a certificate for this machine. That certificate is renewed automatically.
//
// The authority is named exactly `CN=localhost`. The debug builds of the tutorial's apps accept any certificate from an
// issuer with that name, because the development certificate of .NET has the same issuer (docs/decisions, 61).
// Why: docs/decisions/0009-https.md, docs/decisions/0061-an-authority-named-localhost.md

import "./reflect-metadata.ts";
import { createPrivateKey, X509Certificate as ParsedCertificate } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
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
  PemConverter,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from "@peculiar/x509";
import { replaceFile } from "../files/synced-file.ts";
import { nameConstraints, permits } from "./name-constraints.ts";

export interface CertificateFiles {
  readonly cert: string;
  /** May be the same file. */
  readonly key: string;
}

export interface DevelopmentCertificate extends CertificateFiles {
  /** The file with the authority's certificate, which clients must trust. */
  readonly authorityCert: string;
  /**
   * The names and addresses of this machine for which the certificate is valid. Names that the machine got after the
   * authority was made are missing: the authority may not certify them.
   */
  readonly names: readonly string[];
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
  const authorityFile = join(folder, "authority-key.pem");
  const replacedAuthority = await ensure(authorityFile, isAuthority, () => makeAuthority(now), now);
  const authority = new X509Certificate(readFileSync(authorityFile, "utf8"));
  // Clients get the authority's certificate from a file of its own, without the key.
  const authorityCert = join(folder, "authority.pem");
  const authorityPem = `${authority.toString("pem")}\n`;
  if (!existsSync(authorityCert) || readFileSync(authorityCert, "utf8") !== authorityPem)
    replaceFile(authorityCert, authorityPem, authorityCert);
  const names = machineNames().filter((name) => permits(authority, name));
  const file = join(folder, "certificate-key.pem");
  const { publicKey } = new ParsedCertificate(authorityPem);
  const isCurrent = (certificate: ParsedCertificate) => certificate.verify(publicKey) && isFor(certificate, names);
  await ensure(file, isCurrent, async () => makeCertificate(authority, await readKey(authorityFile), names, now), now);
  return { cert: file, key: file, authorityCert, names, replacedAuthority };
}

/**
 * Makes a certificate with its key, both in one file, unless the file has one that `isWanted` and that does not expire
 * soon. Returns whether an older file was replaced.
 */
async function ensure(
  path: string,
  isWanted: (certificate: ParsedCertificate) => boolean,
  make: () => Promise<string>,
  now: Date,
): Promise<boolean> {
  const isThere = existsSync(path);
  if (isThere && isUsable(path, isWanted, now)) return false;
  replaceFile(path, await make(), path);
  return isThere;
}

/** True if the file has a wanted certificate with its key, and the certificate does not expire soon. */
function isUsable(path: string, isWanted: (certificate: ParsedCertificate) => boolean, now: Date): boolean {
  try {
    const pem = readFileSync(path);
    const certificate = new ParsedCertificate(pem);
    const isFresh = new Date(certificate.validTo).getTime() - now.getTime() > renewalDays * dayMs;
    return isFresh && certificate.checkPrivateKey(createPrivateKey(pem)) && isWanted(certificate);
  } catch (error) {
    // The file is truncated or corrupt, so a new certificate is created.
    if (error instanceof Error) return false;
    throw error;
  }
}

function isAuthority({ subject }: ParsedCertificate): boolean {
  return subject === authorityName;
}

function isFor(certificate: ParsedCertificate, names: readonly string[]): boolean {
  return names.every((name) => (isIP(name) ? certificate.checkIP(name) : certificate.checkHost(name)) !== undefined);
}

/** The names and addresses under which clients reach this machine. An Android emulator reaches its host at 10.0.2.2. */
export function machineNames(): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  const usable = addresses.filter(({ address }) => !address.startsWith("fe80:")).map(({ address }) => address);
  return [...new Set(["localhost", "127.0.0.1", "::1", "10.0.2.2", hostname(), ...usable])];
}

async function makeAuthority(now: Date): Promise<string> {
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    ...lifetime(now, authorityDays),
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
  return pemOf(certificate, keys.privateKey);
}

async function makeCertificate(
  issuer: X509Certificate,
  signingKey: CryptoKey,
  names: readonly string[],
  now: Date,
): Promise<string> {
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const certificate = await X509CertificateGenerator.create({
    ...lifetime(now, certificateDays),
    issuer: issuer.subject,
    // This must never be the issuer's name, not even on a machine called localhost. Otherwise the certificate would
    // look self-signed.
    subject: `CN=todoitems on ${nameOfMachine()}`,
    signingAlgorithm: algorithm,
    signingKey,
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
  return pemOf(certificate, keys.privateKey);
}

function lifetime(now: Date, days: number): { notBefore: Date; notAfter: Date } {
  // The certificate is valid from yesterday on, so that clients whose clocks are behind accept it.
  return { notBefore: new Date(now.getTime() - dayMs), notAfter: new Date(now.getTime() + days * dayMs) };
}

// The machine's name. Commas and similar characters are replaced, because they have a special meaning in the names of a
// certificate.
function nameOfMachine(): string {
  return hostname().replaceAll(/[^A-Za-z0-9.-]/g, "-");
}

async function pemOf(certificate: X509Certificate, privateKey: CryptoKey): Promise<string> {
  const key = PemConverter.encode(await crypto.subtle.exportKey("pkcs8", privateKey), PemConverter.PrivateKeyTag);
  return `${certificate.toString("pem")}\n${key}\n`;
}

function readKey(path: string): Promise<CryptoKey> {
  const der = createPrivateKey(readFileSync(path)).export({ type: "pkcs8", format: "der" });
  return crypto.subtle.importKey("pkcs8", der, algorithm, false, ["sign"]);
}
