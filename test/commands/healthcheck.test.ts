// `todoitems healthcheck`, run as container engines run it.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { renameSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { eventually } from "../eventually.ts";
import { Program, runProgram } from "../program.ts";

let folder: ReturnType<typeof temporaryFolder>;
const started: Program[] = [];
const stopped: { stop(): unknown }[] = [];

beforeEach(() => {
  folder = temporaryFolder();
});

afterEach(async () => {
  for (const program of started.splice(0)) await program.stop("SIGKILL");
  for (const server of stopped.splice(0)) await server.stop();
  folder.dispose();
});

const home = () => ({ HOME: folder.path, XDG_DATA_HOME: folder.path });

async function serve(...args: string[]): Promise<Program> {
  const program = await Program.start({ environment: home(), args });
  started.push(program);
  return program;
}

const portOf = ({ origin }: Program) => new URL(origin).port;

function ask(environment: Readonly<Record<string, string>>) {
  return runProgram("healthcheck", { environment: { ...home(), ...environment } });
}

test("a service that is ready: exit code 0, even if the environment names a proxy", async () => {
  const service = await serve("--port", "0", "--host", "0.0.0.0", "--store", "memory:");
  const environment = { TODOITEMS_HOST: "0.0.0.0", TODOITEMS_PORT: portOf(service), HTTP_PROXY: "http://127.0.0.1:9/" };
  expect(await ask(environment)).toEqual({ exitCode: 0, stdout: "ready\n", stderr: "" });
});

test("a service that has only HTTPS is asked over HTTPS, without trusting its certificate", async () => {
  const service = await serve("--port", "off", "--https-port", "0", "--store", "memory:");
  const environment = { TODOITEMS_PORT: "off", TODOITEMS_HTTPS_PORT: portOf(service) };
  expect(await ask(environment)).toMatchObject({ exitCode: 0 });
});

test("an address with http for a port with HTTPS, or the reverse, is told", async () => {
  const secure = await serve("--port", "off", "--https-port", "0", "--store", "memory:");
  const plain = await serve("--port", "0", "--store", "memory:");
  for (const [{ origin }, wrong, what] of [
    [secure, secure.origin.replace("https:", "http:"), "uses HTTPS"],
    [plain, plain.origin.replace("http:", "https:"), "does not use HTTPS"],
  ] as const) {
    expect(await runProgram("healthcheck", { args: [wrong], environment: home() })).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: `error: ${wrong}/: the server there ${what}. Use ${origin}/ instead.\n`,
    });
    expect(await runProgram("list", { args: ["--server", wrong], environment: home() })).toEqual({
      exitCode: 3,
      stdout: "",
      stderr: `error: ${wrong}/ ${what}. Use ${origin}/ instead, with --server.\n`,
    });
  }
});

test("the address of the service may be an argument", async () => {
  const service = await serve("--port", "0", "--store", "memory:");
  for (const address of [service.origin, `localhost:${portOf(service)}`, portOf(service)])
    expect(await runProgram("healthcheck", { args: [address], environment: home() })).toMatchObject({ exitCode: 0 });
});

test("the path of an address is kept: a proxy may add a prefix, and people copy the address of the list", async () => {
  const service = await serve("--port", "0", "--store", "memory:");
  const proxy = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch({ url }) {
      const { pathname } = new URL(url);
      return pathname.startsWith("/todo/") ? service.fetch(pathname.slice(5)) : new Response("hello");
    },
  });
  stopped.push(proxy);
  const check = (address: string) => runProgram("healthcheck", { args: [address], environment: home() });
  const origin = `http://127.0.0.1:${proxy.port}`;
  for (const address of [
    `${origin}/todo`,
    `${origin}/todo/`,
    `${origin}/todo/api/todoitems/`,
    `${service.origin}/api/todoitems`,
  ])
    expect(await check(address)).toEqual({ exitCode: 0, stdout: "ready\n", stderr: "" });
  expect(await check(`${origin}/other/`)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining(`${origin}/other/: the answer (status 200) is not one of todoitems`),
  });
  expect((await check("http://127.0.0.1:1/todo")).stderr).not.toContain("serve");
});

test("the advice to start the service names the port that was asked", async () => {
  expect((await ask({ TODOITEMS_PORT: "1" })).stderr).toContain("todoitems serve --port 1 starts it");
});

test("if nothing answers at an address without a port, the message asks for the usual port", async () => {
  const { stderr } = await runProgram("healthcheck", { args: ["127.255.255.255"], environment: home() });
  expect(stderr).toBe(
    "error: http://127.255.255.255/: nothing answers there. This is port 80. Did you mean http://127.255.255.255:5000/?\n",
  );
});

test("if no server has the name, the message says so, and does not ask for another port", async () => {
  const { stderr } = await runProgram("healthcheck", { args: ["nosuch.invalid"], environment: home() });
  expect(stderr).toBe("error: http://nosuch.invalid/: no server with this name was found.\n");
});

test("a service that lost its store: exit code 1", async () => {
  const store = join(folder.path, "store.db");
  const settings = ["--port", "0", "--store", `sqlite:${store}`];
  await (await serve(...settings)).stop();
  const service = await serve(...settings, "--read-only");
  renameSync(store, `${store}-elsewhere`);
  await eventually(async () => (await service.fetch("/health/ready")).status === 503);
  const { exitCode, stderr } = await ask({ TODOITEMS_PORT: portOf(service) });
  expect(stderr).toEndWith("/: the service is not ready: it cannot use its store, and its log says why.\n");
  expect(exitCode).toBe(1);
});

test("the reason why a service is not ready is told in words", async () => {
  const detail = "Too many connections are open. Send the request again shortly.";
  for (const [body, reason] of [
    ['{"status":"stopping"}', "the service is not ready: it is about to stop.\n"],
    [JSON.stringify({ status: 503, detail, code: "Overloaded" }), `the service is not ready: ${detail}\n`],
    ["<h1>503</h1>", "the answer (status 503) is not one of todoitems.\n"],
    ['{"status":"warming up"}', "the answer (status 503) is not one of todoitems.\n"],
  ] as const) {
    const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(body, { status: 503 }) });
    stopped.push(server);
    const { exitCode, stderr } = await ask({ TODOITEMS_PORT: String(server.port) });
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(reason)]);
  }
});

test("no service, or another program: exit code 1, and the message says which", async () => {
  const other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("hello") });
  stopped.push(other);
  const foreign = await ask({ TODOITEMS_PORT: String(other.port) });
  expect(foreign).toMatchObject({ exitCode: 1, stdout: "" });
  expect(foreign.stderr).toContain("the answer (status 200) is not one of todoitems");
  const nobody = await ask({ TODOITEMS_PORT: "1" });
  expect(nobody).toMatchObject({ exitCode: 1, stdout: "" });
  expect(nobody.stderr).toStartWith(
    "error: http://127.0.0.1:1/: nothing answers there. Check that the service is running",
  );
});

test("TODOITEMS_SERVER is not used, and the message says so if it names another address", async () => {
  const service = await serve("--port", "0", "--store", "memory:");
  const other = await ask({ TODOITEMS_PORT: "1", TODOITEMS_SERVER: service.origin });
  expect(other.exitCode).toBe(1);
  expect(other.stderr).not.toContain(" \n");
  expect(other.stderr).toContain(
    `TODOITEMS_SERVER is not used here. To ask that service: todoitems healthcheck ${service.origin}`,
  );
  const same = await ask({ TODOITEMS_PORT: "1", TODOITEMS_SERVER: "http://127.0.0.1:1" });
  expect(same.stderr).not.toContain("TODOITEMS_SERVER");
  // A port or a host on the command line says clearly which service is meant.
  for (const args of [
    ["--port", "1"],
    ["--port", "off", "--https-port", "1"],
    ["--port=1", "--host", "127.0.0.1"],
  ]) {
    const environment = { ...home(), TODOITEMS_SERVER: service.origin };
    const named = await runProgram("healthcheck", { args, environment });
    expect(named.exitCode).toBe(1);
    expect(named.stderr).not.toContain("TODOITEMS_SERVER");
  }
  const malformed = await ask({ TODOITEMS_PORT: "1", TODOITEMS_SERVER: "ftp://x" });
  expect(malformed.exitCode).toBe(1);
  const ready = await ask({ TODOITEMS_PORT: portOf(service), TODOITEMS_SERVER: "http://127.0.0.1:1" });
  expect(ready).toEqual({ exitCode: 0, stdout: "ready\n", stderr: "" });
});

test("a misspelt environment variable is named if the service is not ready", async () => {
  expect((await ask({ TODOITEMS_PORT: "1", TODOITEMS_HOTS: "127.0.0.1" })).stderr).toContain(
    "\nTODOITEMS_HOTS is not a setting and is ignored. Did you mean TODOITEMS_HOST?",
  );
});

test("a port that the system picks is a usage error, because nobody knows it", async () => {
  expect(await ask({ TODOITEMS_PORT: "0" })).toMatchObject({ exitCode: 2 });
});
