// A list that many ask for at once is answered by the runtime itself. Nobody must be able to tell.

import { afterEach, expect, spyOn, test } from "bun:test";
import { join } from "node:path";
import { MemoryEngine } from "../../src/engines/memory.ts";
import { SqliteEngine } from "../../src/engines/sqlite.ts";
import { Access } from "../../src/http/access.ts";
import { RateLimiter } from "../../src/http/rate-limiter.ts";
import { type RunningServer, type ServerOptions, startServer } from "../../src/http/server.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { ids, item, Service, type ServiceOptions } from "../service.ts";
import { RawConnection } from "./raw-connection.ts";
import { serverOptions } from "./server-options.ts";

const folder = temporaryFolder();
const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

interface Running {
  readonly server: RunningServer;
  readonly service: Service;
  /** How many requests the app itself has answered. */
  readonly handled: () => number;
  readonly fetch: (path: string, init?: RequestInit) => Promise<Response>;
}

async function start(
  engine = new MemoryEngine() as MemoryEngine | SqliteEngine,
  options: ServiceOptions & Partial<ServerOptions> = {},
): Promise<Running> {
  const service = await Service.on(engine, options);
  const handle = spyOn(service.app, "handle");
  const server = startServer(service.app, { ...serverOptions, ...options });
  stops.push(async () => {
    await server.stop(0);
    await service.collection.close();
  });
  return {
    server,
    service,
    handled: () => handle.mock.calls.length,
    fetch: (path, init) => fetch(`http://127.0.0.1:${server.port}${path}`, init),
  };
}

const listCount = 40;

/** Many lists at once, on one connection: what came back. */
async function burst(port: number): Promise<string> {
  const connection = await RawConnection.open(port);
  const request = "GET /api/todoitems/ HTTP/1.1\r\nHost: localhost\r\n";
  connection.send(`${`${request}\r\n`.repeat(listCount - 1)}${request}Connection: close\r\n\r\n`);
  return connection.untilClosed();
}

const store = () => new SqliteEngine(join(folder.path, `${crypto.randomUUID()}.db`), { readOnly: false });

for (const [name, engine] of [
  ["memory", () => new MemoryEngine()],
  ["sqlite", store],
] as const) {
  test(`the answers to a burst are alike to the byte, whoever gave them [${name}]`, async () => {
    const { server, service, handled } = await start(engine());
    await service.create(item(ids.one));
    const before = handled();
    const answers = (await burst(server.port)).split("HTTP/1.1 200 OK\r\n").slice(1);
    expect(answers).toHaveLength(listCount);
    expect(handled() - before).toBeLessThan(listCount);
    const withoutDate = answers.map((answer) =>
      answer
        .replace(/^Date: .*\r\n/m, "")
        .split("\r\n")
        .sort()
        .join("\n"),
    );
    expect(new Set(withoutDate).size).toBe(1);
  });

  test(`a change is in every list after its answer, however many are asking [${name}]`, async () => {
    const { server, service, handled, fetch } = await start(engine());
    await service.create(item(ids.one, '"n":0'));
    let asking = true;
    const before = handled();
    let answered = 0;
    const askers = Array.from({ length: 16 }, async () => {
      while (asking) {
        await (await fetch("/api/todoitems/")).text();
        answered++;
      }
    });
    for (let n = 1; n <= 200; n++) {
      await service.send("PUT", "/api/todoitems/", item(ids.one, `"n":${n}`));
      const lists = (await burst(server.port)).match(/"n":[0-9]+/g) ?? [];
      expect([...lists]).toEqual(Array(listCount).fill(`"n":${n}`));
    }
    asking = false;
    await Promise.all(askers);
    expect(handled() - before).toBeLessThan(answered + 200 * listCount);
  });
}

test("while it is hot, the other methods, other paths and conditions are answered as ever", async () => {
  const { server, service, fetch } = await start();
  await service.create(item(ids.one));
  await burst(server.port);
  const list = await fetch("/api/todoitems");
  const etag = list.headers.get("etag") ?? "";
  const statusOf = async (path: string, init?: RequestInit) => (await fetch(path, init)).status;
  expect(await statusOf("/api/todoitems/", { method: "HEAD" })).toBe(405);
  expect(await statusOf("/api/todoitems/", { method: "OPTIONS" })).toBe(405);
  expect(await statusOf("/api/todoitems/", { method: "DELETE" })).toBe(405);
  expect(await statusOf("/api/todoitems/?since=yesterday")).toBe(200);
  expect(await statusOf("/API/TodoItems")).toBe(200);
  expect(await statusOf(`/api/todoitems/${ids.one}`)).toBe(200);
  expect(await statusOf(`/api/todoitems/${ids.two}`)).toBe(404);
  expect(await statusOf("/api/nothing")).toBe(404);
  for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
    expect(await statusOf("/api/todoitems/", { headers: { "If-None-Match": tag } })).toBe(304);
  }
  expect(await statusOf("/api/todoitems/", { headers: { "If-None-Match": '"other"' } })).toBe(200);
  expect(await statusOf("/api/todoitems/", { headers: { Range: "bytes=0-1" } })).toBe(200);
});

test("it cools down by itself: soon after the burst the app answers again", async () => {
  const { server, service, handled, fetch } = await start();
  await service.create(item(ids.one));
  await burst(server.port);
  const before = handled();
  while (handled() === before) await (await fetch("/api/todoitems/")).text();
});

test("a store shared with another process: its writes come through, and the next list has them", async () => {
  const path = join(folder.path, "shared.db");
  const { server, service, fetch } = await start(new SqliteEngine(path, { readOnly: false }));
  await service.create(item(ids.one, '"n":0'));
  const other = await Service.on(new SqliteEngine(path, { readOnly: false }));
  for (let n = 1; n <= 20; n++) {
    await burst(server.port);
    expect((await other.send("PUT", "/api/todoitems/", item(ids.one, `"n":${n}`))).status).toBe(204);
    expect(await (await fetch("/api/todoitems/")).text()).toContain(`"n":${n}`);
  }
  await other.collection.close();
});

for (const [claim, options] of Object.entries({
  "credentials for every request": { access: () => new Access({ mode: "all", auth: undefined, rate: undefined }) },
  "a limit on the rate": {
    access: () =>
      new Access({ mode: "off", auth: undefined, rate: new RateLimiter({ burst: 10_000, perSecond: 10_000 }) }),
  },
  "a log of requests": { logRequests: true },
  "a lower limit on headers": { headerBytesMax: 8_000 },
})) {
  test(`with ${claim}, the app sees every list`, async () => {
    const { access, ...rest } = { access: undefined, ...options };
    const { server, service, handled } = await start(new MemoryEngine(), {
      ...rest,
      ...(access ? { access: access() } : {}),
    });
    await service.create(item(ids.one));
    const before = handled();
    await burst(server.port);
    expect(handled() - before).toBe(listCount);
  });
}
