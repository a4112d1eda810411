// Tests HTTPS as clients see it: real handshakes with the program, HTTP beside HTTPS, and a certificate that changes.

import { checkedFetch } from "../description/checked-answer.ts";
import "reflect-metadata";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { connect, type SecureVersion, type TLSSocket } from "node:tls";
import { PemConverter, X509CertificateGenerator } from "@peculiar/x509";
import { developmentCertificate } from "../../src/credentials/development-certificate.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { eventually } from "../eventually.ts";
import { Program, runProgram } from "../program.ts";
import { ids, item } from "../service.ts";

let folder: ReturnType<typeof temporaryFolder>;
let environment: Record<string, string>;
let authority: string;
const started: Program[] = [];

beforeEach(() => {
  folder = temporaryFolder();
  environment = { XDG_DATA_HOME: folder.path, HOME: folder.path };
  authority = join(folder.path, "todoitems", "https", "authority.pem");
});

afterEach(async () => {
  for (const program of started.splice(0)) await program.stop("SIGKILL");
  folder.dispose();
});

async function serve(...args: string[]): Promise<Program> {
  const program = await Program.start({ environment, args: ["--store", "memory:", "--https-port", "0", ...args] });
  started.push(program);
  return program;
}

/** Makes a certificate. It and its key are in different files, as an operator's usually are. */
async function separateFiles(name: string) {
  const { cert: both, authorityCert } = await developmentCertificate(join(folder.path, name));
  const [cert, key] = [`${both}.cert`, `${both}.key`];
  writeFileSync(cert, new X509Certificate(readFileSync(both)).toString());
  writeFileSync(key, createPrivateKey(readFileSync(both)).export({ type: "pkcs8", format: "pem" }));
  return { cert, key, authorityCert };
}

/**
 * Starts a service that uses the first of two certificates. A test can overwrite the files of the first with the
 * second.
 */
async function serveReplaceable() {
  const [one, two] = [await separateFiles("1"), await separateFiles("2")];
  const [cert, key] = [join(folder.path, "cert.pem"), join(folder.path, "key.pem")];
  copyFileSync(one.cert, cert);
  copyFileSync(one.key, key);
  const program = await serve("--port", "off", "--tls-cert", cert, "--tls-key", key);
  return { program, one, two, cert, key };
}

const portOf = (origin = "") => Number(new URL(origin).port);

/** Connects as a client that trusts this authority. */
function handshake(
  port: number,
  ca: string,
  options: { minVersion?: SecureVersion; maxVersion?: SecureVersion; ALPNProtocols?: string[] } = {},
): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", servername: "localhost", ca: readFileSync(ca), ...options });
    socket.once("secureConnect", () => resolve(socket)).once("error", reject);
  });
}

describe("HTTPS", () => {
  test("HTTPS works next to HTTP or alone, and each listener has a ready line", async () => {
    const both = await serve("--port", "0");
    expect(both.origins.map((origin) => new URL(origin).protocol)).toEqual(["http:", "https:"]);
    const alone = await serve("--port", "off");
    expect(alone.origins.map((origin) => new URL(origin).protocol)).toEqual(["https:"]);
    expect((await alone.stop()).stdout).toContain("HTTPS        development certificate");
  });

  test("only clients that trust the development authority accept the certificate", async () => {
    const program = await serve("--port", "off");
    const tls = { ca: readFileSync(authority, "utf8") };
    const created = await checkedFetch(`https://localhost:${portOf(program.origin)}/api/todoitems/`, {
      method: "POST",
      body: item(ids.one),
      headers: { "Content-Type": "application/json" },
      tls,
    });
    expect(created.status).toBe(201);
    expect(await (await checkedFetch(`${program.origin}/api/todoitems/`, { tls })).text()).toBe(`[${item(ids.one)}]`);
    await expect(checkedFetch(`${program.origin}/api/todoitems/`)).rejects.toThrow();
  });

  test("a handshake that fails is logged once per address, with its reason", async () => {
    const program = await serve("--port", "off");
    const url = `${program.origin}/api/todoitems/`;
    // Use curl, which refuses the certificate during the handshake. The runtime's own `fetch` completes the handshake
    // before it looks at the certificate, so the service would not notice the refusal.
    const refuse = (address: string) =>
      Bun.spawnSync(["curl", "--silent", address], { env: { NO_PROXY: "*" } }).exitCode;
    for (let count = 0; count < 3; count++) expect(refuse(url)).toBe(60);
    expect(await program.stderrLine()).toMatch(
      /A client at 127\.0\.0\.1 did not complete the TLS handshake \((CERTIFICATE_REFUSED|TLSV1_ALERT_UNKNOWN_CA)\)\. It may not trust the development certificate: todoitems certificate shows what to trust/,
    );
    expect(refuse(url.replace("127.0.0.1", "[::1]"))).toBe(60);
    expect(await program.stderrLine()).toContain("A client at ::1 did not complete the TLS handshake");
  });

  test("plain HTTP to the port is not called a certificate that is not trusted", async () => {
    const program = await serve("--port", "off");
    for (const [method, loopback] of Object.entries({ GET: "127.0.0.1", DELETE: "[::1]" })) {
      const url = `http://${loopback}:${portOf(program.origin)}/`;
      Bun.spawnSync(["curl", "--silent", "--request", method, url], { env: { NO_PROXY: "*" } });
      expect(await program.stderrLine()).toMatch(/ did not speak TLS \(\w+\)\. It probably sent plain HTTP/);
    }
  });

  test("an authority of an older version is replaced with a line in the log, and the apps' issuer is served", async () => {
    await (await serve("--port", "off")).stop();
    const keys = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
    const signingAlgorithm = { name: "ECDSA", hash: "SHA-256" };
    const old = await X509CertificateGenerator.createSelfSigned({ name: "CN=older version", keys, signingAlgorithm });
    writeFileSync(join(dirname(authority), "authority-key.pem"), old.toString("pem"));
    const program = await serve("--port", "off");
    expect(await program.stderrLine()).toContain("There is a new development authority");
    const socket = await handshake(portOf(program.origin), authority);
    expect(socket.getPeerCertificate().issuer).toEqual({ CN: "localhost" });
    socket.destroy();
  });

  test("a client that offers HTTP/2 and HTTP/1.1 gets HTTP/1.1, and is served", async () => {
    const program = await serve("--port", "off");
    const socket = await handshake(portOf(program.origin), authority, { ALPNProtocols: ["h2", "http/1.1"] });
    expect(socket.alpnProtocol).toBe("http/1.1");
    let received = "";
    socket.on("data", (data) => (received += data));
    socket.write("GET /api/todoitems/ HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await eventually(() => received.endsWith("[]"));
    expect(received).toStartWith("HTTP/1.1 200 OK\r\n");
    socket.destroy();
  });

  test("a client that offers only HTTP/2 is refused in the handshake, and the log has the reason", async () => {
    const program = await serve("--port", "off");
    const refused = handshake(portOf(program.origin), authority, { ALPNProtocols: ["h2"] });
    await expect(refused).rejects.toThrow("NO_APPLICATION_PROTOCOL");
    expect(await program.stderrLine()).toContain("(NO_APPLICATION_PROTOCOL)");
  });

  test("HTTPS accepts TLS 1.2 and 1.3, and refuses older versions", async () => {
    const program = await serve("--port", "off");
    const port = portOf(program.origin);
    for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
      const socket = await handshake(port, authority, { maxVersion: version });
      expect(socket.getProtocol()).toBe(version);
      socket.destroy();
    }
    await expect(handshake(port, authority, { minVersion: "TLSv1", maxVersion: "TLSv1.1" })).rejects.toThrow();
  });

  test("HTTPS refuses a TLS 1.2 cipher that is not AEAD", async () => {
    const program = await serve("--port", "off");
    const weak = new Promise((resolve, reject) => {
      connect({
        port: portOf(program.origin),
        host: "127.0.0.1",
        ca: readFileSync(authority),
        maxVersion: "TLSv1.2",
        ciphers: "ECDHE-ECDSA-AES128-SHA",
      })
        .once("secureConnect", resolve)
        .once("error", reject);
    });
    await expect(weak).rejects.toThrow();
  });

  test("a new certificate is used without a restart, and the old one stays if the new one cannot be used", async () => {
    const { program, one, two, cert, key } = await serveReplaceable();
    const port = portOf(program.origin);
    (await handshake(port, one.authorityCert)).destroy();
    const half = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    for (const bad of ["nonsense", readFileSync(one.cert, "utf8") + half]) {
      writeFileSync(cert, bad);
      while (!(await program.stderrLine()).includes("The old certificate stays in use"));
      (await handshake(port, one.authorityCert)).destroy();
    }
    copyFileSync(two.key, key);
    copyFileSync(two.cert, cert);
    while (!(await program.stderrLine()).includes("read again"));
    (await handshake(port, two.authorityCert)).destroy();
    await expect(handshake(port, one.authorityCert)).rejects.toThrow();
  });

  test("connections stay open when the certificate changes, and every handshake succeeds", async () => {
    const { program, one, two, cert, key } = await serveReplaceable();
    const port = portOf(program.origin);
    const authorities = [one.authorityCert, two.authorityCert].map((file) => readFileSync(file, "utf8"));
    const kept = await handshake(port, one.authorityCert);
    let answers = 0;
    kept.on("data", (data) => (answers += String(data).split("HTTP/1.1 200").length - 1));
    let changing = true;
    let handshakes = 0;
    const newcomers = Array.from({ length: 4 }, async () => {
      while (changing) {
        const tls = { ca: authorities };
        const response = await checkedFetch(`https://localhost:${port}/api/todoitems/`, { tls, keepalive: false });
        expect(response.status).toBe(200);
        handshakes++;
      }
    });
    for (const next of [two, one, two]) {
      copyFileSync(next.key, key);
      copyFileSync(next.cert, cert);
      while (!(await program.stderrLine()).includes("read again"));
      kept.write("GET /api/todoitems/ HTTP/1.1\r\nHost: localhost\r\n\r\n");
    }
    changing = false;
    await Promise.all(newcomers);
    await eventually(() => answers === 3);
    expect(handshakes).toBeGreaterThan(10);
    expect(kept.destroyed).toBeFalse();
    kept.destroy();
  });

  test("a request that began before the certificate changed is answered, even if a stop follows", async () => {
    const { program, one, two, cert, key } = await serveReplaceable();
    const socket = await handshake(portOf(program.origin), one.authorityCert);
    let received = "";
    socket.on("data", (data) => (received += data));
    const closed = new Promise((resolve) => socket.once("close", resolve));
    const body = item(ids.one);
    socket.write(
      `POST /api/todoitems/ HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
    );
    await eventually(() => received.includes("100 Continue"));
    copyFileSync(two.key, key);
    copyFileSync(two.cert, cert);
    while (!(await program.stderrLine()).includes("read again"));
    program.kill("SIGTERM");
    expect(await program.stderrLine()).toContain("SIGTERM");
    socket.write(body);
    await closed;
    expect(received).toContain("201 Created");
    expect(await program.exited).toBe(0);
  });

  test("if the HTTPS port is in use, the error names the flag to change", async () => {
    const port = String(portOf((await serve("--port", "off")).origin));
    const { stderr } = await runProgram("serve", {
      environment,
      args: ["--port", "off", "--https-port", port, "--store", "memory:"],
    });
    expect(stderr).toContain("Choose another with --https-port");
  });

  test("the service does not start if the certificate is missing or malformed, or if the key does not match", async () => {
    const [one, two] = [await separateFiles("1"), await separateFiles("2")];
    const files = ["request.pem", "encrypted.pem", "letter.txt"].map((name) => join(folder.path, name));
    const [request = "", encrypted = "", letter = ""] = files;
    writeFileSync(request, PemConverter.encode(new Uint8Array(100), "CERTIFICATE REQUEST"));
    const secret = { type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "secret" } as const;
    writeFileSync(encrypted, createPrivateKey(readFileSync(one.key)).export(secret));
    writeFileSync(letter, "Dear Ann");
    const start = (cert: string, key: string) =>
      runProgram("serve", {
        environment,
        args: ["--port", "off", "--https-port", "0", "--store", "memory:", "--tls-cert", cert, "--tls-key", key],
      });
    for (const [cert, key, message] of [
      [join(folder.path, "none.pem"), one.key, "the certificate cannot be read"],
      [one.key, one.cert, `${one.key}: this is not a PEM file of a certificate`],
      [one.cert, one.cert, `${one.cert}: this is not a PEM file of a private key`],
      [request, one.key, `${request}: this is not a PEM file of a certificate`],
      [one.cert, encrypted, `${encrypted}: this is not a PEM file of a private key without a passphrase`],
      [letter, one.key, `${letter}: this is not a PEM file of a certificate, or it is damaged`],
      [one.cert, two.key, "is not the key of the certificate"],
    ] as const) {
      const { exitCode, stderr } = await start(cert, key);
      expect(exitCode).toBe(1);
      expect(stderr).toContain(message);
    }
  });

  test("the command todoitems certificate shows the authority", async () => {
    const { exitCode, stdout } = await runProgram("certificate", { environment });
    expect(exitCode).toBe(0);
    expect(stdout).toContain(authority);
    expect(stdout).toContain("Name         CN=localhost\n");
  });
});

describe.skipIf(process.platform === "win32")("secrets that every user of the machine can read", () => {
  test("cause a warning at the start, until their permissions are right", async () => {
    const users = join(folder.path, "users.txt");
    writeFileSync(users, `ann:${await Bun.password.hash("secret", { algorithm: "bcrypt", cost: 4 })}\n`);
    const { cert, key } = await separateFiles("exposed");
    for (const path of [folder.path, dirname(key)]) chmodSync(path, 0o755);
    const warnings = async (mode: number) => {
      for (const path of [users, key]) chmodSync(path, mode);
      const program = await serve("--auth", "writes", "--users", users, "--tls-cert", cert, "--tls-key", key);
      const { stderr } = await program.stop();
      return stderr.split("\n").flatMap((line) => /warn +(.*can (?:read|change) it)\. chmod 600/.exec(line)?.[1] ?? []);
    };
    const can = (path: string, what: string) => `${path}: every user of this machine can ${what} it`;
    expect(await warnings(0o644)).toEqual([can(users, "read"), can(key, "read")]);
    expect(await warnings(0o666)).toEqual([can(users, "change"), can(key, "change")]);
    expect(await warnings(0o640)).toEqual([]);
  });
});
