// Tests one connection without a socket. Its requests and answers must be the same however its input is split
// into pieces, and however slowly its answers are read.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Clock } from "../../src/wire/clock.ts";
import { Connection } from "../../src/wire/connection.ts";
import type { ConnectionHost, ConnectionLimits, Sender } from "../../src/wire/connection-host.ts";
import { KnownHeads } from "../../src/wire/known-heads.ts";
import { Answer, type Handler, type HttpRequest, type StreamSink } from "../../src/wire/message.ts";
import { Refusal } from "../../src/wire/refusal.ts";
import { SharedLimit } from "../../src/wire/shared-limit.ts";
import { UnsentBytes } from "../../src/wire/unsent-bytes.ts";

const large = new Answer(200, {}, new Uint8Array(300_000).fill(0x61), { isStanding: true });

/**
 * A host that records requests and echoes their method and body. It answers `/unread`, `/large` and `/later` without
 * reading the body: the first two at once, the third in a later turn of the event loop. It streams `/streamed`.
 */
class Echo implements ConnectionHost, Handler {
  readonly limits: ConnectionLimits;
  readonly unfinishedBodies: SharedLimit;
  readonly clock = new Clock();
  readonly knownHeads = new KnownHeads();
  readonly isDraining = false;
  readonly asked: string[] = [];
  readonly sinks: StreamSink[] = [];
  #toSend: Sender[] = [];

  constructor(unfinishedBytesMax = 1024 ** 2) {
    this.unfinishedBodies = new SharedLimit(unfinishedBytesMax, unfinishedBytesMax);
    this.limits = {
      requestTimeoutMs: 30_000,
      idleTimeoutMs: 30_000,
      unfinishedBodies: this.unfinishedBodies,
      unsentBytes: new UnsentBytes({ bytesMax: 1024 ** 2, onCut() {} }),
    };
  }

  handle(request: HttpRequest): Answer | Promise<Answer> {
    const { method, path, query } = request;
    this.asked.push(`${method} ${path}?${query}`);
    if (path === "/unread") return new Answer(200, {}, "unread");
    if (path === "/large") return large;
    if (path === "/later") return Bun.sleep(0).then(() => new Answer(200, {}, `later ${method}`));
    if (path === "/streamed") return new Answer(200, {}, { open: (sink) => this.#stream(sink) });
    return this.#echo(request);
  }

  #stream(sink: StreamSink) {
    this.sinks.push(sink);
    return { pull() {}, cancel() {} };
  }

  async #echo(request: HttpRequest): Promise<Answer> {
    try {
      return new Answer(200, {}, `${request.method} ${await request.readBody(1_000)}`);
    } catch (error) {
      if (error instanceof Refusal) return this.refuse(error);
      throw error;
    }
  }

  refuse({ code, message, closesConnection }: Refusal): Answer {
    const status = code === "BodyTooLarge" ? 413 : code === "Overloaded" ? 503 : 400;
    return new Answer(status, {}, message, { closesConnection });
  }

  sendSoon(sender: Sender): void {
    this.#toSend.push(sender);
  }

  /** Lets the connections send their answers until nothing is left to send. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < 3; ) {
      const connections = this.#toSend.splice(0);
      for (const connection of connections) connection.drained();
      quiet = connections.length === 0 ? quiet + 1 : 0;
      await Bun.sleep(0);
    }
  }
}

class SlowTransport {
  sent = "";
  /** The buffers that bytes were sent from. */
  readonly sources = new Set<ArrayBufferLike>();
  /** The calls that closed the connection, in order. */
  readonly closedBy: string[] = [];
  paused = 0;
  readonly #bytesAtOnce: number;

  constructor(bytesAtOnce = Number.POSITIVE_INFINITY) {
    this.#bytesAtOnce = bytesAtOnce;
  }

  write(piece: string | Uint8Array, offset = 0, length = Buffer.byteLength(piece) - offset): number {
    if (typeof piece !== "string") this.sources.add(piece.buffer);
    const bytes = Buffer.from(piece as string);
    const count = Math.min(length, this.#bytesAtOnce);
    this.sent += Buffer.from(bytes.subarray(offset, offset + count)).toString("latin1");
    return count;
  }

  end(): void {
    this.closedBy.push("end");
  }

  shutdown(): void {
    this.closedBy.push("shutdown");
  }

  terminate(): void {
    this.closedBy.push("terminate");
  }

  pause(): void {
    this.paused++;
  }

  resume(): void {
    this.paused--;
  }
}

const requests: readonly string[] = [
  "GET /a HTTP/1.1\r\nHost: a\r\n\r\n",
  "GET /later?x=1 HTTP/1.1\r\nHost: a\r\n\r\n",
  "\r\nGET /unread HTTP/1.1\r\nHost: a\r\n\r\n",
  "POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
  "POST /unread HTTP/1.1\r\nHost: a\r\nContent-Length: 35\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
  "PUT /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nX: y\r\n\r\n",
  "PUT /unread HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n23\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n\r\n0\r\n\r\n",
  "POST /later HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: x\r\n\r\nabc",
  `POST /too-long HTTP/1.1\r\nHost: a\r\nContent-Length: 1500\r\n\r\n${"x".repeat(1_500)}`,
];

interface Run {
  readonly host: Echo;
  readonly wire: SlowTransport;
}

async function run(pieces: readonly string[], wire = new SlowTransport()): Promise<Run> {
  const host = new Echo();
  const connection = new Connection(wire, "192.0.2.1", false, host, host);
  for (const piece of pieces) {
    connection.receive(Buffer.from(piece, "latin1"));
    await host.settle();
  }
  // Send the rest, which the slow transport has not accepted yet.
  for (let sent = -1; sent !== wire.sent.length; ) {
    sent = wire.sent.length;
    connection.drained();
    await host.settle();
  }
  connection.closed();
  return { host, wire };
}

const withoutDate = (text: string) => text.replaceAll(/Date: .*\r\n/g, "");

function cut(text: string, at: readonly number[]): string[] {
  const places = [...new Set(at.map((place) => place % text.length))].sort((one, other) => one - other);
  return [0, ...places].map((from, index) => text.slice(from, places[index] ?? text.length));
}

const stream = fc.array(fc.constantFrom(...requests), { minLength: 1, maxLength: 6 }).map((parts) => parts.join(""));

describe("a connection", () => {
  test("a connection reads the same requests and sends the same answers, wherever its input is split", async () => {
    await fc.assert(
      fc.asyncProperty(stream, fc.array(fc.nat(), { maxLength: 12 }), async (text, places) => {
        const whole = await run([text]);
        const inPieces = await run(cut(text, places));
        expect(inPieces.host.asked).toEqual(whole.host.asked);
        expect(withoutDate(inPieces.wire.sent)).toBe(withoutDate(whole.wire.sent));
        expect(whole.host.asked.join()).not.toContain("smuggled");
        expect(inPieces.host.unfinishedBodies.used).toBe(0);
      }),
      { numRuns: 150 },
    );
  });

  test("a client that reads a few bytes at a time gets the same answers", async () => {
    const text = requests.join("");
    const whole = await run([text]);
    const slow = await run([text], new SlowTransport(7));
    expect(withoutDate(slow.wire.sent)).toBe(withoutDate(whole.wire.sent));
    expect(whole.host.asked).toHaveLength(requests.length);
  });

  test("damaged input is refused or treated as incomplete, and never causes an unexpected error", async () => {
    const noise = fc.tuple(stream, fc.nat(), fc.string({ unit: "binary", maxLength: 6 }), fc.nat(8));
    await fc.assert(
      fc.asyncProperty(noise, async ([text, place, noise, gone]) => {
        const at = place % text.length;
        const { host, wire } = await run([text.slice(0, at) + noise + text.slice(at + gone)]);
        expect(host.unfinishedBodies.used).toBe(0);
        for (const [, status] of wire.sent.matchAll(/HTTP\/1\.1 (\d+) /g)) {
          expect(["200", "400", "413"]).toContain(status ?? "");
        }
      }),
      { numRuns: 400 },
    );
  });

  test("a connection stops reading while too many pipelined requests wait, and continues once they are answered", async () => {
    const host = new Echo();
    const wire = new SlowTransport();
    const connection = new Connection(wire, "192.0.2.1", false, host, host);
    const later = "GET /later HTTP/1.1\r\nHost: a\r\n\r\n";
    const count = 3_000;
    connection.receive(Buffer.from(later.repeat(count)));
    expect(wire.paused).toBe(1);
    while (host.asked.length < count) await host.settle();
    expect(wire.paused).toBe(0);
  });

  test("a client that got no 100 Continue may send its body or its next request, so the connection closes", async () => {
    const request = "POST /unread HTTP/1.1\r\nHost: a\r\nContent-Length: 31\r\nExpect: 100-continue\r\n\r\n";
    const { host, wire } = await run([request, "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"]);
    expect(host.asked).toEqual(["POST /unread?"]);
    expect(wire.sent).toContain("Connection: close\r\n");
    expect(wire.closedBy).toEqual(["shutdown"]);
  });

  test("a stop drops a request in progress, but does not reset a connection on which everything is answered", async () => {
    for (const [path, closedBy] of [
      ["/unread", ["shutdown", "end"]],
      ["/later", ["terminate"]],
    ] as const) {
      const host = new Echo();
      const wire = new SlowTransport();
      const connection = new Connection(wire, "192.0.2.1", false, host, host);
      connection.receive(Buffer.from(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`));
      if (path === "/unread") await host.settle();
      connection.cut();
      expect(wire.closedBy).toEqual([...closedBy]);
    }
  });

  test("after the last answer only our side is closed, unless the client has closed its side", async () => {
    for (const [clientEnds, closedBy] of [
      [false, "shutdown"],
      [true, "end"],
    ] as const) {
      const host = new Echo();
      const wire = new SlowTransport();
      const connection = new Connection(wire, "192.0.2.1", false, host, host);
      connection.receive(Buffer.from("GET /unread HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
      if (clientEnds) connection.ended();
      await host.settle();
      expect(wire.closedBy).toEqual([closedBy]);
    }
  });

  test("a stream that has ended writes nothing into the next answer", async () => {
    const host = new Echo();
    const wire = new SlowTransport();
    const connection = new Connection(wire, "192.0.2.1", false, host, host);
    const request = Buffer.from("GET /streamed HTTP/1.1\r\nHost: a\r\n\r\n");
    connection.receive(request);
    host.sinks[0]?.end(Buffer.from("first"));
    await host.settle();
    connection.receive(request);
    host.sinks[0]?.write(Buffer.from("late"));
    host.sinks[0]?.end();
    host.sinks[1]?.end(Buffer.from("second"));
    await host.settle();
    expect(wire.sent.replaceAll(/HTTP.*?\r\n\r\n/gs, "")).toBe("5\r\nfirst\r\n0\r\n\r\n6\r\nsecond\r\n0\r\n\r\n");
  });

  test("the body of a large answer is in memory once, however many slow readers it has", async () => {
    const answers = await Promise.all(
      Array.from({ length: 3 }, () => run(["GET /large HTTP/1.1\r\nHost: a\r\n\r\n"], new SlowTransport(1_000))),
    );
    const bodies = answers.map(({ wire }) => [...wire.sources].filter(({ byteLength }) => byteLength >= 300_000));
    expect(new Set(bodies.flat()).size).toBe(1);
    for (const { wire } of answers) expect(wire.sent).toEndWith("a".repeat(300_000));
  });
});

describe("unfinished bodies", () => {
  /**
   * Opens a connection for each input and sends the input on it. Together, the connections may hold 100 bytes of
   * unfinished bodies.
   */
  async function open(...inputs: readonly string[]) {
    const host = new Echo(100);
    const clients = inputs.map((input) => {
      const wire = new SlowTransport();
      const connection = new Connection(wire, "192.0.2.1", false, host, host);
      connection.receive(Buffer.from(input, "latin1"));
      return { wire, connection };
    });
    await host.settle();
    return { host, clients, answers: clients.map(({ wire }) => wire.sent.slice(9, 12)) };
  }

  const post = (length: number, body: string) =>
    `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n${body}`;
  const chunk = (length: number) => `${length.toString(16)}\r\n${"x".repeat(length)}\r\n`;
  const postChunk = (length: number) =>
    `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${chunk(length)}`;
  const x = (count: number) => "x".repeat(count);

  test("a body that would exceed the limit for all connections together gets 503, and its bytes no longer count", async () => {
    const { host, answers, clients } = await open(post(200, x(60)), postChunk(40), post(200, x(1)), postChunk(1));
    expect(answers).toEqual(["", "", "503", "503"]);
    expect(clients.map(({ wire }) => wire.closedBy)).toEqual([[], [], ["shutdown"], ["shutdown"]]);
    expect(host.unfinishedBodies.used).toBe(100);
  });

  test("a body that grows beyond the limit gets 503, and its bytes no longer count", async () => {
    const { host, clients } = await open(post(200, x(60)), post(200, x(30)));
    clients[1]?.connection.receive(Buffer.from(x(11)));
    await host.settle();
    expect(clients[1]?.wire.sent).toStartWith("HTTP/1.1 503");
    expect(host.unfinishedBodies.used).toBe(60);
  });

  test("a body that arrives at once is accepted even if the limit is used up", async () => {
    const { host, answers } = await open(post(200, x(100)), post(150, x(150)), `${postChunk(150)}0\r\n\r\n`);
    expect(answers).toEqual(["", "200", "200"]);
    expect(host.unfinishedBodies.used).toBe(100);
  });

  test.each<[string, (connection: Connection) => void]>([
    ["complete", (connection) => connection.receive(Buffer.from(x(40)))],
    ["cut short by its client", (connection) => connection.ended()],
    ["cut short by a closed connection", (connection) => connection.closed()],
    ["too slow", (connection) => connection.look(Number.POSITIVE_INFINITY)],
  ])("a body that is %s no longer counts", async (_what, act) => {
    const { host, clients } = await open(post(100, x(60)));
    expect(host.unfinishedBodies.used).toBe(60);
    for (const { connection } of clients) act(connection);
    await host.settle();
    expect(host.unfinishedBodies.used).toBe(0);
  });

  test("a chunked body that is malformed or too large no longer counts", async () => {
    for (const rest of ["no chunk\r\n", chunk(1_001)]) {
      const { host, clients } = await open(postChunk(60));
      expect(host.unfinishedBodies.used).toBe(60);
      for (const { connection } of clients) connection.receive(Buffer.from(rest));
      await host.settle();
      expect(host.unfinishedBodies.used).toBe(0);
    }
  });

  test("a body that nobody reads does not count", async () => {
    const { host, clients } = await open(post(200, x(60)).replace("/", "/unread"));
    for (const { connection } of clients) connection.receive(Buffer.from(x(60)));
    expect(host.unfinishedBodies.used).toBe(0);
  });
});
