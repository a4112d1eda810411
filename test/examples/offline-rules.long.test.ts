// Runs examples/python/offline.py behind a gateway that loses answers and switches between services. In each of these
// cases, a client that breaks a rule of docs/sync.md would lose an edit, or silently overwrite somebody else's change.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { eventually } from "../eventually.ts";
import { projectFolder } from "../program.ts";
import { Service } from "../service.ts";
import { Device } from "./device.ts";
import { hasPython } from "./transcript.ts";

let folder: ReturnType<typeof temporaryFolder>;
let engine: MemoryEngine;
let service: Service;
let gateway: ReturnType<typeof startGateway>;
let devices: Device[];
let follower: Subprocess | undefined;
/** Every request so far, as `METHOD PATH`. */
let requests: string[];
/**
 * Called for every request. If this function returns an answer, the client gets that answer instead of the service's.
 */
let intervene: (method: string, send: () => Promise<Response>) => Promise<Response | undefined>;

beforeEach(async () => {
  folder = temporaryFolder();
  engine = new MemoryEngine();
  service = await Service.on(engine, { heartbeatMs: 50 });
  gateway = startGateway();
  devices = [];
  requests = [];
  intervene = async () => undefined;
});

afterEach(async () => {
  for (const device of devices) device.end();
  follower?.kill();
  follower = undefined;
  await gateway.stop(true);
  folder.dispose();
});

function startGateway() {
  return Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const { method, headers } = request;
      requests.push(`${method} ${pathname}`);
      const body = method === "GET" ? null : await request.text();
      const send = () => service.fetch(method, pathname + search, { headers, body: body === "" ? null : body });
      return (await intervene(method, send)) ?? send();
    },
  });
}

const server = () => `http://127.0.0.1:${gateway.port}`;

function device(name: string): Device {
  const started = new Device(name, { folder: folder.path, server: server() });
  devices.push(started);
  return started;
}

async function runAll(client: Device, ...commands: string[]): Promise<string> {
  let printed = "";
  for (const command of commands) printed += await client.run(command);
  return printed;
}

/** The service carries out the next request with this method, but the client gets status 502 instead of the answer. */
function loseAnswerTo(lost: string): void {
  intervene = async (method, send) => {
    if (method !== lost) return undefined;
    intervene = async () => undefined;
    await send();
    return new Response(null, { status: 502 });
  };
}

async function storedItems(): Promise<Record<string, unknown>[]> {
  return JSON.parse(await service.list());
}

function outboxOf(name: string): unknown[] {
  return JSON.parse(readFileSync(join(folder.path, `${name}.json`), "utf8")).outbox;
}

describe.if(hasPython)("the offline client", () => {
  test("keeps its edits if the service became read-only, deletions too, and sends them when it is writable", async () => {
    const phone = device("phone");
    await runAll(
      phone,
      "add Buy milk",
      "add Pay the rent",
      "sync",
      'set "Buy milk" Done true',
      'remove "Pay the rent"',
    );
    const writable = service;
    service = await Service.on(engine, { readOnly: true });
    expect(await phone.run("sync")).toBe("The service is read-only. Edits that wait: 2\n");
    expect(requests.filter((request) => /^(?:PUT|DELETE)/.test(request))).toEqual([]);
    service = writable;
    await phone.run("sync");
    expect(await storedItems()).toMatchObject([{ Name: "Buy milk", Done: true }]);
  });

  test.each([
    ["PUT", 'set "Buy milk" Done true', [{ Name: "Buy milk", Done: true }]],
    ["DELETE", 'remove "Buy milk"', []],
  ])("keeps an edit if the service becomes read-only just before the %s", async (method, edit, expected) => {
    const phone = device("phone");
    await runAll(phone, "add Buy milk", "sync", edit);
    const writable = service;
    const readOnly = await Service.on(engine, { readOnly: true });
    intervene = async (sent) => {
      if (sent === method) service = readOnly;
      return undefined;
    };
    await phone.run("sync");
    expect([requests.at(-1)?.split(" ")[0], outboxOf("phone")]).toMatchObject([method, [{}]]);
    intervene = async () => undefined;
    service = writable;
    await phone.run("sync");
    expect([await storedItems(), outboxOf("phone")]).toMatchObject([expected, []]);
  });

  test("tells the user if somebody undid an update whose answer was lost", async () => {
    const [phone, laptop] = [device("phone"), device("laptop")];
    await runAll(phone, "add Buy milk", "sync", 'set "Buy milk" Done true');
    loseAnswerTo("PUT");
    expect(await phone.run("sync")).toStartWith("No connection");
    await runAll(laptop, "sync", 'set "Buy milk" Done false', "sync");
    expect(await phone.run("sync")).toMatch(/^Done of .* was false: overwritten\.\n$/);
  });

  test("does not delete an item again that somebody brought back after the answer to its deletion was lost", async () => {
    const phone = device("phone");
    await runAll(phone, "add Buy milk", "sync", 'remove "Buy milk"');
    const before = await storedItems();
    loseAnswerTo("DELETE");
    expect(await phone.run("sync")).toStartWith("No connection");
    await service.create(JSON.stringify(before[0]));
    expect(await phone.run("sync")).toMatch(/^Somebody changed .*, so it was not deleted\.\n$/);
    expect(await storedItems()).toEqual(before);
  });

  test("tells the user if a second edit of an item meets a change that came after the first was stored", async () => {
    const [phone, laptop] = [device("phone"), device("laptop")];
    await phone.run("add Buy milk");
    loseAnswerTo("POST");
    expect(await phone.run("sync")).toStartWith("No connection");
    await runAll(laptop, "sync", 'set "Buy milk" Notes \'"2 litres"\'', "sync");
    expect(await runAll(phone, 'set "Buy milk" Notes \'"1 litre"\'', "sync")).toMatch(/^Notes of .* was "2 litres": /);
    expect([await storedItems(), outboxOf("phone")]).toMatchObject([[{ Notes: "1 litre" }], []]);
  });

  test("asks for changes before it sends a create, so that it notices another store first", async () => {
    const phone = device("phone");
    await runAll(phone, "add Buy milk", "sync", "add Buy stamps");
    service = await Service.on(new MemoryEngine());
    requests.length = 0;
    expect(await phone.run("sync")).toStartWith("The service has another history");
    expect(requests).toEqual(["GET /changes/delta", "POST /api/todoitems/", "GET /changes/delta"]);
  });

  const follow = () => {
    const script = join(projectFolder, "examples/python/offline.py");
    const env = { ...process.env, TODOITEMS_SERVER: server() };
    follower = Bun.spawn(["python3", script, join(folder.path, "phone.json"), "follow"], { env, stdout: "ignore" });
  };

  test("sends edits again while a feed is open", async () => {
    await device("phone").run("add Buy milk");
    intervene = async (method) =>
      method !== "POST" || requests.includes("GET /changes/events") ? undefined : new Response(null, { status: 503 });
    follow();
    await eventually(() => expect(outboxOf("phone")).toEqual([]));
    expect(requests).toEqual([
      "GET /changes/delta",
      "POST /api/todoitems/",
      "GET /changes/events",
      "GET /changes/delta",
      "POST /api/todoitems/",
      "GET /changes/delta",
    ]);
  });

  test("does not revive an item if the feed tells of the deletion before the create was confirmed", async () => {
    await device("phone").run("add Buy milk");
    intervene = async (method, send) => {
      if (method !== "POST") return undefined;
      const { headers } = await send();
      await service.fetch("DELETE", headers.get("location") ?? "");
      return new Response(null, { status: 502 });
    };
    follow();
    await eventually(() => expect(outboxOf("phone")).toEqual([]));
    expect([await storedItems(), requests.filter((request) => request.startsWith("POST")).length]).toEqual([[], 1]);
  });
});
