// Tests one HTTP/1.1 connection without a socket. Its requests and answers must be the same however its input is split
// into pieces, and however slowly its answers are read.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Clock } from "../../src/wire/clock.ts";
import type { Connection, ConnectionHost } from "../../src/wire/connection.ts";
import { Http1Connection } from "../../src/wire/http1-connection.ts";
import { Answer, type Handler, type HttpRequest } from "../../src/wire/message.ts";
import { Refusal } from "../../src/wire/refusal.ts";

const limits = { headerBytesMax: 2_000, requestTimeoutMs: 30_000, idleTimeoutMs: 30_000 };

const large = new Answer(200, {}, new Uint8Array(300_000).fill(0x61), { isStanding: true });

/** A host that records requests and echoes their method and body. It answers some at once and some later. */
class Echo implements ConnectionHost, Handler {
  readonly handler: Handler = this;
  readonly limits = limits;
  readonly clock = new Clock();
  readonly asked: string[] = [];
  #toSend: Connection[] = [];

  handle(request: HttpRequest): Answer | Promise<Answer> {
    const { method, path, query } = request;
    this.asked.push(`${method} ${path}?${query}`);
    if (path === "/unread") return new Answer(200, {}, "unread");
    if (path === "/large") return large;
    if (path === "/later") return Bun.sleep(0).then(() => new Answer(200, {}, `later ${method}`));
    return this.#echo(request);
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
    const status = code === "BodyTooLarge" ? 413 : 400;
    return new Answer(status, {}, message, { closesConnection });
  }

  turn(): undefined {}

  sendSoon(connection: Connection): void {
    this.#toSend.push(connection);
  }

  /** Sends answers until none are left. */
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
  ended = false;
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
    this.ended = true;
  }

  terminate(): void {
    this.ended = true;
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
  const connection = new Http1Connection(wire, "192.0.2.1", host, false);
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
        const { wire } = await run([text.slice(0, at) + noise + text.slice(at + gone)]);
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
    const connection = new Http1Connection(wire, "192.0.2.1", host, false);
    const later = "GET /later HTTP/1.1\r\nHost: a\r\n\r\n";
    const count = 3_000;
    connection.receive(Buffer.from(later.repeat(count)));
    expect(wire.paused).toBe(1);
    while (host.asked.length < count) await host.settle();
    expect(wire.paused).toBe(0);
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
