// Tests `--metrics-port` with the real program: what is counted, and what else the port serves.

import { afterAll, afterEach, expect, test } from "bun:test";
import { join } from "node:path";
import { checkedFetch } from "../description/checked-answer.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { eventually } from "../eventually.ts";
import { FeedReader } from "../http/feed-reader.ts";
import { metricsUrl, type Scrape, scrape } from "../http/metrics/scrape.ts";
import { Program, runProgram } from "../program.ts";
import { ids, item } from "../service.ts";

const folder = temporaryFolder();
afterAll(() => folder.dispose());
const programs: Program[] = [];
afterEach(async () => {
  for (const program of programs.splice(0)) await program.stop("SIGKILL");
});

/** Starts a service, and returns it with the address of its metrics. */
async function start(...args: string[]): Promise<{ program: Program; url: string }> {
  const store = `sqlite:${join(folder.path, crypto.randomUUID())}`;
  const program = await Program.start({ args: ["--port", "0", "--metrics-port", "0", "--store", store, ...args] });
  programs.push(program);
  return { program, url: await metricsUrl(program) };
}

const requests = "http_server_request_duration_seconds_count";
const listsOf = (metrics: Scrape) => metrics.sum(requests, 'http_request_method="GET"', 'http_route="/api/todoitems"');

test("the metrics say what the service has done and what it holds", async () => {
  const { program, url } = await start();
  const feed = new FeedReader(await program.fetch("/changes"));
  await feed.next();
  expect((await program.send("POST", "/api/todoitems/", item(ids.one))).status).toBe(201);
  expect((await program.send("POST", "/api/todoitems/", item(ids.one))).status).toBe(409);
  const list = await program.list();
  await program.list();
  const metrics = await scrape(url);
  expect(listsOf(metrics)).toBe(2);
  expect(metrics.sum(requests, 'http_response_status_code="409"')).toBe(1);
  const expected = {
    todoitems_commit_writes_sum: 2,
    todoitems_commit_duration_seconds_count: 2,
    todoitems_write_queue_length: 0,
    todoitems_items: 1,
    todoitems_list_bytes: list.length - 1,
    todoitems_feed_readers: 1,
    todoitems_authentication_failures_total: 0,
    todoitems_store_errors_total: 0,
  };
  const seen = Object.keys(expected).map((name) => [name, metrics.value(name)]);
  expect(Object.fromEntries(seen)).toEqual(expected);
  expect(metrics.sum("todoitems_build_info", 'store="sqlite"')).toBe(1);
  expect(metrics.value("todoitems_connections")).toBeGreaterThanOrEqual(1);
  expect(metrics.value("process_resident_memory_bytes")).toBeGreaterThan(1024 ** 2);
  expect(metrics.value("process_cpu_seconds_total")).toBeGreaterThan(0);
  // Closing the feed here keeps it from being collected as garbage earlier, which would close it too soon.
  await feed.close();
  await eventually(async () => (await scrape(url)).sum("todoitems_event_loop_lag_seconds_count") > 0);
});

test("a wrong password counts as a failed authentication, and a request without credentials does not", async () => {
  const users = join(folder.path, "users");
  await runProgram("user", { args: ["add", "ann", "--users", users], input: "long enough\n" });
  const { program, url } = await start("--auth", "all", "--users", users);
  for (const password of ["wrong", "long enough"])
    await program.fetch("/api/todoitems/", { headers: { Authorization: `Basic ${btoa(`ann:${password}`)}` } });
  await program.fetch("/api/todoitems/");
  const metrics = await scrape(url);
  expect(metrics.value("todoitems_authentication_failures_total")).toBe(1);
  expect(metrics.sum(requests, 'http_response_status_code="401"')).toBe(2);
});

test("the port of the metrics serves nothing else, and the other ports do not serve the metrics", async () => {
  const { program, url } = await start();
  const { origin } = new URL(url);
  const response = await checkedFetch(url);
  expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  expect((await checkedFetch(`${origin}/`)).status).toBe(404);
  expect((await checkedFetch(url, { method: "POST" })).status).toBe(405);
  expect((await checkedFetch(url, { headers: { Host: "page.example" } })).status).toBe(421);
  expect((await program.fetch("/metrics")).status).toBe(404);
});

test("a port that is in use, or that another setting has, is reported with the name of the flag", async () => {
  const { port } = new URL((await start()).url);
  const taken = await runProgram("serve", { args: ["--port", "0", "--store", "memory:", "--metrics-port", port] });
  expect([taken.exitCode, taken.stderr]).toEqual([1, expect.stringContaining("with --metrics-port 0")]);
  const twice = await runProgram("serve", { args: ["--port", "5999", "--metrics-port", "5999"] });
  expect([twice.exitCode, twice.stderr]).toEqual([2, expect.stringContaining("need a port of their own each")]);
});
