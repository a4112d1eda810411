// Server-sent events as the change feed sends them.

import { expect, test } from "bun:test";
import { EventStreamReader } from "../../src/client/live/event-stream.ts";

const stream = [
  ": a comment keeps the connection open\n\n",
  'event: ready\ndata: {"name": "a: b\u2028id: c"}\nid: e-1\n\n',
  "retry: 1\n\n",
  "event: change\nid: e-2\ndata: é🙂\n\n",
  "data: never finished",
].join("");

const events = [
  { "": "a comment keeps the connection open" },
  { event: "ready", id: "e-1", data: '{"name": "a: b\u2028id: c"}' },
  { retry: "1" },
  { event: "change", id: "e-2", data: "é🙂" },
];

test("the reader yields the same events wherever the text is split", () => {
  for (let at = 0; at <= stream.length; at++) {
    const reader = new EventStreamReader();
    const read = [...reader.read(stream.slice(0, at)), ...reader.read(stream.slice(at))];
    expect(read.map((event) => Object.fromEntries(event))).toEqual(events);
    expect(reader.pendingLength).toBe("data: never finished".length);
  }
});
