// Tests what is specific to HTTP/2: the limits of streams and connections, when they end, and clients that break the
// protocol.

import "reflect-metadata";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type OutgoingHttpHeaders } from "node:http2";
import { join } from "node:path";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { developmentCertificate } from "../../src/tls/development-certificate.ts";
import { type Certificate, type ListenOptions, listen, type RunningServer } from "../../src/wire/listen.ts";
import { Answer, type HttpRequest } from "../../src/wire/message.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { eventually } from "../eventually.ts";
import { Service, type ServiceOptions } from "../service.ts";
import { listenOptions } from "./listen-options.ts";

const path = "/api/todoitems/";
let folder: ReturnType<typeof temporaryFolder>;
let certificate: Certificate;
let service: Service;
let server: RunningServer;
const sessions: ClientHttp2Session[] = [];

beforeAll(async () => {
  folder = temporaryFolder();
  const { cert, key } = await developmentCertificate(join(folder.path, "https"));
  certificate = { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
});
afterAll(() => folder.dispose());

afterEach(async () => {
  for (const session of sessions.splice(0)) session.destroy();
  await server.stop(0);
});

async function start(options: ServiceOptions & Partial<ListenOptions> = {}): Promise<void> {
  service = await Service.on(new MemoryEngine(), options);
  server = listen(service.app, { ...listenOptions, certificate, ...options });
}

function session(): ClientHttp2Session {
  const opened = connect(`https://127.0.0.1:${server.port}`, { rejectUnauthorized: false });
  opened.on("error", () => {});
  sessions.push(opened);
  return opened;
}

/** A client that writes its HTTP/2 frames itself, so it can stop sending without closing its streams or its session. */
class RawHttp2 {
  readonly #socket: TLSSocket;
  #received = "";
  #closed = false;

  private constructor(socket: TLSSocket) {
    this.#socket = socket;
    socket.setEncoding("latin1");
    socket.on("data", (text: string) => (this.#received += text));
    socket.on("close", () => (this.#closed = true));
    socket.on("error", () => {});
  }

  static async open(port: number): Promise<RawHttp2> {
    const options = { port, host: "127.0.0.1", rejectUnauthorized: false, ALPNProtocols: ["h2"], allowHalfOpen: true };
    const socket = connectTls(options);
    const connection = new RawHttp2(socket);
    await new Promise<void>((resolve) => socket.on("secureConnect", () => resolve()));
    socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    connection.#send(frame.settings, 0, 0, "");
    return connection;
  }

  /** Sends a whole request without a body, or the head of a request whose body follows. */
  request(stream: number, path: string, method: "GET" | "POST" = "GET"): void {
    // HPACK: indexed fields for the method and the scheme, then literal fields that are not indexed.
    const literal = (name: string, value: string) => `${name}${String.fromCharCode(value.length)}${value}`;
    const fields = literal("\x04", path) + literal("\x01", "localhost") + literal("\x0f\x10", "application/json");
    const head = `${method === "GET" ? "\x82" : "\x83"}\x87${fields}`;
    this.#send(frame.headers, method === "GET" ? 5 : 4, stream, head);
  }

  body(stream: number, text: string, isLast = false): void {
    this.#send(frame.data, isLast ? 1 : 0, stream, text);
  }

  /** Sends the beginning of a frame that claims to be far larger than the server allows. */
  breakProtocol(): void {
    this.#socket.write(Buffer.alloc(1_000, 0xff));
  }

  /** Collects everything that `action` writes, and sends it in one piece. */
  together(action: () => void): void {
    this.#socket.cork();
    action();
    this.#socket.uncork();
  }

  cancel(stream: number): void {
    this.#send(frame.cancel, 0, stream, "\0\0\0\x08");
  }

  endSending(): void {
    this.#socket.end();
  }

  close(): void {
    this.#socket.destroy();
  }

  async until(pattern: RegExp): Promise<string> {
    await eventually(() => pattern.test(this.#received));
    return this.#received;
  }

  async untilClosed(): Promise<string> {
    await eventually(() => this.#closed);
    return this.#received;
  }

  #send(type: number, flags: number, stream: number, content: string): void {
    const head = Buffer.from([0, 0, 0, type, flags, 0, 0, 0, 0]);
    head.writeUIntBE(content.length, 0, 3);
    head.writeUInt32BE(stream, 5);
    this.#socket.write(Buffer.concat([head, Buffer.from(content, "latin1")]));
  }
}

const frame = { data: 0, headers: 1, cancel: 3, settings: 4 } as const;

function statusOf(stream: ClientHttp2Stream): Promise<number> {
  stream.on("error", () => {});
  stream.resume();
  return new Promise((resolve) => stream.on("response", (headers) => resolve(Number(headers[":status"]))));
}

const get = (opened: ClientHttp2Session, fields: OutgoingHttpHeaders = {}) =>
  statusOf(opened.request({ ":path": path, ...fields }));

const closed = (emitter: ClientHttp2Session | ClientHttp2Stream) =>
  new Promise<void>((resolve) => emitter.on("close", () => resolve()));

test("a request that never ends is cancelled some time after its answer, whatever the answer is", async () => {
  await start({ idleTimeoutMs: 300, requestTimeoutMs: 300 });
  const etag = (await service.fetch("GET", path)).headers.get("etag") ?? "";
  for (const [fields, status] of [
    // The following requests are answered before the body is read.
    [{ ":path": "/nowhere" }, 404],
    [{ ":method": "PURGE" }, 405],
    // The following requests are answered when the time limit for the body has passed.
    [{}, 408],
    [{ "if-none-match": etag }, 408],
    [{ ":path": "/changes" }, 408],
  ] as const) {
    const stream = session().request({ ":path": path, ...fields }, { endStream: false });
    expect(await statusOf(stream)).toBe(status);
    await closed(stream);
  }
});

test("a change feed that has ended closes its stream", async () => {
  await start({ idleTimeoutMs: 300 });
  const stream = session().request({ ":path": "/changes" });
  expect(await statusOf(stream)).toBe(200);
  service.app.changeFeed.endAll();
  await closed(stream);
});

test("a stop sends GOAWAY, and the last bytes of a change feed", async () => {
  await start();
  const opened = session();
  const goneAway = new Promise<number>((resolve) => opened.on("goaway", resolve));
  const stream = opened.request({ ":path": "/changes" });
  let received = "";
  stream.setEncoding("utf8").on("data", (text: string) => (received += text));
  expect(await statusOf(stream)).toBe(200);
  service.app.changeFeed.stop();
  const stopped = server.stop(5_000);
  await closed(stream);
  expect(received).toMatch(/retry: [0-9]+\n\n$/);
  expect(await goneAway).toBe(0);
  expect(await stopped).toBe(0);
});

test("requests that arrive in one read share one query to the store, and later requests make another", async () => {
  const turns: unknown[] = [];
  const handle = ({ turn }: HttpRequest) => {
    turns.push(turn);
    return new Answer(200, {}, "[]");
  };
  server = listen({ handle, refuse: () => new Answer(400, {}) }, { ...listenOptions, certificate });
  const client = await RawHttp2.open(server.port);
  client.together(() => {
    client.request(1, path);
    client.request(3, path);
  });
  await client.until(/\[\].*\[\]/s);
  client.request(5, path);
  await eventually(() => turns.length === 3);
  client.close();
  expect(turns[0]).toBeDefined();
  expect(turns[1]).toBe(turns[0]);
  expect(turns[2]).not.toBe(turns[0]);
});

test("a request that ends with a separate frame is answered", async () => {
  await start();
  const stream = session().request({ ":path": path }, { endStream: false });
  const status = statusOf(stream);
  stream.end();
  expect(await status).toBe(200);
});

test("a head larger than the limit gets 431, even if it is small when compressed", async () => {
  await start({ headerBytesMax: 2_000 });
  const opened = session();
  expect(await get(opened, { "x-long": "a".repeat(1_500) })).toBe(200);
  expect(await get(opened, { "x-long": "a".repeat(2_000) })).toBe(431);
});

test("a connection over the limit gets 503 and is closed, and no longer counts against the limit", async () => {
  const connections = { open: 10, max: 10 };
  await start({ connections });
  const refused = session();
  const isClosed = closed(refused);
  expect(await get(refused)).toBe(503);
  await isClosed;
  await eventually(() => connections.open === 10);
  connections.open--;
  expect(await get(session())).toBe(200);
});

describe("a client that stops sending", () => {
  const connections = { open: 0, max: 10 };
  const isClosed = async (client: RawHttp2) => {
    const received = await client.untilClosed();
    await eventually(() => connections.open === 0);
    return received;
  };

  test("is disconnected at once if it waits for no answer", async () => {
    await start({ connections });
    const client = await RawHttp2.open(server.port);
    client.request(1, path);
    await client.until(/\[\]/);
    client.endSending();
    await isClosed(client);
  });

  test("gets the answers that it waits for, and is then disconnected", async () => {
    await start({ connections });
    const answer = Promise.withResolvers<Answer>();
    let asked = 0;
    service.app.handle = () => {
      asked++;
      return answer.promise;
    };
    const client = await RawHttp2.open(server.port);
    client.request(1, path);
    client.request(3, path);
    client.endSending();
    await eventually(() => asked === 2);
    // By the time another client has connected, the server has seen that the first client stopped sending.
    (await RawHttp2.open(server.port)).close();
    answer.resolve(new Answer(200, {}, "late answer".padEnd(30_000, ".")));
    const received = await isClosed(client);
    expect(received.match(/late answer/g)).toHaveLength(2);
    expect(received.match(/\.{10000}/g)).toHaveLength(4);
  });

  test("gets its answer if it stops right after the end of its body", async () => {
    await start({ connections });
    const client = await RawHttp2.open(server.port);
    client.request(1, path, "POST");
    client.body(1, "{}", true);
    client.endSending();
    expect(await isClosed(client)).toContain('"ID"');
    expect(service.collection.count).toBe(1);
  });

  test.each([
    ["in the middle of its body", path, ""],
    ["in the middle of a body that was refused", "/nowhere", "NotFound"],
  ])("is disconnected at once %s", async (_when, path, expected) => {
    await start({ connections });
    const client = await RawHttp2.open(server.port);
    client.request(1, path, "POST");
    client.body(1, "{");
    if (expected) await client.until(new RegExp(expected));
    client.endSending();
    await isClosed(client);
    expect(service.collection.count).toBe(0);
  });

  test("is disconnected at once if it reads a change feed", async () => {
    await start({ connections });
    const client = await RawHttp2.open(server.port);
    client.request(1, "/changes");
    await client.until(/event-stream|retry|data/);
    client.endSending();
    await isClosed(client);
  });

  test("is disconnected after the idle timeout if the answer is larger than its flow-control window", async () => {
    await start({ connections, idleTimeoutMs: 300 });
    service.app.handle = () => new Answer(200, {}, "a".repeat(200_000));
    const client = await RawHttp2.open(server.port);
    client.request(1, path);
    client.endSending();
    await isClosed(client);
  });
});

test("a client that breaks the protocol and stays connected is cut off long before the idle timeout", async () => {
  const connections = { open: 0, max: 10 };
  await start({ connections });
  const client = await RawHttp2.open(server.port);
  client.breakProtocol();
  await client.untilClosed();
  await eventually(() => connections.open === 0);
});

test("a client that breaks the protocol, sends more and leaves is no longer counted", async () => {
  const connections = { open: 0, max: 10 };
  await start({ connections });
  const client = await RawHttp2.open(server.port);
  client.breakProtocol();
  client.breakProtocol();
  client.close();
  await eventually(() => connections.open === 0);
});

describe("unfinished bodies", () => {
  const connections = { open: 0, max: 10 };

  test("a body that would exceed the limit for all connections together gets 503, and its bytes no longer count", async () => {
    const unfinishedBodies = { bytes: 0, bytesMax: 100 };
    await start({ unfinishedBodies });
    const first = await RawHttp2.open(server.port);
    first.request(1, path, "POST");
    first.body(1, "x".repeat(60));
    await eventually(() => unfinishedBodies.bytes === 60);
    first.request(3, path, "POST");
    first.body(3, "x".repeat(30));
    await eventually(() => unfinishedBodies.bytes === 90);
    const other = await RawHttp2.open(server.port);
    other.request(1, path, "POST");
    other.body(1, "x".repeat(11));
    await other.until(/"Overloaded"/);
    expect(unfinishedBodies.bytes).toBe(90);
    first.body(3, "x".repeat(11));
    await first.until(/"Overloaded"/);
    expect(unfinishedBodies.bytes).toBe(60);
  });

  test("a body whose declared length arrives at once is accepted even if the limit is used up", async () => {
    await start({ unfinishedBodies: { bytes: 100, bytesMax: 100 } });
    const fields = { ":path": path, ":method": "POST", "content-type": "application/json", "content-length": 2 };
    const stream = session().request(fields);
    const status = statusOf(stream);
    stream.end("{}");
    expect(await status).toBe(201);
  });

  test.each<[string, (client: RawHttp2) => void]>([
    ["complete", (client) => client.body(1, "", true)],
    ["too large", (client) => client.body(1, "x".repeat(1_000))],
    ["cancelled", (client) => client.cancel(1)],
    ["cut short by a client that stops sending", (client) => client.endSending()],
    ["cut short by a closed connection", (client) => client.close()],
    ["too slow", () => {}],
  ])("a body that is %s no longer counts", async (what, act) => {
    const unfinishedBodies = { bytes: 0, bytesMax: 100 };
    await start({
      connections,
      unfinishedBodies,
      bodyBytesMax: 1_000,
      requestTimeoutMs: what === "too slow" ? 500 : 30_000,
    });
    const client = await RawHttp2.open(server.port);
    client.request(1, path, "POST");
    client.body(1, "x".repeat(60));
    await eventually(() => unfinishedBodies.bytes === 60);
    act(client);
    await eventually(() => unfinishedBodies.bytes === 0);
  });
});

test("a connection that sends a flood of frames without a request is cut off, and others still work", async () => {
  await start();
  const flood = connectTls({ port: server.port, host: "127.0.0.1", rejectUnauthorized: false, ALPNProtocols: ["h2"] });
  flood.on("error", () => {});
  const cut = new Promise<void>((resolve) => flood.on("close", () => resolve()));
  await new Promise<void>((resolve) => flood.on("secureConnect", () => resolve()));
  flood.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  // Send an empty SETTINGS frame, HEADERS without END_HEADERS, and then empty CONTINUATION frames.
  flood.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]));
  const nothings = Buffer.concat(Array(1_000).fill(Buffer.from([0, 0, 0, 9, 0, 0, 0, 0, 1])));
  const sending = setInterval(() => flood.write(nothings), 1);
  await cut;
  clearInterval(sending);
  expect(await get(session())).toBe(200);
});

describe("a client that cancels its requests before they are answered", () => {
  const unfinishedBodies = { bytes: 0, bytesMax: 1_000 };
  const batch = 50;

  /** Begins as many requests as a batch has, each with an incomplete body of one byte, and then cancels them. */
  async function cancelBatch(client: RawHttp2, number: number): Promise<void> {
    const streams = Array.from({ length: batch }, (_, index) => 2 * (number * batch + index) + 101);
    for (const stream of streams) {
      client.request(stream, path, "POST");
      client.body(stream, "x");
    }
    await eventually(() => unfinishedBodies.bytes === batch);
    for (const stream of streams) client.cancel(stream);
    await eventually(() => unfinishedBodies.bytes === 0);
  }

  test("is cut off if it cancels hundreds of them at once", async () => {
    await start({ unfinishedBodies });
    const client = await RawHttp2.open(server.port);
    for (let number = 0; number < 5; number++) await cancelBatch(client, number);
    await client.untilClosed();
  });

  test("stays connected if it cancels as many over a long time", async () => {
    const periodMs = 300;
    await start({ unfinishedBodies, idleTimeoutMs: periodMs });
    const client = await RawHttp2.open(server.port);
    // The change feed keeps the connection in use.
    client.request(1, "/changes");
    for (let number = 0; number < 5; number++) {
      const time = performance.now();
      await cancelBatch(client, number);
      await eventually(() => performance.now() - time > 2 * periodMs);
    }
    client.request(1_001, path, "POST");
    client.body(1_001, '{"Name":"still connected"}', true);
    await client.until(/still connected/);
  });
});
