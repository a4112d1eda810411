import "reflect-metadata";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { createPrivateKey, generateKeyPairSync, X509Certificate } from "node:crypto";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import {
  X509Certificate as AuthorityCertificate,
  PemConverter,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from "@peculiar/x509";
import { dataFolder } from "../../src/credentials/data-folder.ts";
import { developmentCertificate, machineNames } from "../../src/credentials/development-certificate.ts";
import { permits } from "../../src/credentials/name-constraints.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.dispose());

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const parse = (path: string) => new X509Certificate(readFileSync(path));
const days = (count: number) => new Date(Date.now() + count * 86_400_000);

test("the certificate is signed by the authority and valid for all names of this machine", async () => {
  const { cert, authorityCert } = await developmentCertificate(folder.path);
  const [certificate, authority] = [parse(cert), parse(authorityCert)];
  expect(authority.ca).toBe(true);
  expect(authority.verify(authority.publicKey)).toBe(true);
  expect(certificate.ca).toBe(false);
  expect(certificate.checkIssued(authority)).toBe(true);
  expect(certificate.verify(authority.publicKey)).toBe(true);
  expect(certificate.checkHost("localhost")).toBe("localhost");
  for (const address of ["127.0.0.1", "::1", "10.0.2.2"]) expect(certificate.checkIP(address)).toBe(address);
  expect(machineNames()).toContain("10.0.2.2");
  expect(certificate.checkHost("example.com")).toBeUndefined();
});

test("the issuer is exactly CN=localhost, and the certificate does not look self-signed", async () => {
  const { cert } = await developmentCertificate(folder.path);
  expect(parse(cert).issuer).toBe("CN=localhost");
  expect(parse(cert).subject).not.toBe("CN=localhost");
});

test("an authority with another name is replaced, and the certificate with it", async () => {
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const old = await X509CertificateGenerator.createSelfSigned({ name: "CN=an older version", keys });
  const key = PemConverter.encode(await crypto.subtle.exportKey("pkcs8", keys.privateKey), "PRIVATE KEY");
  writeFileSync(join(folder.path, "authority-key.pem"), `${old.toString("pem")}\n${key}`);
  const { cert, authorityCert, replacedAuthority } = await developmentCertificate(folder.path);
  expect(replacedAuthority).toBe(true);
  expect(parse(authorityCert).subject).toBe("CN=localhost");
  expect(parse(cert).verify(parse(authorityCert).publicKey)).toBe(true);
  expect((await developmentCertificate(folder.path)).replacedAuthority).toBe(false);
});

for (const [name, isAccepted] of [
  ["localhost", true],
  ["phone.local", true],
  ["example.com", false],
  ["localhost.example.com", false],
] as const) {
  test(`clients that trust the authority ${isAccepted ? "accept" : "refuse"} a certificate that its key signed for ${name}`, async () => {
    const { authorityCert } = await developmentCertificate(folder.path);
    const authority = readFileSync(authorityCert, "utf8");
    const signingKey = createPrivateKey(readFileSync(join(folder.path, "authority-key.pem"))).export({
      type: "pkcs8",
      format: "der",
    });
    const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
    const certificate = await X509CertificateGenerator.create({
      issuer: "CN=localhost",
      subject: "CN=stolen key",
      publicKey: keys.publicKey,
      signingKey: await crypto.subtle.importKey("pkcs8", signingKey, algorithm, false, ["sign"]),
      signingAlgorithm: algorithm,
      extensions: [new SubjectAlternativeNameExtension([{ type: "dns", value: name }])],
    });
    const key = PemConverter.encode(await crypto.subtle.exportKey("pkcs8", keys.privateKey), "PRIVATE KEY");
    using server = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      tls: { cert: certificate.toString("pem"), key },
      socket: { data() {} },
    });
    const handshake = new Promise<void>((resolve, reject) => {
      const socket = connect({ port: server.port, host: "127.0.0.1", servername: name, ca: authority });
      socket.once("secureConnect", () => resolve(void socket.destroy())).once("error", reject);
    });
    if (isAccepted) await handshake;
    else await expect(handshake).rejects.toThrow("permitted subtree violation");
  });
}

test("only the owner can read the certificates and keys", async () => {
  const { cert, key, authorityCert } = await developmentCertificate(folder.path);
  for (const path of [cert, key, authorityCert, join(folder.path, "authority-key.pem")])
    expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("the certificate is renewed before it expires, and the authority stays the same, so it is trusted only once", async () => {
  const first = await developmentCertificate(folder.path);
  const before = [readFileSync(first.cert, "utf8"), readFileSync(first.authorityCert, "utf8")];
  await developmentCertificate(folder.path, days(300));
  expect(readFileSync(first.cert, "utf8")).toBe(before[0] ?? "");
  await developmentCertificate(folder.path, days(370));
  expect(readFileSync(first.cert, "utf8")).not.toBe(before[0] ?? "");
  expect(readFileSync(first.authorityCert, "utf8")).toBe(before[1] ?? "");
  expect(new Date(parse(first.cert).validTo) > days(700)).toBe(true);
});

test("a certificate from another authority, or without its key, is replaced", async () => {
  const { cert, authorityCert } = await developmentCertificate(folder.path);
  const other = temporaryFolder();
  const foreign = await developmentCertificate(other.path);
  writeFileSync(cert, readFileSync(foreign.cert));
  other.dispose();
  await developmentCertificate(folder.path);
  expect(parse(cert).verify(parse(authorityCert).publicKey)).toBe(true);
  writeFileSync(cert, parse(cert).toString());
  await developmentCertificate(folder.path);
  expect(parse(cert).checkPrivateKey(createPrivateKey(readFileSync(cert)))).toBe(true);
});

for (const name of ["authority.pem", "authority-key.pem", "certificate-key.pem"]) {
  for (const [kind, damage] of [
    ["empty", () => ""],
    ["cut off", (text: string) => text.slice(0, text.length / 2)],
    [
      "a key of somebody else",
      () =>
        generateKeyPairSync("ec", { namedCurve: "P-256" })
          .privateKey.export({ type: "pkcs8", format: "pem" })
          .toString(),
    ],
  ] as const) {
    test(`if ${name} is ${kind}, it is replaced together with the files that depend on it`, async () => {
      await developmentCertificate(folder.path);
      const path = join(folder.path, name);
      writeFileSync(path, damage(readFileSync(path, "utf8")));
      const { cert, key, authorityCert } = await developmentCertificate(folder.path);
      expect(parse(cert).verify(parse(authorityCert).publicKey)).toBe(true);
      expect(parse(cert).checkPrivateKey(createPrivateKey(readFileSync(key)))).toBe(true);
    });
  }
}

test("the certificate is in the folder that each operating system has for a user's data", () => {
  expect(dataFolder({ XDG_DATA_HOME: "/data" }, "linux")).toBe("/data/todoitems");
  expect(dataFolder({}, "linux")).toEndWith("/.local/share/todoitems");
  expect(dataFolder({}, "darwin")).toEndWith("/Library/Application Support/todoitems");
  expect(dataFolder({ LOCALAPPDATA: "C:\\Users\\ann\\AppData\\Local" }, "win32")).toContain("AppData");
});

test("the authority certifies local names and the machine's names at its making, and no name that comes later", async () => {
  const { authorityCert, names } = await developmentCertificate(folder.path);
  const authority = new AuthorityCertificate(readFileSync(authorityCert, "utf8"));
  expect(names).toEqual(machineNames());
  for (const name of ["localhost", "phone.local", "203.0.113.7", hostname()])
    expect(permits(authority, name)).toBe(true);
  for (const name of ["renamed-machine", "example.com", "notlocalhost"]) expect(permits(authority, name)).toBe(false);
});
