// Server-sent events as the change feed sends them.

import { expect, test } from "bun:test";
import { Reply } from "../../src/client/reply.ts";

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

/** A reply that arrives in these pieces. */
function replyOf(bytesMax: number, ...pieces: readonly Uint8Array<ArrayBuffer>[]): Reply {
  const request = { method: "GET", url: "http://localhost/changes/events", controller: new AbortController() };
  const response = new Response(
    new ReadableStream({
      start(controller) {
        for (const piece of pieces) controller.enqueue(piece);
        controller.close();
      },
    }),
  );
  return new Reply({ ...request, silenceMsMax: 60_000, bytesMax }, response);
}

test("a reply yields the same events wherever its bytes are split", async () => {
  const bytes = new TextEncoder().encode(stream);
  for (let at = 0; at <= bytes.length; at++) {
    const read = await Array.fromAsync(replyOf(1_000, bytes.slice(0, at), bytes.slice(at)).events());
    expect(read.map((event) => Object.fromEntries(event))).toEqual(events);
  }
});

test("the limit applies to a single unfinished event", async () => {
  const bytes = new TextEncoder().encode(stream);
  const unfinished = "data: never finished".length;
  expect(await Array.fromAsync(replyOf(unfinished, bytes).events())).toHaveLength(events.length);
  const read = Array.fromAsync(replyOf(unfinished - 1, bytes).events());
  await expect(read).rejects.toThrow("the response is larger than 19 bytes");
});
