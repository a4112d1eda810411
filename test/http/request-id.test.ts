// Tests the IDs of requests: when the client's ID is returned, when the service makes one, and that the log has them
// too.

import { expect, test } from "bun:test";
import { StoreError } from "../../src/collection/engine.ts";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import type { Log } from "../../src/http/log.ts";
import { withRequestLog } from "../../src/http/request-log.ts";
import { requestOf } from "../app-fetch.ts";
import { expectProblem, type LogEntry, Service } from "../service.ts";

const list = "/api/todoitems/";
const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

class FailingEngine extends MemoryEngine {
  failure: Error | undefined;

  override hasNews(): false | Promise<boolean> {
    return this.failure ? Promise.reject(this.failure) : false;
  }
}

async function failing(failure: Error): Promise<Service> {
  const engine = new FailingEngine();
  const service = await Service.on(engine);
  engine.failure = failure;
  return service;
}

function idsOf({ headers }: Response): (string | null)[] {
  return [headers.get("x-request-id"), headers.get("traceparent")];
}

test("an answer has the valid X-Request-Id and traceparent of its request, whatever its status", async () => {
  const service = await Service.on(new MemoryEngine());
  const headers = { "X-Request-Id": "a.B-1:2~3/+=@_", traceparent: trace };
  for (const path of [list, "/nowhere"])
    expect(idsOf(await service.fetch("GET", path, { headers }))).toEqual([headers["X-Request-Id"], trace]);
  expect(idsOf(await service.fetch("GET", list, { headers: { traceparent: trace } }))).toEqual([null, trace]);
});

test.each([
  ["X-Request-Id", "two words"],
  ["X-Request-Id", "one, two"],
  ["X-Request-Id", '"quoted"'],
  ["X-Request-Id", "x".repeat(129)],
  ["traceparent", trace.slice(1)],
  ["traceparent", trace.toUpperCase()],
  ["traceparent", `ff${trace.slice(2)}`],
  ["traceparent", trace.replace("4bf92f3577b34da6a3ce929d0e0e4736", "0".repeat(32))],
  ["traceparent", trace.replace("00f067aa0ba902b7", "0".repeat(16))],
])("an invalid %s is not sent back: %s", async (name, value) => {
  const service = await Service.on(new MemoryEngine());
  expect(idsOf(await service.fetch("GET", list, { headers: { [name]: value } }))).toEqual([null, null]);
});

test("an answer below 500 gets no ID of its own, so the same prepared answer goes to every request", async () => {
  const service = await Service.on(new MemoryEngine());
  const ask = () => service.app.handle(requestOf(new Request(`http://localhost${list}`), "127.0.0.1"));
  const first = await ask();
  expect(first.headers["X-Request-Id"]).toBeUndefined();
  expect(await ask()).toBe(first);
  expect(idsOf(await service.fetch("GET", "/nowhere"))).toEqual([null, null]);
});

test("an answer with status 500 has a new ID, and the log line with the details has the same", async () => {
  const service = await failing(new TypeError("a defect"));
  const response = await service.fetch("GET", list);
  await expectProblem(response, 500, "InternalError");
  const [id] = idsOf(response);
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  expect(service.log).toEqual([
    {
      level: "error",
      message: expect.stringContaining(`GET ${list} returned 500 InternalError (requestId ${id}): TypeError: a defect`),
    },
  ]);
});

test("an answer with status 503 has the ID that the request had, and a line in the log", async () => {
  const service = await failing(new StoreError("away"));
  const response = await service.fetch("GET", list, { headers: { "X-Request-Id": "mine" } });
  expect(idsOf(response)).toEqual(["mine", null]);
  expect(service.log.at(-1)?.message).toBe(
    `GET ${list} returned 503 StoreUnavailable (requestId mine): The store cannot be read at the moment. Send the request again shortly. If this goes on, the operator finds the reason in the log.`,
  );
});

test("of very many failures in a row, only some are logged, and only these get an ID", async () => {
  const service = await failing(new StoreError("away"));
  let named = 0;
  for (let count = 0; count < 150; count++) if (idsOf(await service.fetch("GET", list))[0] !== null) named++;
  const lines = service.log.filter(({ message }) => message.includes("returned 503"));
  expect(named).toBeWithin(100, 150);
  expect(lines).toHaveLength(named);
});

test("the request log has the client's address and the IDs of a request, in the message and as fields", async () => {
  const service = await Service.on(new MemoryEngine());
  const entries: (LogEntry & { readonly fields: unknown })[] = [];
  const note: Log = (level, message, fields) => entries.push({ level, message, fields });
  const headers = { "X-Request-Id": "mine", traceparent: trace };
  await withRequestLog(service.app, note).handle(
    requestOf(new Request(`http://localhost${list}`, { headers }), "127.0.0.1"),
  );
  expect(entries).toEqual([
    {
      level: "info",
      message: expect.stringMatching(
        new RegExp(`GET .* 200 [0-9]+ms from 127.0.0.1 \\(requestId mine, traceparent ${trace}\\)$`),
      ),
      fields: expect.objectContaining({ address: "127.0.0.1", requestId: "mine", traceparent: trace }),
    },
  ]);
});
