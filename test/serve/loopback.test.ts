// Tests that the service listens on both loopback addresses by default. So a client that calls `localhost` may try
// either address first.

import { afterEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { addressesOf } from "../../src/serve/loopback.ts";
import { checkedFetch } from "../description/checked-answer.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { Program, runProgram } from "../program.ts";

const started: Program[] = [];
afterEach(async () => {
  for (const program of started.splice(0)) await program.stop("SIGKILL");
});

async function serve(...args: string[]): Promise<Program> {
  const program = await Program.start({ args: ["--port", "0", ...args] });
  started.push(program);
  return program;
}

const memory = ["--store", "memory:"];
const portOf = (origin = "") => new URL(origin).port;
const urlsOf = (port: string) => ["127.0.0.1", "[::1]"].map((host) => `http://${host}:${port}/api/todoitems/`);

/**
 * Returns a function that tells at which of the addresses the service answers. Another service may have the same port at
 * one of them, so it asks for an item that only this one has.
 */
async function servedAt(program: Program): Promise<() => Promise<boolean[]>> {
  const id = crypto.randomUUID();
  await program.send("POST", `/api/todoitems/${id}`, "{}");
  const hasItem = (url: string) =>
    checkedFetch(url + id).then(
      ({ status }) => status === 200,
      () => false,
    );
  return () => Promise.all(urlsOf(portOf(program.origin)).map(hasItem));
}

describe.skipIf(addressesOf("localhost").length === 1)("both loopback addresses", () => {
  for (const args of [[], ["--host", "localhost"]]) {
    test(`with ${args.join(" ") || "no --host"}, the service listens on both and prints one ready line, with 127.0.0.1`, async () => {
      const program = await serve(...memory, ...args);
      expect(program.origins).toEqual([`http://127.0.0.1:${portOf(program.origin)}`]);
      const served = await servedAt(program);
      expect(await served()).toEqual([true, true]);
      await program.stop();
      expect(await served()).toEqual([false, false]);
    });
  }

  for (const [host, served] of [
    ["127.0.0.1", [true, false]],
    ["::1", [false, true]],
  ] as const) {
    test(`with --host ${host}, the service listens on that address alone`, async () => {
      const program = await serve(...memory, "--host", host);
      expect(await (await servedAt(program))()).toEqual([...served]);
    });
  }

  test("a port that is taken on ::1 alone is an error that names ::1", async () => {
    using taken = Bun.listen({ hostname: "::1", port: 0, socket: { data() {} } });
    const port = String(taken.port);
    const { exitCode, stdout, stderr } = await runProgram("serve", { args: ["--port", port, ...memory] });
    expect([exitCode, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(`Port ${port} on ::1 is in use by another program, or by todoitems itself.`);
  });

  test("HTTPS is served on both addresses, with a certificate for both", async () => {
    const folder = temporaryFolder();
    const environment = { XDG_DATA_HOME: folder.path, HOME: folder.path };
    const program = await Program.start({ environment, args: [...memory, "--port", "off", "--https-port", "0"] });
    started.push(program);
    const tls = { ca: readFileSync(join(folder.path, "todoitems", "https", "authority.pem"), "utf8") };
    for (const url of urlsOf(portOf(program.origin))) {
      expect((await checkedFetch(url.replace("http:", "https:"), { tls })).status).toBe(200);
    }
    folder.dispose();
  });
});
