// Tests clients that ask for a large list and do not read it, on real sockets.

import { afterEach, describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { listen, type RunningServer } from "../../src/wire/listen.ts";
import { type SlowReader, UnsentBytes } from "../../src/wire/unsent-bytes.ts";
import { eventually } from "../eventually.ts";
import { Service } from "../service.ts";
import { connectionLimit, listenOptions } from "./listen-options.ts";

const itemCount = 440;
const itemBytes = 32_000;
const idOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const itemText = (n: number, round: number) =>
  `{"ID":"${idOf(n)}","Round":${round},"Notes":"${"x".repeat(itemBytes)}"}`;

/** Remembers which readers made progress, in order. */
class RecordedUnsentBytes extends UnsentBytes {
  readonly progress: SlowReader[] = [];

  get readerCount(): number {
    return new Set(this.progress).size;
  }

  override progressed(reader: SlowReader): void {
    super.progressed(reader);
    this.progress.push(reader);
  }
}

let service: Service;
let server: RunningServer;
let unsentBytes: RecordedUnsentBytes;
let cutCount = 0;
const sockets: Socket[] = [];

async function start(bytesMax: number): Promise<void> {
  service = await Service.on(new MemoryEngine());
  cutCount = 0;
  unsentBytes = new RecordedUnsentBytes({ bytesMax, onCut: () => cutCount++ });
  server = listen(service.app, { ...listenOptions, unsentBytes });
  for (let n = 0; n < itemCount; n++) await service.create(itemText(n, 0));
}

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server.stop(0);
});

const hashOf = (text = "") => String(Bun.hash(text));

/** Updates the items with the numbers from `from` up to, but not including, `to`. */
async function update(round: number, from: number, to: number): Promise<void> {
  for (let n = from; n < to; n++) {
    const { status } = await service.send("PUT", "/api/todoitems/", itemText(n, round));
    expect(status).toBe(204);
  }
}

/** A client that asks for the list at once, but reads the answer only when told to. */
class Reader {
  readonly #socket: Socket;
  readonly #received: Buffer[] = [];
  isClosed = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("close", () => (this.isClosed = true));
    socket.on("error", () => {});
    sockets.push(socket);
  }

  /** Resolves when the answer has begun to arrive. */
  static async start(): Promise<Reader> {
    const socket = connect(server.port, "127.0.0.1");
    const reader = new Reader(socket);
    socket.write("GET /api/todoitems/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    await new Promise<void>((resolve) => socket.once("readable", resolve));
    return reader;
  }

  /** Reads the rest of the answer, and returns its body. */
  async body(): Promise<string> {
    this.#socket.on("data", (bytes: Buffer) => this.#received.push(bytes));
    await eventually(() => this.isClosed);
    const answer = Buffer.concat(this.#received);
    return answer.subarray(answer.indexOf("\r\n\r\n") + 4).toString();
  }
}

test("a client that pauses gets the rest of its last answer, although the server has closed the connection", async () => {
  const connections = connectionLimit();
  service = await Service.on(new MemoryEngine());
  server = listen(service.app, { ...listenOptions, connections });
  // More than the client's system takes unread, and less than both systems together.
  const text = `{"ID":"${idOf(0)}","Notes":"${"x".repeat(700_000)}"}`;
  await service.create(text);
  const reader = await Reader.start();
  await eventually(() => connections.used === 0);
  expect((await reader.body()) === `[${text}]`).toBe(true);
});

describe("readers that stop reading", () => {
  test("100 readers that each stop at another version of a 14 MB list share the bytes that did not change", async () => {
    await start(64 * 1024 ** 2);
    const readers: Reader[] = [];
    const hashes: (string | undefined)[] = [];
    Bun.gc(true);
    const residentBefore = process.memoryUsage().rss;
    for (let round = 1; round <= 100; round++) {
      // Update an item near the end of the list, because the system has already buffered the beginning for the readers.
      const n = itemCount - 1 - ((round * 7) % 50);
      await update(round, n, n + 1);
      readers.push(await Reader.start());
      // Only every 25th reader will read on, so only these need a hash.
      hashes.push(round % 25 === 0 ? hashOf(await service.list()) : undefined);
    }
    // Each update has replaced about 32 KB of the list, and has moved some neighbouring items to other memory.
    await eventually(() => unsentBytes.bytes > 40 * itemBytes);
    expect(unsentBytes.bytes).toBeLessThan(14 * 1024 ** 2);
    expect(cutCount).toBe(0);
    Bun.gc(true);
    expect(process.memoryUsage().rss - residentBefore).toBeLessThan(400 * 1024 ** 2);
    for (const [index, hash] of hashes.entries()) {
      if (hash !== undefined) expect(hashOf(await readers[index]?.body())).toBe(hash);
    }
    for (const socket of sockets) socket.destroy();
    await eventually(() => unsentBytes.bytes === 0);
  });

  test("unsent bytes of the current list do not count, however many readers wait for them", async () => {
    await start(1_000);
    const readers = [await Reader.start(), await Reader.start()];
    await eventually(() => unsentBytes.readerCount === 2);
    const text = await service.list();
    for (const reader of readers) expect((await reader.body()) === text).toBe(true);
    expect(cutCount).toBe(0);
  });

  test("above the limit, readers are cut off, but the last one gets the whole list, however large it is", async () => {
    await start(1_000);
    const first = await Reader.start();
    await eventually(() => unsentBytes.readerCount === 1);
    const second = await Reader.start();
    await eventually(() => unsentBytes.readerCount === 2);
    const text = await service.list();
    await update(1, 0, itemCount);
    await service.list();
    await eventually(() => first.isClosed || second.isClosed);
    expect(cutCount).toBe(1);
    expect((await (first.isClosed ? second : first).body()) === text).toBe(true);
  });
});
