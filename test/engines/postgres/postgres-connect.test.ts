// What the commands say about a connection. If it cannot be opened, `serve`, `check` and `doctor` say why in our own
// words, and what to do next.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { developmentCertificate } from "../../../src/tls/development-certificate.ts";
import { eventually } from "../../eventually.ts";
import { Program, runProgram } from "../../program.ts";
import { temporaryFolder } from "../engine-kinds.ts";
import { freePort, PostgresServer } from "./postgres-server.ts";

const folder = temporaryFolder();
let plain: PostgresServer;
let encrypted: PostgresServer;
let authority: string;

beforeAll(async () => {
  [plain, encrypted] = await Promise.all([
    PostgresServer.start(),
    PostgresServer.start({ listen_addresses: "127.0.0.1,127.0.0.2" }),
  ]);
  const certificate = await developmentCertificate(folder.path);
  authority = encodeURIComponent(certificate.authorityCert);
  encrypted.writeFile("server.crt", readFileSync(certificate.cert, "utf8"));
  encrypted.writeFile("server.key", readFileSync(certificate.key, "utf8"));
  await encrypted.run("ALTER SYSTEM SET ssl = on");
  await encrypted.run("SELECT pg_reload_conf()");
  await eventually(async () => expect(await encrypted.run("SHOW ssl")).toEqual([{ ssl: "on" }]));
});

afterAll(async () => {
  await Promise.all([plain.dispose(), encrypted.dispose()]);
  folder.dispose();
});

let server: Server | undefined;
afterEach(() => server?.close());

/** The URL of a server that is not PostgreSQL, and does this with each connection. */
async function otherServer(serve: (socket: Socket) => void): Promise<string> {
  const port = await freePort();
  const { promise, resolve } = Promise.withResolvers<void>();
  server = createServer((socket) => serve(socket.on("error", () => {}))).listen(port, "127.0.0.1", resolve);
  await promise;
  return `postgres://ann:secret@127.0.0.1:${port}/todo`;
}

/** What a command says, as one line. */
async function said(command: string, url: string): Promise<string> {
  const { stdout, stderr } = await runProgram(command, {
    args: command === "check" ? [] : ["--port", "0"],
    cwd: folder.path,
    environment: { TODOITEMS_STORE: url, XDG_DATA_HOME: folder.path, XDG_CONFIG_HOME: folder.path },
  });
  return `${stdout}${stderr}`.replace(/\s+/g, " ");
}

/** Texts of the runtime, of the client library and of OpenSSL. */
const foreign = /socket|ECONN|ERR_|SSL routines|unable to|altnames|CONNECT_TIMEOUT|\bat .*\.ts/;

const startHint = "check the address, and start that server";
const tlsHint = "the server runs, but not with the TLS that --store asks for: change its settings, or sslmode";
const answerHint = "check the host and the port of --store; if PostgreSQL listens there, its log may say more";

async function expectSaid(url: string, message: string, hint: string): Promise<void> {
  for (const command of ["serve", "check", "doctor"]) {
    const text = await said(command, url);
    expect(text).toContain(message);
    expect(text).not.toMatch(foreign);
    if (command !== "doctor") continue;
    expect(text).toContain(hint);
    if (hint !== startHint) expect(text).not.toMatch(/start that server|start or promote a primary/);
  }
}

const noTls =
  "the server offers no TLS; switch on ssl in its postgresql.conf, or use sslmode=prefer or sslmode=disable in the address";
const closed = "the server closed the connection before it answered; is this the port of PostgreSQL?";
const other = "what answers there is not PostgreSQL; check the host and the port";
const brokenTls = "the server offers TLS, but the TLS handshake failed; its log may say why";

describe("a server without TLS", () => {
  for (const mode of ["require", "verify-full"])
    test(`with sslmode=${mode}, the message says that it offers none`, () =>
      expectSaid(`${plain.url()}?sslmode=${mode}`, noTls, tlsHint));
});

describe("a certificate that is checked", () => {
  test("without sslrootcert, the message asks for the file of the authority", () =>
    expectSaid(
      `${encrypted.url()}?sslmode=verify-full`,
      "the server's certificate is not trusted; name the file of its authority with sslrootcert, or use sslmode=require, which does not check it",
      tlsHint,
    ));

  // Other systems do not have the address 127.0.0.2.
  test.skipIf(process.platform !== "linux")("for another host, the message says so", () =>
    expectSaid(
      `${encrypted.url().replace("127.0.0.1", "127.0.0.2")}?sslmode=verify-full&sslrootcert=${authority}`,
      "the server's certificate is for another host name; use a name that the certificate contains",
      tlsHint,
    ),
  );

  test("for this host, given as an IP address, is accepted", async () => {
    const text = await said("doctor", `${encrypted.url()}?sslmode=verify-full&sslrootcert=${authority}`);
    expect(text).toMatch(/primary, PostgreSQL [0-9.]+, TLS/);
  });

  test("a file without a certificate is refused as sslrootcert", async () => {
    const letter = join(folder.path, "letter.txt");
    await Bun.write(letter, "Dear Ann,");
    const url = `${encrypted.url()}?sslmode=verify-full&sslrootcert=${encodeURIComponent(letter)}`;
    expect(await said("check", url)).toContain("letter.txt is not a PEM certificate");
  });
});

describe("a server that is not PostgreSQL", () => {
  const http = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";

  for (const mode of ["prefer", "require", "verify-full"]) {
    test(`with sslmode=${mode}, a server that answers in HTTP is recognised`, async () => {
      const url = await otherServer((socket) => socket.once("data", () => socket.end(http)));
      await expectSaid(`${url}?sslmode=${mode}`, other, answerHint);
    });

    test(`with sslmode=${mode}, a server that greets first, as SSH does, is recognised`, async () => {
      const url = await otherServer((socket) => socket.write("SSH-2.0-OpenSSH\r\n"));
      await expectSaid(`${url}?sslmode=${mode}`, other, answerHint);
    });
  }

  for (const mode of ["disable", "prefer", "require", "verify-full"])
    test(`with sslmode=${mode}, a server that closes each connection is recognised`, async () => {
      const url = await otherServer((socket) => socket.once("data", () => socket.end()));
      await expectSaid(`${url}?sslmode=${mode}`, closed, answerHint);
    });

  test("a server that answers the request for TLS with an error, as PostgreSQL does if it is overloaded, is not called another server", async () => {
    const url = await otherServer((socket) => socket.once("data", () => socket.end("Ecould not fork new process\n\0")));
    await expectSaid(url, closed, answerHint);
  });

  for (const mode of ["disable", "require"])
    test(`with sslmode=${mode}, a server that resets each connection is recognised`, async () => {
      const url = await otherServer((socket) => socket.once("data", () => socket.resetAndDestroy()));
      await expectSaid(`${url}?sslmode=${mode}`, closed, answerHint);
    });

  test("a server that promises TLS and sends something else is recognised", async () => {
    const url = await otherServer((socket) =>
      socket.once("data", () => {
        socket.write("S");
        socket.once("data", () => socket.end(http));
      }),
    );
    await expectSaid(`${url}?sslmode=require`, brokenTls, tlsHint);
  });
});

test("a host whose name cannot be resolved, and one that does not answer, are told apart", async () => {
  await expectSaid("postgres://ann@nosuch.invalid/todo", "the host's name is not known; check it", startHint);
  const url = await otherServer(() => {});
  await expectSaid(url, "no answer within 5 s; is the host right, and does a firewall let", startHint);
}, 60_000);

test("the Store line names the database that is used, also if the address has none", async () => {
  const url = plain.url("");
  for (const [database, environment] of [
    ["todoitems", {}],
    ["elsewhere", { PGDATABASE: "elsewhere" }],
  ] as const) {
    await plain.run(`CREATE DATABASE ${database}`);
    const program = await Program.start({
      args: ["--port", "0"],
      environment: { TODOITEMS_STORE: url, ...environment },
    });
    const { stdout } = await program.stop();
    expect(stdout).toContain(`PostgreSQL at 127.0.0.1:${plain.port}, database ${database}, 0 items`);
    expect(await plain.run("SELECT schema_version FROM todoitems.store", database)).toHaveLength(1);
  }
});
