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
  test("yields the same events wherever the text is split", () => {
    for (let at = 0; at <= stream.length; at++) {
      const reader = new EventStreamReader();
      expect([...reader.read(stream.slice(0, at)), ...reader.read(stream.slice(at))]).toEqual(events);
    }
    const reader = new EventStreamReader();
    expect(stream.split("").flatMap((char) => [...reader.read(char)])).toEqual(events);
    expect(reader.pendingLength).toBe("data: never finished".length);
  });
});
