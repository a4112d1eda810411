// What clients, health probes and the log learn while PostgreSQL is unavailable or hangs, and afterwards. Also tests
// that no answered write is lost, and that an instance can still be stopped.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { PostgresServer } from "../engines/postgres/postgres-server.ts";
import { eventually } from "../eventually.ts";
import { Program } from "../program.ts";
import { expectProblem, ids, item } from "../service.ts";

let server: PostgresServer;
let url: string;
let program: Program | undefined;

beforeAll(async () => {
  server = await PostgresServer.start();
});

afterEach(async () => {
  await program?.stop("SIGKILL");
  program = undefined;
  await server.run("DROP SCHEMA IF EXISTS todoitems CASCADE");
});

afterAll(() => server.dispose());

async function serve(...args: string[]): Promise<Program> {
  url = server.url();
  program = await Program.start({ args: ["--port", "0", "--store", url, ...args] });
  return program;
}

async function readiness(service: Program): Promise<[number, unknown]> {
  const response = await service.fetch("/health/ready");
  return [response.status, await response.json()];
}

describe("while PostgreSQL is unavailable", () => {
  test("requests get 503 with Retry-After and the instance is not ready; it recovers by itself, and the log reports both", async () => {
    const service = await serve();
    await service.send("POST", "/api/todoitems/", item(ids.one));
    expect(await readiness(service)).toEqual([200, { status: "ready" }]);
    await server.stop();
    for (const request of [
      () => service.fetch("/api/todoitems/"),
      () => service.fetch(`/api/todoitems/${ids.one}`),
      () => service.send("POST", "/api/todoitems/", item(ids.two)),
      () => service.fetch(`/api/todoitems/${ids.one}`, { method: "DELETE" }),
    ]) {
      const response = await request();
      expect(response.headers.get("retry-after")).toBe("1");
      const { detail } = await expectProblem(response, 503, "StoreUnavailable");
      expect(detail).not.toContain("127.0.0.1");
    }
    expect(await readiness(service)).toEqual([503, { status: "store unavailable" }]);
    expect((await service.fetch("/health/live")).status).toBe(200);
    await server.resume();
    await eventually(async () => expect(await readiness(service)).toEqual([200, { status: "ready" }]));
    expect(await service.list()).toBe(`[${item(ids.one)}]`);
    const created = await service.send("POST", "/api/todoitems/", item(ids.two));
    expect([created.status, await created.text()]).toEqual([201, item(ids.two)]);
    const { stderr } = await service.stop();
    expect(stderr.match(/Requests were refused: .*nothing listens there/g)).toHaveLength(1);
    expect(stderr.match(/The store responds again/g)).toHaveLength(1);
    expect(stderr).not.toContain("sesame");
  });

  test("no answered write is lost if the server crashes and comes back", async () => {
    const service = await serve();
    const answered = new Set<string>();
    let writing = true;
    const writers = Array.from({ length: 8 }, async () => {
      while (writing) {
        const id = crypto.randomUUID();
        if ((await service.send("POST", "/api/todoitems/", item(id))).status === 201) answered.add(id);
      }
    });
    await eventually(async () => expect(answered.size).toBeGreaterThan(50));
    await server.crash();
    const before = answered.size;
    await server.resume();
    await eventually(async () => expect(answered.size).toBeGreaterThan(before + 50));
    writing = false;
    await Promise.all(writers);
    const stored = new Set((JSON.parse(await service.list()) as { ID: string }[]).map(({ ID }) => ID));
    expect([...answered].filter((id) => !stored.has(id))).toEqual([]);
  });
});

describe("while PostgreSQL hangs", () => {
  afterEach(() => server.unpause());

  /** The answer, if it comes within four seconds. Otherwise an error. */
  const soon = <Result>(answer: Promise<Result>): Promise<Result> =>
    Promise.race([answer, Bun.sleep(4_000).then(() => Promise.reject(new Error("no answer yet")))]);

  test("reads get 503 within seconds, even after a write whose outcome is unknown, and the instance recovers by itself", async () => {
    const service = await serve();
    await service.send("POST", "/api/todoitems/", item(ids.one));
    server.pause();
    const write = service.send("POST", "/api/todoitems/", item(ids.two));
    await expectProblem(await soon(service.fetch("/api/todoitems/")), 503, "StoreUnavailable");
    expect((await soon(service.fetch("/health/ready"))).status).toBe(503);
    expect((await write).status).toBe(503);
    await expectProblem(await soon(service.fetch("/api/todoitems/")), 503, "StoreUnavailable");
    server.unpause();
    await eventually(async () => expect((await service.fetch("/api/todoitems/")).status).toBe(200));
  });

  test("an instance that is told to stop answers its readers first, and stops within its grace period", async () => {
    const service = await serve();
    await service.send("POST", "/api/todoitems/", item(ids.one));
    server.pause();
    const reads = Array.from({ length: 10 }, () => service.fetch("/api/todoitems/"));
    // The process answers this request only after it has received the reads. So all of them have arrived.
    await service.fetch("/health/live");
    const { exitCode, stderr } = await service.stop();
    expect(exitCode).toBe(0);
    expect(stderr).not.toContain("cut off");
    for (const read of reads) expect((await read).status).toBe(503);
  });

  test("an instance that is told to stop does not wait for its commits much longer than its grace period", async () => {
    const service = await serve("--shutdown-grace", "1");
    await service.send("POST", "/api/todoitems/", item(ids.one));
    server.pause();
    const write = service.send("POST", "/api/todoitems/", item(ids.two)).catch(() => undefined);
    await service.fetch("/health/live");
    const ended = service.stop();
    const { exitCode, stderr } = await Promise.race([
      ended,
      Bun.sleep(8_000).then(() => ({ exitCode: -1, stderr: "" })),
    ]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("1 requests were cut off");
    expect(stderr).toContain("All confirmed writes are stored");
    expect(await write).toBeUndefined();
  });
});

test("a write is not answered before the standbys have it, even if PostgreSQL stops waiting for them", async () => {
  const service = await serve();
  await service.send("POST", "/api/todoitems/", item(ids.one));
  await server.run("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
  await server.run("SELECT pg_reload_conf()");
  await eventually(async () =>
    expect(await server.run("SHOW synchronous_standby_names")).toEqual([{ synchronous_standby_names: "nobody" }]),
  );
  let answered = false;
  const write = service.send("POST", "/api/todoitems/", item(ids.two)).then((response) => {
    answered = true;
    return response.status;
  });
  const cancelWaiting = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
  await eventually(async () => expect(await server.run(cancelWaiting)).toHaveLength(1));
  // Now the write is committed on this server, but on no standby. The service waits for a standby again.
  await eventually(async () => expect(await server.run("SELECT FROM todoitems.item")).toHaveLength(2));
  await eventually(async () =>
    expect(await server.run("SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'")).toHaveLength(1),
  );
  expect(answered).toBe(false);
  await server.run("ALTER SYSTEM RESET synchronous_standby_names");
  await server.run("SELECT pg_reload_conf()");
  expect(await write).toBe(201);
});
