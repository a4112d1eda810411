// Tests `--shutdown-delay`: a service that is about to stop says that it is not ready, and goes on answering for a
// while.

import { afterAll, afterEach, expect, test } from "bun:test";
import { join } from "node:path";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { eventually } from "../eventually.ts";
import { FeedReader } from "../http/feed-reader.ts";
import { Program } from "../program.ts";
import { ids, item } from "../service.ts";

const folder = temporaryFolder();
afterAll(() => folder.dispose());
let program: Program | undefined;
afterEach(async () => {
  await program?.stop("SIGKILL");
  program = undefined;
});

async function serve(...args: string[]): Promise<Program> {
  const store = `sqlite:${join(folder.path, crypto.randomUUID())}`;
  program = await Program.start({ args: ["--port", "0", "--store", store, ...args] });
  return program;
}

async function readiness(service: Program): Promise<unknown> {
  const response = await service.fetch("/health/ready");
  return [response.status, await response.json()];
}

test("after SIGTERM, the service is not ready, but answers everything until the delay is over", async () => {
  const service = await serve("--shutdown-delay", "600");
  const feed = new FeedReader(await service.fetch("/changes"));
  expect((await feed.next())?.event).toBe("ready");
  expect(await readiness(service)).toEqual([200, { status: "ready" }]);
  service.kill("SIGTERM");
  expect(await service.stderrLine()).toContain("SIGTERM: stopping in 600 s");
  await eventually(async () => expect(await readiness(service)).toEqual([503, { status: "stopping" }]));
  expect((await service.fetch("/health/live")).status).toBe(200);
  const created = await service.send("POST", "/api/todoitems/", item(ids.one));
  expect([created.status, created.headers.get("connection")]).toEqual([201, "close"]);
  expect((await feed.next())?.data).toContain(item(ids.one));
  expect(await service.list()).toBe(`[${item(ids.one)}]`);
});

test("after the delay, feeds end with the time to reconnect after, and the exit code is 0", async () => {
  const service = await serve("--shutdown-delay", "1");
  const feed = new FeedReader(await service.fetch("/changes"));
  expect((await feed.next())?.event).toBe("ready");
  service.kill("SIGTERM");
  expect(await feed.block()).toMatch(/^retry: [0-9]+$/);
  expect(await feed.block()).toBeUndefined();
  expect(await service.exited).toBe(0);
});
