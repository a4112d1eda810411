// Tests TLS connections that the server must cut off: handshakes that never finish, and clients that do not close their
// side. test/serve/https.test.ts has the other tests of HTTPS.

import "reflect-metadata";
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "node:tls";
import { developmentCertificate } from "../../src/credentials/development-certificate.ts";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { type Certificate, type ListenOptions, listen, type RunningServer } from "../../src/wire/listen.ts";
import { checkedFetch } from "../description/checked-answer.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { eventually } from "../eventually.ts";
import { Service } from "../service.ts";
import { connectionLimit, listenOptions } from "./listen-options.ts";
import { RawConnection } from "./raw-connection.ts";

/** The first bytes of a handshake. They announce a TLS record that never comes. */
const beginning = "\x16\x03\x01\x02\x00\x01";

let folder: ReturnType<typeof temporaryFolder>;
let certificate: Certificate;
let server: RunningServer;

beforeAll(async () => {
  folder = temporaryFolder();
  const { cert, key } = await developmentCertificate(join(folder.path, "https"));
  certificate = { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
});
afterAll(() => folder.dispose());
afterEach(() => server.stop(0));

async function start(options: Partial<ListenOptions>): Promise<void> {
  const { app } = await Service.on(new MemoryEngine());
  server = listen(app, { ...listenOptions, certificate, ...options });
}

test("a handshake that does not finish within the request timeout is cut off, and not reported as the client's failure", async () => {
  const connections = connectionLimit();
  const failures: string[] = [];
  await start({
    requestTimeoutMs: 300,
    connections,
    onHandshakeFailure: (_peer, { message }) => failures.push(message),
  });
  const connection = await RawConnection.open(server.port);
  connection.send(beginning);
  await connection.untilClosed();
  await eventually(() => connections.used === 0);
  expect(failures).toEqual([]);
});

test("a handshake that the client breaks off is reported", async () => {
  const connections = connectionLimit();
  const failures: string[] = [];
  await start({ connections, onHandshakeFailure: (_peer, { message }) => failures.push(message) });
  const connection = await RawConnection.open(server.port);
  connection.send(beginning);
  connection.endSending();
  await eventually(() => failures.length === 1);
  await eventually(() => connections.used === 0);
});

test("a handshake far over the connection limit is cut off at once and is no longer counted", async () => {
  const connections = connectionLimit(0);
  const surplus = connectionLimit(0);
  await start({ connections, surplus });
  const connection = await RawConnection.open(server.port);
  connection.send(beginning);
  await connection.untilClosed();
  expect([connections.used, surplus.used]).toEqual([0, 0]);
});

test("handshakes that take too long are cut off to make room for other connections", async () => {
  await start({ connections: connectionLimit(2), surplus: connectionLimit(0), requestTimeoutMs: 3_600_000 });
  const slow = await Promise.all([RawConnection.open(server.port), RawConnection.open(server.port)]);
  for (const connection of slow) connection.send(beginning);
  const url = `https://127.0.0.1:${server.port}/health/ready`;
  await eventually(async () => (await checkedFetch(url, { tls: { rejectUnauthorized: false } })).ok);
  for (const connection of slow) await connection.untilClosed();
});

test("an idle HTTP/1.1 client that does not close its side is no longer waited for after two more seconds", async () => {
  const connections = connectionLimit();
  await start({ connections, idleTimeoutMs: 100 });
  const options = { port: server.port, host: "127.0.0.1", rejectUnauthorized: false, allowHalfOpen: true };
  const client = connect(options)
    .on("error", () => {})
    .resume();
  const endedAt = await new Promise<number>((resolve) => client.on("end", () => resolve(performance.now())));
  await eventually(() => connections.used === 0);
  expect(performance.now() - endedAt).toBeWithin(1_500, 6_000);
  client.destroy();
});

test("a stop does not wait for an unfinished handshake", async () => {
  const connections = connectionLimit();
  await start({ connections });
  const connection = await RawConnection.open(server.port);
  connection.send(beginning);
  await eventually(() => connections.used === 1);
  expect(await server.stop(5_000)).toBe(0);
  await connection.untilClosed();
});
