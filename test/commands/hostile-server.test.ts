// A hostile server must not draw on the terminal of somebody who asks it something, nor fill the memory.

import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { runProgram } from "../program.ts";

/** Clears the screen, in two ways, and turns the direction of the text. */
const drawing = "\u001b[2J\u009b2J\u202e";
const problem = (status: number) =>
  Response.json(
    { code: "Evil", detail: `sorry ${drawing}` },
    { status, headers: { "Content-Type": "application/problem+json" } },
  );
const items = ["1", "2"].map((end) => ({ ID: `abcd${drawing}${end}`, Name: `Buy ${drawing}`, [drawing]: drawing }));

/** A body of this size counts as endless here. More than a few megabytes wait in the buffers of the sockets. */
const endlessBytes = 256 * 1024 ** 2;
const oneItem = ({ url }: Request) => Response.json(url.endsWith("/") ? items.slice(1) : items[1]);

let answer: (request: Request) => Response = () => problem(400);
const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: (request) => answer(request) });
const folder = temporaryFolder();
afterAll(async () => {
  await server.stop(true);
  folder.dispose();
});

const itemsFile = join(folder.path, "items.json");
await Bun.write(itemsFile, '[{"Name":"a"}]');

for (const [what, command, args, given] of [
  ["a problem", "list", [], () => problem(400)],
  ["a problem with an item of an import", "import", [itemsFile], () => problem(400)],
  ["a redirect", "list", [], () => new Response("", { status: 302, headers: { Location: "/\u009b2J" } })],
  ["IDs, names and fields of items", "list", [], () => Response.json(items)],
  ["the IDs that a message lists", "remove", ["abcd"], () => Response.json(items)],
  ["the item that is changed", "done", ["abcd"], oneItem],
  ["the item that is shown", "show", ["abcd"], oneItem],
  ["the state of its health", "healthcheck", ["URL"], () => problem(503)],
  ["what doctor finds", "doctor", ["--port", "PORT", "URL"], () => problem(503)],
] satisfies [string, string, string[], typeof answer][]) {
  test(`${command}: ${what} cannot draw on the terminal`, async () => {
    answer = given;
    const url = server.url.href;
    const { stdout, stderr } = await runProgram(command, {
      args: args.map((word) => ({ URL: url, PORT: String(server.port) })[word] ?? word),
      environment: { HOME: folder.path, TODOITEMS_SERVER: url },
    });
    const printed = stdout + stderr;
    expect(printed).toContain("�");
    expect(printed.match(/[^\P{Cc}\n]|\u202e/gu)).toBeNull();
  });
}

for (const [command, status] of [
  ["list", 500],
  ["healthcheck", 503],
] as const) {
  test(`${command}: of an error whose body does not end, only the beginning is read`, async () => {
    let bytesSent = 0;
    const pull = (controller: ReadableStreamDefaultController) => {
      if (bytesSent > endlessBytes) return controller.close();
      bytesSent += 65_536;
      controller.enqueue(new Uint8Array(65_536).fill(0x20));
    };
    answer = () => new Response(new ReadableStream({ pull }), { status, headers: { "Content-Type": "text/plain" } });
    const environment = { TODOITEMS_SERVER: server.url.href };
    const args = command === "list" ? [] : [server.url.href];
    expect((await runProgram(command, { args, environment })).exitCode).toBe(1);
    expect(bytesSent).toBeLessThan(endlessBytes / 4);
  });
}
