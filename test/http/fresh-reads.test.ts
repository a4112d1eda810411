// A read must see everything that another process committed before the read was sent. Reads that arrive together share
// one query to the store. These tests cover the cases in which they must not share it (see src/wire/turn.ts).

import { afterEach, expect, test } from "bun:test";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { Clock } from "../../src/wire/clock.ts";
import { Http1Connection } from "../../src/wire/http1-connection.ts";
import { type ListenOptions, listen, type RunningServer } from "../../src/wire/listen.ts";
import { Answer, type HttpRequest } from "../../src/wire/message.ts";
import { Service } from "../service.ts";
import { listenOptions } from "./listen-options.ts";
import { RawConnection } from "./raw-connection.ts";

const get = "GET /api/todoitems/ HTTP/1.1\r\nHost: a\r\n\r\n";

let server: RunningServer;
afterEach(() => server.stop(0));

/** An engine that counts the checks for new changes. It calls `onAsked` just after each check. */
class AskedEngine extends MemoryEngine {
  count = 0;
  onAsked: (count: number) => void = () => {};

  override hasNews(): boolean {
    const hasNews = super.hasNews();
    this.onAsked(++this.count);
    return hasNews;
  }
}

async function start(options: Partial<ListenOptions> = {}): Promise<AskedEngine> {
  const engine = new AskedEngine();
  const { app } = await Service.on(engine);
  server = listen(app, { ...listenOptions, ...options });
  return engine;
}

test("a read that was sent after the last query to the store makes a query of its own", async () => {
  const engine = await start();
  const ahead = await RawConnection.open(server.port);
  const other = await RawConnection.open(server.port);
  // The second pipelined request makes the second query, after the first request was answered. The other read is sent
  // after that query, so it needs a third one.
  engine.onAsked = (count) => {
    if (count === 2) other.send(get);
  };
  ahead.send(get + get);
  await other.until(/200 OK/);
  expect(engine.count).toBe(3);
  ahead.close();
  other.close();
});

test("reads that arrive together share one query to the store, but not on a server with many connections", async () => {
  const countOfTwo = async (open: number) => {
    const engine = await start({ connections: { open, max: 10_000 } });
    const connections = await Promise.all([RawConnection.open(server.port), RawConnection.open(server.port)]);
    for (const connection of connections) connection.send(get);
    for (const connection of connections) await connection.until(/200 OK/);
    for (const connection of connections) connection.close();
    return engine.count;
  };
  expect(await countOfTwo(0)).toBe(1);
  await server.stop(0);
  expect(await countOfTwo(1_000)).toBe(2);
});

test("a request gets no turn token if it follows a long read from the socket or an empty line", () => {
  const began: boolean[] = [];
  const host = {
    limits: listenOptions,
    unfinishedBodies: listenOptions.unfinishedBodies,
    unsentBytes: listenOptions.unsentBytes,
    clock: new Clock(),
    isDraining: false,
    turn: () => ({}),
    handler: {
      handle: ({ turn }: HttpRequest) => {
        began.push(turn !== undefined);
        return new Answer(204, {});
      },
      refuse: () => new Answer(400, {}),
    },
    sendSoon: () => {},
    onUnexpectedTls: () => {},
  };
  const wire = {
    write: (bytes: Uint8Array) => bytes.length,
    shutdown() {},
    end() {},
    terminate() {},
    pause() {},
    resume() {},
  };
  const connection = new Http1Connection(wire, "", host, false);
  const receive = (text: string) => {
    connection.receive(Buffer.from(text));
    connection.drained();
  };
  receive(get);
  receive("\r\n".repeat(256 * 1024));
  receive(get);
  receive(get);
  receive(`\r\n${get}`);
  receive(`\r\n${get}`);
  // This long read ends with the beginning of a request. Those bytes may have arrived during the turn, so the request
  // gets no token.
  receive(`${"\r\n".repeat(256 * 1024)}${get.slice(0, 10)}`);
  receive(get.slice(10));
  expect(began).toEqual([true, false, true, false, false, false]);
});
