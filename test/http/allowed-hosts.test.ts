// The protection against DNS rebinding. In this attack, the name of a hostile page is made to resolve to this machine.
// Only the Host header shows that the page's requests do not come from the service's own clients.

import { afterEach, describe, expect, test } from "bun:test";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { AllowedHosts } from "../../src/http/allowed-hosts.ts";
import { listen, type RunningServer } from "../../src/wire/listen.ts";
import { Service } from "../service.ts";
import { listenOptions } from "./listen-options.ts";
import { exchange } from "./raw-connection.ts";

let server: RunningServer | undefined;
afterEach(() => server?.stop(0));

async function start(names?: readonly string[]): Promise<RunningServer> {
  const { app } = await Service.on(new MemoryEngine(), { hosts: names && new AllowedHosts(names) });
  server = listen(app, listenOptions);
  return server;
}

const ask = (port: number, host: string, method = "GET", path = "/api/todoitems/") =>
  exchange(port, `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);

const allowed = [
  "localhost",
  "LocalHost:5000",
  "localhost.",
  "app.localhost:5000",
  "127.0.0.1:5000",
  "10.0.2.2:5000",
  "192.168.1.20",
  "[::1]:5000",
  "[fe80::1]",
  "my-machine",
  "Todo.Example:8080",
];
const refused = [
  "evil.example",
  "evil.example:5000",
  "localhost.evil.example",
  "127.0.0.1.evil.example",
  "notlocalhost",
  "todo.example.evil",
  "0x7f000001.evil",
  "xn--localhost-.example",
];

describe("an instance that checks hosts", () => {
  for (const host of allowed) {
    test(`answers a request to ${host}`, async () => {
      const { port } = await start(["my-machine", "todo.example"]);
      expect(await ask(port, host)).toStartWith("HTTP/1.1 200");
    });
  }

  for (const host of refused) {
    test(`refuses a request to ${host} with 421 and names the flag, but not with a foreign name to paste`, async () => {
      const { port } = await start(["my-machine", "todo.example"]);
      const answer = await ask(port, host);
      expect(answer).toStartWith("HTTP/1.1 421 Misdirected Request");
      expect(answer).toContain('"code":"HostNotAllowed"');
      expect(answer).toContain(`the name ${host.replace(/:.*/, "")}. Use localhost`);
      expect(answer).toContain("--allow-host and this name.");
    });
  }

  test("refuses every method and every path, before it looks at anything else", async () => {
    const { port } = await start([]);
    for (const [method, path] of [
      ["DELETE", "/api/todoitems/11111111-1111-4111-8111-111111111111"],
      ["OPTIONS", "/api/todoitems/"],
      ["GET", "/changes"],
      ["GET", "/health/live"],
      ["GET", "/"],
      ["GET", "/nowhere"],
    ] as const)
      expect(await ask(port, "evil.example", method, path)).toStartWith("HTTP/1.1 421");
  });

  test("refuses another name right after an allowed one", async () => {
    const { port } = await start([]);
    expect(await ask(port, "localhost")).toStartWith("HTTP/1.1 200");
    expect(await ask(port, "evil.example")).toStartWith("HTTP/1.1 421");
    expect(await ask(port, "localhost")).toStartWith("HTTP/1.1 200");
  });

  test("answers HTTP/1.0 without a Host, which no browser sends", async () => {
    const { port } = await start([]);
    expect(await exchange(port, "GET /api/todoitems/ HTTP/1.0\r\n\r\n")).toStartWith("HTTP/1.1 200");
  });
});

test("an instance that does not check hosts answers to every name", async () => {
  const { port } = await start();
  expect(await ask(port, "evil.example")).toStartWith("HTTP/1.1 200");
});
