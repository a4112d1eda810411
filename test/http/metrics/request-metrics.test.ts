// Tests which series a request is counted in.

import { expect, test } from "bun:test";
import { MemoryEngine } from "../../../src/engines/memory-engine.ts";
import { RequestMetrics } from "../../../src/http/metrics/request-metrics.ts";
import { closingRefusal } from "../../../src/wire/refusal.ts";
import { requestOf } from "../../app-fetch.ts";
import { ids, item, Service } from "../../service.ts";
import { parseScrape } from "./scrape.ts";

async function countsOf(...requests: readonly (readonly [method: string, path: string, body?: string])[]) {
  const { app } = await Service.on(new MemoryEngine());
  const metrics = new RequestMetrics();
  const handler = metrics.counting(app, "one");
  for (const [method, path, body] of requests) {
    const headers = { "Content-Type": "application/json" };
    const init = { method, headers, ...(body !== undefined && { body }) };
    await handler.handle(requestOf(new Request(`http://localhost${path}`, init), "127.0.0.1"));
  }
  handler.refuse(closingRefusal("not a request"));
  const { text } = parseScrape(metrics.text());
  const counted =
    /^http_server_request_duration_seconds_count\{http_request_method="(\w+)",http_route="(.*)",http_response_status_code="(\d+)"\} (\d+)$/gm;
  return [...text.matchAll(counted)].map(([, ...parts]) => parts.join(" "));
}

test("requests are counted by method, route and status, and an ID or a file never becomes a label", async () => {
  const counts = await countsOf(
    ["GET", "/api/todoitems/"],
    ["GET", "/api"],
    ["POST", "/api/todoitems/", item(ids.one)],
    ["POST", "/api/todoitems/", item(ids.one)],
    ["GET", `/api/todoitems/${ids.one}`],
    ["GET", `/api/todoitems/${ids.two}`],
    ["PURGE", "/api/todoitems/"],
    ["GET", "/changes/delta"],
    ["GET", "/health/live"],
    ["GET", "/nowhere"],
    ["GET", "/somewhere"],
  );
  expect(counts).toEqual([
    "GET /api/todoitems 200 2",
    "POST /api/todoitems 201 1",
    "POST /api/todoitems 409 1",
    "GET /api/todoitems/{id} 200 1",
    "GET /api/todoitems/{id} 404 1",
    "_OTHER /api/todoitems 405 1",
    "GET /changes/delta 200 1",
    "GET /health/live 200 1",
    "GET /{file} 404 2",
    "_OTHER  400 1",
  ]);
});
