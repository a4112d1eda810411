// How commands find their service and sign in, and what they say if that fails.

import { afterAll, beforeAll, describe, expect, jest, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeFailure } from "../../src/commands/command-line/failure.ts";
import { parseServer } from "../../src/commands/service/server-address.ts";
import { TestProvider } from "../credentials/test-provider.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { eventually } from "../eventually.ts";
import { Program } from "../program.ts";
import { ids, item } from "../service.ts";
import { CommandLine, runHere, Watching } from "./command-line.ts";

describe("a service with credentials and HTTPS", () => {
  const folder = temporaryFolder();
  const home = { HOME: folder.path, XDG_DATA_HOME: folder.path };
  const path = (name: string) => join(folder.path, name);
  let service: Program;

  beforeAll(async () => {
    writeFileSync(path("users"), `ann:${await Bun.password.hash("secret words", "argon2id")}\n`, { mode: 0o600 });
    service = await Program.start({
      args: ["--port", "0", "--https-port", "0", "--store", "memory:", "--auth", "all", "--users", path("users")],
      environment: home,
    });
    writeFileSync(path("password"), "\uFEFFsecret words\r\nsecond line\n");
  });
  afterAll(async () => {
    await service.stop("SIGKILL");
    folder.dispose();
  });

  const list = (args: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
    runHere(["list", "--json", ...args], { environment: { ...home, ...environment } });

  test("the name and the password come from flags or from the environment, and a flag counts first", async () => {
    for (const [args, environment] of [
      [["-s", service.origin, "-u", "ann", "--password-file", path("password")], {}],
      [["-u", "ann"], { TODOITEMS_SERVER: service.origin, TODOITEMS_USER: "bob", TODOITEMS_PASSWORD: "secret words" }],
      [[], { TODOITEMS_SERVER: service.origin, TODOITEMS_USER: "ann", TODOITEMS_PASSWORD_FILE: path("password") }],
    ] as const)
      expect(await list(args, environment)).toEqual({ exitCode: 0, stdout: "", stderr: "" });
  });

  test("this machine's development certificate is trusted, and --ca names another authority", async () => {
    const credentials = { TODOITEMS_USER: "ann", TODOITEMS_PASSWORD: "secret words" };
    const server = ["--server", service.origins[1]?.replace("127.0.0.1", "localhost") ?? ""];
    expect(await list(server, credentials)).toMatchObject({ exitCode: 0, stderr: "" });
    const elsewhere = { ...credentials, HOME: path("other"), XDG_DATA_HOME: path("other") };
    expect(await list(server, elsewhere)).toMatchObject({
      exitCode: 3,
      stderr: expect.stringMatching(/is not trusted \(.*--ca FILE/),
    });
    const authority = join(folder.path, "todoitems/https/authority.pem");
    expect(await list([...server, "--ca", authority], elsewhere)).toMatchObject({ exitCode: 0 });
    expect(await list([...server, "--ca", path("nosuch")], credentials)).toMatchObject({ exitCode: 1 });
  });

  test("watch goes on if its user's line has changed, and does not call the service unreachable", async () => {
    const environment = { ...home, TODOITEMS_SERVER: service.origin, TODOITEMS_USER: "ann" };
    const watching = new Watching([], { ...environment, TODOITEMS_PASSWORD: "secret words" });
    const connections = () => watching.output.stderr.split("Connected.").length - 1;
    await eventually(() => connections() === 1);
    // The feeds of those whose line has changed end. This is the same password with another hash.
    const line = `ann:${await Bun.password.hash("secret words", "argon2id")}`;
    writeFileSync(path("users"), readFileSync(path("users"), "utf8").replace(/^ann:.*$/m, line));
    await eventually(() => connections() === 2);
    await watching.stop();
    expect(watching.output.stderr).toContain("warning: The connection has ended. Trying again in 1 s");
    expect(watching.output.stderr).not.toContain("cannot be reached");
  });

  test("the port of HTTPS without https:// before it is met with the whole address", async () => {
    const { port } = new URL(service.origins[1] ?? "");
    expect(await list(["--server", port])).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining(`If this is a port for HTTPS: --server https://127.0.0.1:${port}/`),
    });
  });

  test("the port of HTTP with https:// before it is met with the whole address", async () => {
    const { port } = new URL(service.origin);
    expect(await list(["--server", `https://localhost:${port}`])).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining(`If this is a port for plain HTTP: --server http://localhost:${port}/`),
    });
  });

  test("a wrong password gives exit code 1, a missing one 2, and both messages say what to do", async () => {
    const server = { TODOITEMS_SERVER: service.origin };
    expect(await list([], server)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("--user NAME") });
    expect(await list(["--user", "ann"], { ...server, TODOITEMS_PASSWORD: "wrong" })).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("The name or the password is wrong"),
    });
    expect(await list(["--user", "ann"], server)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("TODOITEMS_PASSWORD"),
    });
    expect(await list(["--server", "http://ann:secret@localhost"])).toMatchObject({
      exitCode: 2,
      stderr: expect.not.stringContaining("secret"),
    });
  });
});

test("an address may be a URL, a host with a port, or a port of this machine", () => {
  for (const [text, url] of [
    ["https://todo.example/list", "https://todo.example/list/"],
    ["localhost:5055", "http://localhost:5055/"],
    ["5055", "http://127.0.0.1:5055/"],
    ["5055/lists/work", "http://127.0.0.1:5055/lists/work/"],
  ] as const)
    expect(parseServer(text).href).toBe(url);
  for (const text of ["ftp://x", "http://", "99999"]) expect(() => parseServer(text)).toThrow(text);
});

test("a service that wants the ID in another place is met with the flag for it", async () => {
  const service = await CommandLine.start("--forms", "a");
  const [inBody, inPath] = [await service.run(["add", "Milk"]), await service.run(["add", "Milk", "--form", "a"])];
  await service.dispose();
  expect(inBody).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("Try again with --form a.") });
  expect(inPath).toMatchObject({ exitCode: 0 });
});

test("a service that is not there gives exit code 3, and the message says how to start it", async () => {
  expect(await runHere(["list", "--server", "127.0.0.1:1"])).toEqual({
    exitCode: 3,
    stdout: "",
    stderr: expect.stringMatching(
      /^error: http:\/\/127\.0\.0\.1:1\/ cannot be reached \(\w+\)\. Start .* todoitems serve, or/,
    ),
  });
});

test("after ten seconds without a response, a command says that the service does not respond yet, and goes on", async () => {
  const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<Response>()];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch() {
      asked.resolve();
      return answer.promise;
    },
  });
  jest.useFakeTimers();
  try {
    const running = runHere(["list", "--json", "--server", server.url.href]);
    await asked.promise;
    jest.advanceTimersByTime(10_000);
    answer.resolve(Response.json([{ ID: ids.one }]));
    expect(await running).toEqual({
      exitCode: 0,
      stdout: `{"ID":"${ids.one}"}\n`,
      stderr: `${server.url.href} does not respond yet. Still waiting …\n`,
    });
  } finally {
    jest.useRealTimers();
    await server.stop(true);
  }
});

test("watch says which service it connects to, and that it cannot be reached", async () => {
  const watching = new Watching(["--server", "nowhere.invalid"], {});
  await eventually(() => watching.output.stderr.includes("Trying again"));
  expect(await watching.stop()).toBe(0);
  expect(watching.output.stderr).toStartWith("Connecting to http://nowhere.invalid/ …\n");
  expect(watching.output.stderr).toContain("warning: http://nowhere.invalid/ cannot be reached");
});

test("an error that no user can fix is called a defect, with its details", () => {
  expect(describeFailure(new RangeError("oops")).message).toMatch(/^This is a defect.*\nRangeError: oops/);
});

describe("a hostile or foreign server", () => {
  /** Clears the screen, in two ways, and turns the direction of the text. */
  const drawing = "\u001b[2J\u009b2J\u202e";
  const problem = (status: number) =>
    Response.json(
      { code: "Evil", detail: `sorry ${drawing}`, status: drawing },
      { status, headers: { "Content-Type": "application/problem+json" } },
    );
  const items = ["1", "2"].map((end) => ({ ID: `abcd${drawing}${end}`, Name: `Buy ${drawing}`, [drawing]: drawing }));
  const oneItem = ({ url }: Request) => Response.json(url.endsWith("/") ? items.slice(1) : items[1]);
  let respond: (request: Request) => Response = () => problem(400);
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: (request) => respond(request) });
  const url = server.url.href;
  let commandLine: CommandLine;
  beforeAll(async () => {
    commandLine = await CommandLine.start();
    writeFileSync(commandLine.path("items.json"), `[${item(ids.one)}]`);
  });
  afterAll(async () => {
    await server.stop(true);
    await commandLine.dispose();
  });

  for (const [words, given] of [
    [["list"], () => problem(400)],
    [["import", "items.json"], () => problem(400)],
    [["list"], () => new Response("", { status: 302, headers: { Location: "/\u009b2J" } })],
    [["list"], () => Response.json(items)],
    [["remove", "abcd"], () => Response.json(items)],
    [["done", "abcd"], oneItem],
    [["show", "abcd"], oneItem],
    [["healthcheck", url], () => problem(503)],
  ] satisfies [string[], typeof respond][])
    test(`${words.join(" ")}: what it sends cannot draw on the terminal`, async () => {
      respond = given;
      const { stdout, stderr } = await commandLine.run(words, { TODOITEMS_SERVER: url });
      expect(stdout + stderr).toContain("�");
      expect((stdout + stderr).match(/[^\P{Cc}\n]|\u202e/gu)).toBeNull();
    });

  for (const [what, given, exitCode, message] of [
    ["a web page", () => new Response("<html>"), 1, "is not that of a to-do service"],
    ["a 404 of another server", () => new Response("", { status: 404 }), 1, "is not that of a to-do service"],
    ["a proxy without its service", () => new Response("", { status: 502 }), 3, "cannot be reached (status 502)"],
  ] as const)
    test(`${what} is told apart from a service`, async () => {
      respond = given;
      for (const command of ["list", "lists"])
        expect(await commandLine.run([command, "--server", url])).toMatchObject({
          exitCode,
          stderr: expect.stringContaining(message),
        });
    });
});

test("a token comes from the environment only", async () => {
  const provider = await TestProvider.start();
  const service = await Program.start({
    args: [
      ...["--port", "0", "--store", "memory:", "--lists", "user"],
      ...["--token-issuer", provider.issuer, "--token-audience", provider.audience],
    ],
  });
  try {
    const run = (token: string) =>
      runHere(["lists"], { environment: { TODOITEMS_SERVER: service.origin, TODOITEMS_TOKEN: token } });
    expect(await run(await provider.sign("ann"))).toEqual({ exitCode: 0, stdout: "", stderr: "" });
    expect(await run(`${await provider.sign("ann")}\n`)).toMatchObject({ exitCode: 0 });
    expect(await run("x.y.z")).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("TODOITEMS_TOKEN") });
    for (const token of ["x.y\n.z", "x.y .z", "x.ý.z"])
      expect(await run(token)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("TODOITEMS_TOKEN") });
  } finally {
    await service.stop("SIGKILL");
    await provider.stop();
  }
});
