// The connection to the server is encrypted if the server supports it. The server's certificate is checked if the
// operator asks for that.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { parsePostgresUrl } from "../../../src/engines/postgres/postgres-address.ts";
import { PostgresEngine } from "../../../src/engines/postgres/postgres-engine.ts";
import { eventually } from "../../eventually.ts";
import { temporaryFolder } from "../engine-kinds.ts";
import { PostgresServer } from "./postgres-server.ts";

let server: PostgresServer;
let authorityCert: string;
const folder = temporaryFolder();

beforeAll(async () => {
  server = await PostgresServer.start({ listen_addresses: "127.0.0.1,127.0.0.2" });
  // Imported only now: beside other imports, Bun sometimes runs the parts of this module in the wrong order.
  const { developmentCertificate } = await import("../../../src/credentials/development-certificate.ts");
  const certificate = await developmentCertificate(folder.path);
  authorityCert = certificate.authorityCert;
  server.writeFile("server.crt", readFileSync(certificate.cert, "utf8"));
  server.writeFile("server.key", readFileSync(certificate.key, "utf8"));
  await server.run("ALTER SYSTEM SET ssl = on");
  await server.run("SELECT pg_reload_conf()");
  await eventually(async () => expect(await server.run("SHOW ssl")).toEqual([{ ssl: "on" }]));
});

afterAll(async () => {
  await server.dispose();
  folder.dispose();
});

/**
 * Opens an engine, and asks the server which of the engine's connections are encrypted. Returns `[true]` if all are
 * encrypted, and `[false]` if none is.
 */
async function encryptionWith(query: string, host = "localhost"): Promise<unknown> {
  const url = server.url().replace("127.0.0.1", host);
  const engine = await PostgresEngine.open(parsePostgresUrl(`${url}${query}`), {
    readOnly: false,
    onOtherHistory() {},
  });
  await engine.hasNews();
  const connections = await server.run(
    "SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name LIKE 'todoitems%'",
  );
  await engine.close();
  await eventually(async () =>
    expect(await server.run("SELECT FROM pg_stat_activity WHERE application_name LIKE 'todoitems%'")).toEqual([]),
  );
  return connections.map(({ ssl }) => ssl);
}

test("a connection is encrypted if the server supports it, unless encryption is switched off", async () => {
  expect(await encryptionWith("")).toEqual([true]);
  expect(await encryptionWith("?sslmode=require")).toEqual([true]);
  expect(await encryptionWith("?sslmode=disable")).toEqual([false]);
});

test("with verify-full, a certificate is accepted if the given authority has signed it, and refused without one", async () => {
  const verified = `?sslmode=verify-full&sslrootcert=${encodeURIComponent(authorityCert)}`;
  expect(await encryptionWith(verified)).toEqual([true]);
  expect(await encryptionWith(verified, "127.0.0.1")).toEqual([true]);
  await expect(encryptionWith("?sslmode=verify-full")).rejects.toThrow("certificate");
});

// Other systems do not have the address 127.0.0.2.
test.skipIf(process.platform !== "linux")("with verify-full, a certificate for another host is refused", async () => {
  const verified = `?sslmode=verify-full&sslrootcert=${encodeURIComponent(authorityCert)}`;
  await expect(encryptionWith(verified, "127.0.0.2")).rejects.toThrow("altnames");
});

test("a server without TLS is refused if TLS is required", async () => {
  const plain = await PostgresServer.start();
  try {
    for (const mode of ["require", "verify-full"]) {
      const address = parsePostgresUrl(`${plain.url()}?sslmode=${mode}`);
      const opening = PostgresEngine.open(address, { readOnly: false, onOtherHistory() {} });
      await expect(opening).rejects.toThrow("TLS");
    }
  } finally {
    await plain.dispose();
  }
});
