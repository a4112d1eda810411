// Tests what can only be seen on sockets: the bytes of an answer, whether the connection stays open, time limits, and
// stopping.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { realLimits } from "../../src/collection/limits.ts";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { withRequestLog } from "../../src/http/request-log.ts";
import { addressesOf } from "../../src/serve/loopback.ts";
import { connectionsMax, type ListenOptions, listen, type RunningServer } from "../../src/wire/listen.ts";
import { Answer } from "../../src/wire/message.ts";
import { SharedLimit } from "../../src/wire/shared-limit.ts";
import { checkedFetch } from "../description/checked-answer.ts";
import { eventually } from "../eventually.ts";
import { ids, item, type LogEntry, Service, type ServiceOptions } from "../service.ts";
import { connectionLimit, listenOptions } from "./listen-options.ts";
import { exchange, RawConnection } from "./raw-connection.ts";

let server: RunningServer;
let service: Service;
const log: LogEntry[] = [];

interface StartOptions extends ServiceOptions, Partial<ListenOptions> {
  readonly logRequests?: boolean;
}

async function start({ logRequests = false, ...options }: StartOptions = {}): Promise<void> {
  service = await Service.on(new MemoryEngine(), options);
  const note = (level: string, message: string) => log.push({ level, message });
  server = listen(logRequests ? withRequestLog(service.app, note) : service.app, {
    ...listenOptions,
    onDefect: (error) => note("error", String(error)),
    ...options,
  });
}

beforeEach(() => {
  log.length = 0;
  return start();
});
afterEach(() => server.stop(0));

async function restart(options: StartOptions): Promise<void> {
  await server.stop(0);
  await start(options);
}

const head = (method: string, path: string, ...headers: string[]) =>
  [`${method} ${path} HTTP/1.1`, "Host: localhost", ...headers, "", ""].join("\r\n");
const closing = "Connection: close";
const json = "Content-Type: application/json";

/**
 * Waits for an answer on a new connection. By then the server has read everything that was sent on earlier connections.
 */
const serverHasRead = () => exchange(server.port, head("GET", "/", closing));

function parse(answer: string): { status: number; headers: Headers; body: string } {
  const [top = "", ...body] = answer.split("\r\n\r\n");
  const [statusLine = "", ...lines] = top.split("\r\n");
  const headers = new Headers(
    lines.map((line): [string, string] => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1)]),
  );
  return { status: Number(statusLine.split(" ")[1]), headers, body: body.join("\r\n\r\n") };
}

function statuses(answers: string): string[] {
  return [...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status = ""]) => status);
}

describe("answers on the wire", () => {
  test("HEAD gets 405 with Allow and no body", async () => {
    const { status, headers, body } = parse(await exchange(server.port, head("HEAD", "/api/todoitems/", closing)));
    expect([status, headers.get("allow"), body]).toEqual([405, "GET, POST, PUT", ""]);
  });

  for (const method of ["TRACE", "CONNECT", "PURGE", "QUERY", "OPTIONS", "PATCH", "LINK"]) {
    test(`${method} gets 405 with Allow`, async () => {
      const { status, headers } = parse(
        await exchange(server.port, head(method, `/api/todoitems/${ids.one}`, closing)),
      );
      expect([status, headers.get("allow")]).toEqual([405, "GET, POST, PUT, DELETE"]);
    });
  }

  test("a 204 answer has neither Content-Type nor Content-Length", async () => {
    await service.create(item(ids.one));
    const body = item(ids.one);
    const update = parse(
      await exchange(
        server.port,
        head("PUT", "/api/todoitems/", json, `Content-Length: ${body.length}`, closing) + body,
      ),
    );
    const remove = parse(await exchange(server.port, head("DELETE", `/api/todoitems/${ids.one}`, closing)));
    for (const { status, headers, body } of [update, remove]) {
      expect([
        status,
        headers.get("content-type"),
        headers.get("content-length"),
        headers.get("transfer-encoding"),
        body,
      ]).toEqual([204, null, null, null, ""]);
    }
  });

  test("a long list has a Content-Length and is sent completely", async () => {
    for (let count = 0; count < 500; count++) await service.create(`{"Notes":"${"é".repeat(500)}"}`);
    const headers = { "Accept-Encoding": "identity" };
    const response = await checkedFetch(`http://127.0.0.1:${server.port}/api/todoitems/`, { headers });
    expect(response.headers.get("content-length")).toBe(String(service.collection.listBytes));
    expect(await response.json()).toHaveLength(500);
  });

  test("one connection serves several requests", async () => {
    const connection = await RawConnection.open(server.port);
    const body = item(ids.one);
    connection.send(head("POST", "/api/todoitems/", json, `Content-Length: ${body.length}`) + body);
    await connection.until(/201 Created.*\}$/s);
    connection.send(head("GET", "/api/todoitems/"));
    await connection.until(/200 OK.*\]$/s);
    connection.send(head("GET", "/nowhere", closing));
    expect(statuses(await connection.untilClosed())).toEqual(["201", "200", "404"]);
  });

  test("pipelined reads are answered in order", async () => {
    const connection = await RawConnection.open(server.port);
    connection.send(head("GET", "/api/todoitems/") + head("GET", "/nowhere") + head("PATCH", "/api/", closing));
    expect(statuses(await connection.untilClosed())).toEqual(["200", "404", "405"]);
  });

  test("a chunked body is accepted", async () => {
    const chunks = ['{"ID":', `"${ids.one}"}`].map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join("");
    const { status, body } = parse(
      await exchange(
        server.port,
        `${head("POST", "/api/todoitems/", json, "Transfer-Encoding: chunked", closing)}${chunks}0\r\n\r\n`,
      ),
    );
    expect([status, body]).toEqual([201, `{"ID":"${ids.one}"}`]);
  });

  test("an invalid Host gets 400 with a problem document", async () => {
    const answer = parse(
      await exchange(server.port, `GET /api/todoitems/ HTTP/1.1\r\nHost: a b\r\n${closing}\r\n\r\n`),
    );
    expect([answer.status, answer.headers.get("content-type")]).toEqual([400, "application/problem+json"]);
  });

  test("of 64 connections that send the same create, one gets 201 and 63 get 409", async () => {
    const body = item(ids.one);
    const request = head("POST", "/api/todoitems/", json, `Content-Length: ${body.length}`, closing) + body;
    const answers = await Promise.all(Array.from({ length: 64 }, () => exchange(server.port, request)));
    expect(answers.map((answer) => parse(answer).status).sort()).toEqual([201, ...Array(63).fill(409)]);
  });
});

test("requests that arrive together over many connections share commits", async () => {
  let commits = 0;
  const engine = new (class extends MemoryEngine {
    override commit(...args: Parameters<MemoryEngine["commit"]>): Promise<boolean> {
      commits++;
      return super.commit(...args);
    }
  })();
  await server.stop(0);
  service = await Service.on(engine, { limits: realLimits });
  server = listen(service.app, listenOptions);
  const connections = await Promise.all(Array.from({ length: 64 }, () => RawConnection.open(server.port)));
  for (const connection of connections)
    connection.send(`${head("POST", "/api/todoitems/", json, "Content-Length: 2")}{}`);
  await Promise.all(connections.map((connection) => connection.until(/201 Created/)));
  for (const connection of connections) connection.close();
  expect(service.collection.count).toBe(64);
  expect(commits).toBeLessThan(32);
});

describe("limits", () => {
  test("a body whose declared length is exactly the limit is accepted", async () => {
    await restart({ bodyBytesMax: 1_000 });
    const body = "{}".padEnd(1_000);
    const answer = await exchange(
      server.port,
      head("POST", "/api/todoitems/", json, `Content-Length: ${body.length}`, closing) + body,
    );
    expect(parse(answer).status).toBe(201);
  });

  test("a body whose declared length is over the limit gets 413 before it is sent", async () => {
    await restart({ bodyBytesMax: 1_000 });
    const connection = await RawConnection.open(server.port);
    connection.send(head("POST", "/api/todoitems/", json, "Content-Length: 1001"));
    const answer = parse(await connection.until(/\}$/));
    expect([answer.status, JSON.parse(answer.body).code]).toEqual([413, "BodyTooLarge"]);
    connection.close();
  });

  test("a client that sends an oversized body in full before reading still gets its 413 and can reuse the connection", async () => {
    await restart({ bodyBytesMax: 1_000 });
    const connection = await RawConnection.open(server.port);
    connection.send(head("POST", "/api/todoitems/", json, "Content-Length: 5000000"));
    connection.send(" ".repeat(5_000_000));
    connection.send(head("GET", "/api/todoitems/", closing));
    expect(statuses(await connection.untilClosed())).toEqual(["413", "200"]);
  });

  test("a body whose declared length is beyond 64 MiB gets 413, and the connection closes", async () => {
    const answer = await exchange(server.port, head("POST", "/api/todoitems/", json, "Content-Length: 99999999999"));
    expect(parse(answer).headers.get("connection")).toBe("close");
    expect(parse(answer).status).toBe(413);
  });

  test("a chunked body that grows too large is refused while it arrives, and the connection closes", async () => {
    await restart({ bodyBytesMax: 1_000 });
    const connection = await RawConnection.open(server.port);
    connection.send(head("POST", "/api/todoitems/", json, "Transfer-Encoding: chunked"));
    for (let count = 0; count < 11; count++) connection.send(`64\r\n${" ".repeat(100)}\r\n`);
    const answer = parse(await connection.untilClosed());
    expect([answer.status, JSON.parse(answer.body).code]).toEqual([413, "BodyTooLarge"]);
  });

  test("a request whose body does not arrive within the request timeout gets 408", async () => {
    await restart({ requestTimeoutMs: 300 });
    const connection = await RawConnection.open(server.port);
    connection.send(head("POST", "/api/todoitems/", json, "Content-Length: 1000"));
    const drip = setInterval(() => connection.send(" "), 50);
    const answer = parse(await connection.untilClosed());
    clearInterval(drip);
    expect([answer.status, JSON.parse(answer.body).code]).toEqual([408, "RequestTimeout"]);
  });

  test("a request whose head does not arrive within the request timeout gets 408", async () => {
    await restart({ requestTimeoutMs: 700 });
    const connection = await RawConnection.open(server.port);
    connection.send("GET /api/todoitems/ HTTP/1.1\r\nX-Drip: ");
    const drip = setInterval(() => connection.send("x"), 500);
    expect(statuses(await connection.untilClosed())).toEqual(["408"]);
    clearInterval(drip);
  });

  test("a client that waits for 100 Continue gets no extra time for its body", async () => {
    await restart({ requestTimeoutMs: 300, idleTimeoutMs: 60_000 });
    const connection = await RawConnection.open(server.port);
    connection.send(head("POST", "/api/todoitems/", json, "Content-Length: 100", "Expect: 100-continue"));
    expect(statuses(await connection.untilClosed())).toEqual(["100", "408"]);
  });

  test("if a client stops sending in the middle of a refused body, its connection is closed at once", async () => {
    const end = Promise.withResolvers<void>();
    service.app.handle = async ({ path }) => {
      if (path === "/nowhere") await end.promise;
      return new Answer(404, {});
    };
    const connection = await RawConnection.open(server.port);
    connection.send(`${head("POST", "/nowhere", "Content-Length: 100")}abc`);
    connection.endSending();
    await serverHasRead();
    end.resolve();
    expect(statuses(await connection.untilClosed())).toEqual(["404"]);
  });

  test("a client that stops sending before a change feed begins is disconnected at once", async () => {
    const handle = service.app.handle.bind(service.app);
    const begin = Promise.withResolvers<void>();
    service.app.handle = async (request) => {
      if (request.path === "/changes") await begin.promise;
      return handle(request);
    };
    const connection = await RawConnection.open(server.port);
    connection.send(head("GET", "/changes"));
    connection.endSending();
    await serverHasRead();
    begin.resolve();
    await connection.untilClosed();
  });

  test("a head of 16 KiB is accepted wherever it is split, and one byte more is always refused", async () => {
    const start = "GET /api/todoitems/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX: ";
    for (const [length, status] of [
      [16 * 1024, "200"],
      [16 * 1024 + 1, "431"],
    ] as const) {
      const request = `${start.padEnd(length, "x")}\r\n\r\n`;
      for (let cut = length - 2; cut <= length + 4; cut++) {
        const connection = await RawConnection.open(server.port);
        connection.send(request.slice(0, cut));
        await serverHasRead();
        connection.send(request.slice(cut));
        expect(statuses(await connection.untilClosed())).toEqual([status]);
      }
    }
  });

  test("a thousand chunks are read as one body", async () => {
    const body = item(ids.one).padEnd(1_000);
    const chunks = Array.from(body, (character) => `1\r\n${character}\r\n`).join("");
    const answer = await exchange(
      server.port,
      `${head("POST", "/api/todoitems/", json, "Transfer-Encoding: chunked", closing)}${chunks}0\r\n\r\n`,
    );
    expect(statuses(answer)).toEqual(["201"]);
    expect(await service.list()).toBe(`[${item(ids.one)}]`);
  });

  test("an idle connection is closed", async () => {
    await restart({ idleTimeoutMs: 300 });
    const connection = await RawConnection.open(server.port);
    connection.send(head("GET", "/api/todoitems/"));
    expect(parse(await connection.untilClosed()).status).toBe(200);
  });

  test("if a client disconnects in the middle of its body, nothing changes and no error is logged", async () => {
    await restart({ logRequests: true });
    const connection = await RawConnection.open(server.port);
    connection.send(`${head("POST", "/api/todoitems/", json, "Content-Length: 100")}{"a"`);
    connection.close();
    await eventually(() => log.length > 0);
    expect(log.map(({ level }) => level)).toEqual(["info"]);
    expect(service.log.map(({ level }) => level)).toEqual(["warn"]);
    expect(await service.list()).toBe("[]");
  });
});

describe("the number of connections", () => {
  const open = (count: number) => Promise.all(Array.from({ length: count }, () => RawConnection.open(server.port)));

  async function askAll(connections: readonly RawConnection[]): Promise<string[]> {
    for (const connection of connections) connection.send(head("GET", "/api/todoitems/"));
    return Promise.all(
      connections.map(async (connection) => statuses(await connection.until(/\r\n\r\n/))[0] ?? "closed"),
    );
  }

  test("connections up to the limit are served, and connections over it get 503", async () => {
    await restart({ connections: connectionLimit(3) });
    const connections = await open(5);
    expect((await askAll(connections)).sort()).toEqual(["200", "200", "200", "503", "503"]);
    for (const connection of connections) connection.close();
  });

  test("the limit is 10,000 connections", async () => {
    const connections = connectionLimit();
    expect(connectionsMax).toBe(10_000);
    await restart({ connections });
    connections.take("192.0.2.1", 9_999);
    const opened = await open(2);
    expect((await askAll(opened)).sort()).toEqual(["200", "503"]);
    for (const connection of opened) connection.close();
  });

  test.skipIf(addressesOf("localhost").length === 1)(
    "one address has at most half of the connections, whatever it does with them, and its idle ones make room for its new ones",
    async () => {
      await restart({ addresses: addressesOf("localhost"), connections: new SharedLimit(8) });
      const unfinished = await open(4);
      for (const connection of unfinished) connection.send("GET /api/todo");
      const more = await open(4);
      expect(await askAll(more)).toEqual(["503", "503", "503", "503"]);
      const other = Array.from({ length: 4 }, () => RawConnection.open(server.port, "::1"));
      expect(await askAll(await Promise.all(other))).toEqual(["200", "200", "200", "200"]);
      for (const connection of unfinished) connection.send("items/ HTTP/1.1\r\nHost: a\r\n\r\n");
      for (const connection of unfinished) await connection.until(/200 OK/);
      await eventually(async () =>
        (await exchange(server.port, head("GET", "/api/todoitems/", closing))).includes(" 200 "),
      );
    },
  );

  test("a service with too many connections still says that it is live", async () => {
    await restart({ connections: connectionLimit(1) });
    const [first] = await open(1);
    first?.send("GET /");
    const live = await exchange(server.port, head("GET", "/health/live"));
    expect(live).toStartWith("HTTP/1.1 200 ");
    expect(live).toContain("Connection: close");
    expect(await exchange(server.port, head("GET", "/health/ready"))).toStartWith("HTTP/1.1 503 ");
    first?.close();
  });

  test("once a connection has closed, another is served in its place", async () => {
    await restart({ connections: connectionLimit(3) });
    const feeds = await open(3);
    for (const feed of feeds) feed.send(head("GET", "/changes"));
    for (const feed of feeds) await feed.until(/event: ready/);
    const request = head("GET", "/api/todoitems/", closing);
    const refused = await exchange(server.port, request);
    expect(refused).toStartWith("HTTP/1.1 503 ");
    expect(refused).toContain("Retry-After: 1\r\n");
    expect(refused).toContain('"code":"Overloaded"');
    feeds[0]?.close();
    await eventually(async () => (await exchange(server.port, request)).startsWith("HTTP/1.1 200 "));
    for (const feed of feeds) feed.close();
  });

  test("the connections of all addresses count together, and idle ones are closed to make room for others", async () => {
    // The silent connections are open on the first address, and the requests come to the last one.
    const addresses = addressesOf("localhost");
    await restart({ addresses, connections: connectionLimit(4) });
    const silent = await open(4);
    const host = addresses.length > 1 ? "[::1]" : "127.0.0.1";
    const request = () =>
      checkedFetch(`http://${host}:${server.port}/api/todoitems/`, { headers: { Connection: "close" } });
    expect((await request()).status).toBe(503);
    await eventually(async () => (await request()).status === 200);
    for (const connection of silent) await connection.untilClosed();
  });

  test.each([
    ["a head", "GET /api/todo", ["503"]],
    ["a body", head("POST", "/api/todoitems/", json, "Content-Length: 5"), ["503"]],
    ["a body that nobody reads", head("POST", "/nowhere", json, "Content-Length: 5"), ["404"]],
  ])(
    "connections that wait too long for the rest of %s are closed to make room for others",
    async (_what, text, answers) => {
      await restart({ connections: connectionLimit(2), surplus: connectionLimit(1), requestTimeoutMs: 3_600_000 });
      const slow = await open(3);
      for (const connection of slow) connection.send(text);
      await eventually(async () =>
        (await exchange(server.port, head("GET", "/api/todoitems/", closing))).includes(" 200 "),
      );
      expect(statuses((await slow[0]?.untilClosed()) ?? "")).toEqual(answers);
    },
  );

  test("connections far over the limit are closed at once, and are no longer counted", async () => {
    const [connections, surplus] = [connectionLimit(3), connectionLimit(2)];
    await restart({ connections, surplus });
    const answers = await askAll(await open(10));
    expect(answers.sort()).toEqual(["200", "200", "200", "503", "503", ...Array(5).fill("closed")]);
    await server.stop(0);
    expect([connections.used, surplus.used]).toEqual([0, 0]);
    expect(log).toEqual([]);
  });

  test("the first connection after a time without connections gets its full idle timeout", async () => {
    await restart({ idleTimeoutMs: 2_000 });
    // This test is about time, so it has to sleep.
    await Bun.sleep(2_100);
    const connection = await RawConnection.open(server.port);
    // If the server's clock were not up to date, the connection would seem idle for more than two seconds. The server
    // would then close it now.
    await Bun.sleep(200);
    connection.send(head("GET", "/api/todoitems/", closing));
    expect(statuses(await connection.untilClosed())).toEqual(["200"]);
  });
});

describe("the log of requests", () => {
  test("the request log has one line for each request, with method, URL, status and the address of the client", async () => {
    await restart({ logRequests: true });
    await exchange(server.port, head("GET", "/api/todoitems/?q=1", closing));
    expect(log).toEqual([
      {
        level: "info",
        message: expect.stringMatching(/^GET http:\/\/localhost\/api\/todoitems\/\?q=1 200 \d+ms from 127.0.0.1$/),
      },
    ]);
  });

  test("the request log also has a line for a request that cannot be read, with the reason", async () => {
    await restart({ logRequests: true });
    await exchange(server.port, "GET /api/todoitems/ HTTP/1.1\r\n\r\n");
    expect(log).toEqual([
      { level: "info", message: expect.stringMatching(/^400 for a request that could not be read: .*Host/) },
    ]);
  });
});

describe("listening and stopping", () => {
  test("before a stop, every request is answered, and every connection closes after its answer", async () => {
    const connection = await RawConnection.open(server.port);
    connection.send(head("GET", "/api/todoitems/"));
    expect(await connection.until(/\[\]$/)).not.toContain(closing);
    server.drain();
    connection.send(head("GET", "/api/todoitems/"));
    const answers = await connection.untilClosed();
    expect(statuses(answers)).toEqual(["200", "200"]);
    expect(answers).toContain(closing);
    const next = await exchange(server.port, head("GET", "/api/todoitems/"));
    expect(next).toStartWith("HTTP/1.1 200 ");
    expect(next).toContain(closing);
  });

  test("a stop answers the request in progress and accepts no new connections", async () => {
    const connection = await RawConnection.open(server.port);
    const body = item(ids.one);
    connection.send(
      `${head("POST", "/api/todoitems/", json, `Content-Length: ${body.length}`, "Expect: 100-continue")}`,
    );
    await connection.until(/100 Continue/);
    const stopped = server.stop(5_000);
    connection.send(body);
    expect(await connection.untilClosed()).toContain("201 Created");
    expect(await stopped).toBe(0);
    await expect(RawConnection.open(server.port)).rejects.toThrow();
  });

  test("a stop that is asked for again while it is under way ends once, for all who asked", async () => {
    const connection = await RawConnection.open(server.port);
    connection.send(`${head("POST", "/api/todoitems/", json, "Content-Length: 9", "Expect: 100-continue")}`);
    await connection.until(/100 Continue/);
    const stops = [server.stop(500), server.stop(500)];
    expect(await Promise.all(stops)).toEqual([1, 1]);
  });

  test("a stop answers the first request of a connection that was opened just before, and one that has begun", async () => {
    const connections = [await RawConnection.open(server.port), await RawConnection.open(server.port)];
    const [first, second] = connections;
    second?.send("GET /api/todoitems/ HTTP/1.1\r\n");
    await serverHasRead();
    const stopped = server.stop(5_000);
    first?.send(head("GET", "/api/todoitems/"));
    second?.send("Host: localhost\r\n\r\n");
    for (const connection of connections) {
      const answer = await connection.untilClosed();
      expect(answer).toStartWith("HTTP/1.1 200 ");
      expect(answer).toContain(closing);
    }
    expect(await stopped).toBe(0);
  });

  test("a stop closes connections that are idle after an answer", async () => {
    const connection = await RawConnection.open(server.port);
    connection.send(head("GET", "/api/todoitems/"));
    await connection.until(/\[\]$/);
    expect(await server.stop(5_000)).toBe(0);
    expect(statuses(await connection.untilClosed())).toEqual(["200"]);
  });

  test("a stop drops the connections of requests that are not finished within the grace period", async () => {
    const connection = await RawConnection.open(server.port);
    connection.send(head("POST", "/api/todoitems/", json, "Content-Length: 100", "Expect: 100-continue"));
    await connection.until(/100 Continue/);
    expect(await server.stop(50)).toBe(1);
    expect(await connection.untilClosed()).not.toContain("201");
  });
});
