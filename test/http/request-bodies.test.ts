// Every method reads or refuses a body in the same way, even if it does not use the body.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { listen, type RunningServer } from "../../src/wire/listen.ts";
import type { HttpRequest } from "../../src/wire/message.ts";
import { ids, item, Service } from "../service.ts";
import { listenOptions } from "./listen-options.ts";
import { RawConnection } from "./raw-connection.ts";

const one = item(ids.one);
const file = { mediaType: "text/plain", bytes: new Uint8Array(2), immutable: false };
const operations = [
  { method: "GET", path: "/api/todoitems/", status: 200 },
  { method: "GET", path: `/api/todoitems/${ids.one}`, status: 200 },
  { method: "GET", path: "/changes", status: 200 },
  { method: "GET", path: "/health/live", status: 200 },
  { method: "GET", path: "/health/ready", status: 200 },
  { method: "GET", path: "/file", status: 200 },
  { method: "PUT", path: "/api/todoitems/", status: 204 },
  { method: "DELETE", path: `/api/todoitems/${ids.one}`, status: 204 },
  { method: "POST", path: "/api/todoitems/", status: 201 },
] as const;

let server: RunningServer;

beforeAll(async () => {
  const site = { find: async ({ path }: HttpRequest) => (path === "/file" ? file : undefined) };
  const service = await Service.on(new MemoryEngine(), { bodyBytesMax: 1_000, site });
  await service.send("POST", "/api/todoitems/", one);
  server = listen(service.app, listenOptions);
});
afterAll(() => server.stop(0));

async function answerTo(method: string, path: string, framing: string, body: string): Promise<string> {
  const connection = await RawConnection.open(server.port);
  const headers = ["Host: a", "Accept: application/json", "Content-Type: application/json", framing];
  connection.send(`${method} ${path} HTTP/1.1\r\n${headers.join("\r\n")}\r\n\r\n${body}`);
  const answer = await connection.until(/HTTP\/1\.1 (\d+) .*?\r\n\r\n/s);
  connection.close();
  return answer;
}

describe.each([...operations])("$method $path", ({ method, path, status }) => {
  test("refuses a malformed chunked body", async () => {
    const answer = await answerTo(method, path, "Transfer-Encoding: chunked", "zz\r\n");
    expect(answer).toStartWith("HTTP/1.1 400");
    expect(answer).toContain("Connection: close");
  });

  test("refuses a body over the limit before it has arrived", async () => {
    expect(await answerTo(method, path, "Content-Length: 1001", "")).toStartWith("HTTP/1.1 413");
  });

  test("refuses a chunked body that grows over the limit", async () => {
    const chunk = `${(600).toString(16)}\r\n${" ".repeat(600)}\r\n`;
    expect(await answerTo(method, path, "Transfer-Encoding: chunked", chunk + chunk)).toStartWith("HTTP/1.1 413");
  });

  test("accepts a well-formed body", async () => {
    const chunks = `${one.length.toString(16)}\r\n${one}\r\n0\r\n\r\n`;
    const answer = await answerTo(method, path, "Transfer-Encoding: chunked", chunks);
    expect(answer).toStartWith(`HTTP/1.1 ${status}`);
    expect(answer).not.toContain("Connection: close");
  });
});
