// `todoitems healthcheck`, as container engines run it.

import { afterAll, expect, test } from "bun:test";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { Program } from "../program.ts";
import { runHere } from "./command-line.ts";

const folder = temporaryFolder();
const home = { HOME: folder.path, XDG_DATA_HOME: folder.path };
afterAll(() => folder.dispose());

const ask = (args: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
  runHere(["healthcheck", ...args], { environment: { ...home, ...environment } });

/** Asks a server that sends this. */
async function askServer(response: Response) {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => response });
  try {
    return await ask([], { TODOITEMS_PORT: String(server.port) });
  } finally {
    await server.stop(true);
  }
}

test("a service that is ready: exit code 0, by its settings or its address, over HTTP and HTTPS", async () => {
  const args = ["--port", "0", "--https-port", "0", "--host", "0.0.0.0", "--store", "memory:"];
  const service = await Program.start({ args, environment: home });
  try {
    const [port = "", httpsPort = ""] = service.origins.map((origin) => new URL(origin).port);
    const ready = { exitCode: 0, stdout: "ready\n", stderr: "" };
    expect(
      await ask([], { TODOITEMS_HOST: "0.0.0.0", TODOITEMS_PORT: port, HTTP_PROXY: "http://127.0.0.1:9/" }),
    ).toEqual(ready);
    expect(await ask([], { TODOITEMS_PORT: "off", TODOITEMS_HTTPS_PORT: httpsPort })).toEqual(ready);
    expect((await ask([], { TODOITEMS_PORT: "0" })).exitCode).toBe(2);
    for (const address of [`http://127.0.0.1:${port}`, `localhost:${port}`, port])
      expect(await ask([address])).toEqual(ready);
  } finally {
    await service.stop("SIGKILL");
  }
});

test("fields that it does not know are accepted", async () => {
  expect(await askServer(Response.json({ status: "ready", version: "2.0", since: [1] }))).toMatchObject({
    exitCode: 0,
  });
});

test("a service that is not ready, another program and nobody: exit code 1, and the message says which", async () => {
  for (const [response, message] of [
    [Response.json({ status: "store unavailable" }, { status: 503 }), "returns 503 (store unavailable)"],
    [Response.json({ status: "ready" }, { status: 503 }), "returns 503"],
    [new Response("hello"), "returns 200"],
  ] as const)
    expect(await askServer(response)).toMatchObject({
      exitCode: 1,
      stdout: "",
      stderr: expect.stringContaining(message),
    });
  expect(await ask([], { TODOITEMS_PORT: "1" })).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("http://127.0.0.1:1/: it cannot be reached"),
  });
});

test("wrong settings, a flag, two addresses, and a port that the system picks are usage errors", async () => {
  for (const args of [["--port", "1"], ["1", "2"], ["ftp://x"]])
    expect(await ask(args)).toMatchObject({ exitCode: 2, stdout: "" });
  for (const port of ["0", "many"])
    expect(await ask([], { TODOITEMS_PORT: port })).toMatchObject({ exitCode: 2, stdout: "" });
});
