import { expect, test } from "bun:test";
import { TransportStream } from "../../src/wire/transport-stream.ts";

/** A socket that accepts as many bytes as `room` says. */
class NarrowSocket {
  room = 0;
  readonly events: string[] = [];

  write(bytes: Uint8Array): number {
    const accepted = Math.min(this.room, bytes.length);
    this.room -= accepted;
    if (accepted > 0) this.events.push(Buffer.from(bytes.subarray(0, accepted)).toString());
    return accepted;
  }
  shutdown(): void {
    this.events.push("shutdown");
  }
  end(): void {}
  terminate(): void {}
  pause(): void {}
  resume(): void {}
}

test("what is written in one turn goes to the socket together, at the end of the turn", () => {
  const socket = new NarrowSocket();
  socket.room = 100;
  let asked = 0;
  const stream = new TransportStream(socket, () => asked++);
  stream.write(Buffer.from("head "));
  stream.write(Buffer.from("body"));
  expect({ asked, events: socket.events }).toEqual({ asked: 1, events: [] });
  stream.drained();
  expect(socket.events).toEqual(["head body"]);
});

test("our side is closed only after a full socket has accepted everything that was written", () => {
  const socket = new NarrowSocket();
  const stream = new TransportStream(socket, () => {});
  stream.write(Buffer.from("unsent"));
  stream.shutdown();
  expect(socket.events).toEqual([]);
  socket.room = 2;
  stream.drained();
  socket.room = 100;
  stream.drained();
  expect(socket.events).toEqual(["un", "sent", "shutdown"]);
});

test("our side is also closed if the writer had to wait before", () => {
  const socket = new NarrowSocket();
  const stream = new TransportStream(socket, () => {});
  stream.write(Buffer.alloc(200_000, "x"));
  stream.shutdown();
  socket.room = 200_000;
  stream.drained();
  expect(socket.events.at(-1)).toBe("shutdown");
});

test("a writer that is ahead of the socket is told to wait, and told to go on when everything is sent", () => {
  const socket = new NarrowSocket();
  const stream = new TransportStream(socket, () => {});
  let drainCount = 0;
  stream.on("drain", () => drainCount++);
  expect(stream.write(Buffer.alloc(1_000))).toBe(true);
  expect(stream.write(Buffer.alloc(200_000))).toBe(false);
  socket.room = 150_000;
  stream.drained();
  expect(drainCount).toBe(0);
  socket.room = 150_000;
  stream.drained();
  expect(drainCount).toBe(1);
});
