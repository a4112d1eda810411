// Server-sent events, read as the HTML standard defines them.

import { describe, expect, test } from "bun:test";
import { EventStreamReader } from "../../src/client/event-stream.ts";

const stream = [
  ": a comment keeps the connection open\n\n",
  "event: ready\nid: e-1\ndata: {}\n\n",
  "id: e-2\r\ndata:no space\r\ndata:  two\r\n\r\n",
  "data: é🙂\rid\r\r",
  "event: without data\n\nretry: 1\nunknown\ndata\n\n",
  "data: never finished",
].join("");

const events = [
  { type: "ready", id: "e-1", data: "{}" },
  { type: "message", id: "e-2", data: "no space\n two" },
  { type: "message", id: "", data: "é🙂" },
  { type: "message", id: "", data: "" },
];

describe("EventStreamReader", () => {
  test("yields the same events wherever the bytes are split", () => {
    const bytes = new TextEncoder().encode(stream);
    for (let at = 0; at <= bytes.length; at++) {
      const reader = new EventStreamReader();
      expect([...reader.read(bytes.subarray(0, at)), ...reader.read(bytes.subarray(at))]).toEqual(events);
    }
    const reader = new EventStreamReader();
    expect(Array.from(bytes).flatMap((byte) => [...reader.read(Uint8Array.of(byte))])).toEqual(events);
    expect(reader.pendingLength).toBe("data: never finished".length);
  });
});
