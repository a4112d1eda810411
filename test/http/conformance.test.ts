// Tests HTTP/1.1 byte by byte over raw connections: how each request is answered, and whether the connection stays
// open. Cases with a single request are in conformance-cases.ts.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { listen, type RunningServer } from "../../src/wire/listen.ts";
import { checkedFetch } from "../description/checked-answer.ts";
import { Service } from "../service.ts";
import { chunked, conformanceGroups, get, line, outcomeOf, path, post, wellChunked } from "./conformance-cases.ts";
import { listenOptions } from "./listen-options.ts";
import { RawConnection } from "./raw-connection.ts";

let server: RunningServer;

beforeAll(async () => {
  const { app } = await Service.on(new MemoryEngine());
  server = listen(app, listenOptions);
});
afterAll(() => server.stop(0));

for (const [group, cases] of Object.entries(conformanceGroups)) {
  describe(group, () => {
    for (const { title, request, outcome } of cases) {
      test(`${title}: ${outcome}`, async () => {
        expect(await outcomeOf(server.port, request)).toBe(outcome);
      });
    }
  });
}

describe("the connection", () => {
  test("a client that waits for 100 Continue gets it, and then gets its answer", async () => {
    const connection = await RawConnection.open(server.port);
    connection.send(post(["Content-Length: 2", "Expect: 100-continue", "Connection: close"], ""));
    await connection.until(/100 Continue\r\n\r\n/);
    connection.send("{}");
    expect(await connection.untilClosed()).toContain("201 Created");
  });

  test("a client that waits for 100 Continue before a body that is too large gets 413, and the connection closes", async () => {
    const connection = await RawConnection.open(server.port);
    const tooLarge = "Content-Length: 2000000";
    connection.send(post([tooLarge, "Expect: 100-continue"], ""));
    const answer = await connection.untilClosed();
    expect(answer).toStartWith("HTTP/1.1 413");
    expect(answer).toContain("Connection: close");
  });

  test("pipelined requests are answered in order, even if some are writes and some are refused", async () => {
    const connection = await RawConnection.open(server.port);
    const sent = [
      post(["Content-Length: 2"]),
      get(),
      post(["Content-Length: 3"], "{x}"),
      chunked(wellChunked),
      `${line("DELETE /nowhere HTTP/1.1", "Content-Length: 4")}body`,
      get("/nowhere", "Connection: close"),
      get(),
    ];
    connection.send(sent.join(""));
    const statuses = [...(await connection.untilClosed()).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    expect(statuses).toEqual(["201", "200", "400", "201", "404", "404"]);
  });

  test("malformed input is refused with a problem document", async () => {
    for (const request of ["GET\r\n\r\n", get(path, "X : y"), line("GET / HTTP/3.0"), get(`/${"a".repeat(20_000)}`)]) {
      const connection = await RawConnection.open(server.port);
      connection.send(request);
      const [head = "", body = ""] = (await connection.untilClosed()).split("\r\n\r\n");
      expect(head).toContain("Content-Type: application/problem+json");
      expect(JSON.parse(body)).toMatchObject({
        type: expect.stringContaining("/docs#"),
        status: Number(head.split(" ")[1]),
      });
    }
  });

  test("a request is answered even if the client closes its sending side at once", async () => {
    const connection = await RawConnection.open(server.port);
    connection.send(get());
    connection.endSending();
    expect(await connection.untilClosed()).toContain("200 OK");
  });

  test("a request that arrives byte by byte is read as one request", async () => {
    const connection = await RawConnection.open(server.port);
    for (const character of post(["Content-Length: 2", "Connection: close"])) {
      connection.send(character);
      await Bun.sleep(0);
    }
    expect(await connection.untilClosed()).toContain("201 Created");
  });

  test("a body that ends before its declared length changes nothing", async () => {
    const list = async () => (await checkedFetch(`http://127.0.0.1:${server.port}${path}`)).text();
    const before = await list();
    const connection = await RawConnection.open(server.port);
    connection.send(post(["Content-Length: 50"]));
    connection.endSending();
    expect(await connection.untilClosed()).not.toContain("201");
    expect(await list()).toBe(before);
  });
});
