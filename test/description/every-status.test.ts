// Provokes every status and problem code that the description lists for an operation. Compares the texts of the
// problems with the examples. What cannot be provoked is named here.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Engine, StoreError } from "../../src/collection/engine.ts";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { Access } from "../../src/http/access.ts";
import { AllowedHosts } from "../../src/http/allowed-hosts.ts";
import { BasicAuth } from "../../src/http/basic-auth.ts";
import { RateLimiter } from "../../src/http/rate-limiter.ts";
import { type ListenOptions, listen, type RunningServer } from "../../src/wire/listen.ts";
import { SharedLimit } from "../../src/wire/shared-limit.ts";
import { listenOptions } from "../http/listen-options.ts";
import { RawConnection } from "../http/raw-connection.ts";
import { ids, item, Service, type ServiceOptions } from "../service.ts";
import { type DescribedOperation, operations, ProvokedAnswers, type RequestChanges } from "./provoked-answers.ts";

/** Statuses that no request can cause. */
const notProvoked = [
  // This operation does nothing that could fail.
  "isLive 500 InternalError",
];

const answers = new ProvokedAnswers();
const servers: RunningServer[] = [];
const isWrite = ({ method }: DescribedOperation) => method !== "GET";
const hasId = ({ path }: DescribedOperation) => path.includes(ids.one);

interface Start extends ServiceOptions, Partial<ListenOptions> {
  readonly engine?: Engine;
  readonly seeded?: boolean;
}

async function start({ engine = new MemoryEngine(), seeded = true, ...options }: Start = {}): Promise<number> {
  const service = await Service.on(engine, options);
  if (seeded) await service.collection.seed([{ id: ids.one, json: item(ids.one) }]);
  const server = listen(service.app, { ...listenOptions, ...options });
  servers.push(server);
  return server.port;
}

/**
 * Sends a request with these changes for each of the chosen operations. Each request goes to an instance of its own.
 */
async function provoke(
  which: (operation: DescribedOperation) => boolean,
  changes: RequestChanges | ((operation: DescribedOperation) => RequestChanges),
  options: Start = {},
): Promise<void> {
  const sending = operations.filter(which).map(async (operation) => {
    const port = await start(options);
    await answers.send(port, operation, typeof changes === "function" ? changes(operation) : changes);
  });
  await Promise.all(sending);
}

const any = () => true;

class FailingEngine extends MemoryEngine {
  failure: Error | undefined;

  override hasNews(): false | Promise<boolean> {
    return this.failure ? Promise.reject(this.failure) : false;
  }

  override async pull(...args: Parameters<MemoryEngine["pull"]>): ReturnType<MemoryEngine["pull"]> {
    if (this.failure) throw this.failure;
    return super.pull(...args);
  }

  override async commit(...args: Parameters<MemoryEngine["commit"]>): Promise<boolean> {
    if (this.failure) throw this.failure;
    return super.commit(...args);
  }
}

async function provokeFailure(failure: Error, which: (operation: DescribedOperation) => boolean): Promise<void> {
  const engine = new FailingEngine();
  const port = await start({ engine });
  engine.failure = failure;
  for (const operation of operations.filter(which)) await answers.send(port, operation);
}

beforeAll(async () => {
  await provoke(any, {});
  await provoke(any, {}, { seeded: false });
  await provoke((operation) => !isWrite(operation), { headers: { "If-None-Match": "*" } });
  // Most of these requests have a mistake in the body, the path or a header.
  const bodies = ["\xff", "[".repeat(100), `{"ID":"${ids.one}","id":"${ids.one}"}`, '{"ID":"1"}', item(ids.two), "{}"];
  for (const body of bodies) await provoke(isWrite, { body });
  await provoke(hasId, { path: "/api/todoitems/1", body: "" });
  await provoke(isWrite, { body: "{}" }, { requiredFields: ["Name"] });
  await provoke(isWrite, { body: "{}", headers: { "Content-Type": "text/plain" } });
  await provoke(isWrite, { body: "{}", headers: { "Content-Encoding": "br" } });
  await provoke(any, { headers: { "If-Match": '"other"' } });
  await provoke(any, { headers: { "Sec-Fetch-Site": "cross-site" } });
  // The settings of the instance forbid these requests.
  const rate = () => new RateLimiter({ burst: 0, perSecond: 1 });
  await provoke(any, {}, { access: new Access({ rate: rate() }) });
  await provoke(any, {}, { access: new Access({ mode: "all", auth: new BasicAuth(new Map()) }) });
  await provoke(any, { headers: { Host: "app.example" } }, { hosts: new AllowedHosts([]) });
  await provoke(
    isWrite,
    { body: item(ids.two, `"Name":"${"x".repeat(50)}"`), path: `/api/todoitems/${ids.two}` },
    { storeBytesMax: 60 },
  );
  await provoke(isWrite, { body: item(ids.one, `"Name":"${"x".repeat(50)}"`) }, { storeBytesMax: 60 });
  // The connection refuses these requests.
  await provoke(any, { headers: { "Content-Length": "2000000" } });
  await provoke(any, { headers: { "a b": "" } });
  await provoke(any, { headers: { long: "x".repeat(20_000) } });
  await provoke(any, ({ path }) => ({ path: `${path}?${"x".repeat(20_000)}`, ends: false }));
  await provoke(any, { version: "HTTP/3.0" });
  await provoke(any, { ends: false }, { requestTimeoutMs: 100 });
  const full = await start({ connections: new SharedLimit(1) });
  const busy = await RawConnection.open(full);
  busy.send("GET /");
  for (const operation of operations) await answers.send(full, operation);
  busy.close();
  // The service fails during these requests.
  await provokeFailure(new StoreError("away"), any);
  await provokeFailure(new TypeError("a defect"), any);
});

afterAll(() => Promise.all(servers.map((server) => server.stop(0))));

/**
 * The statuses and problem codes that the description lists, as keys like those of `ProvokedAnswers.seen`. The value of
 * a problem is the text of its example.
 */
function described(): Map<string, string | undefined> {
  const found = new Map<string, string | undefined>();
  for (const { operationId, responses } of operations) {
    for (const [status, { content = { none: {} } }] of Object.entries(responses)) {
      for (const [mediaType, { examples }] of Object.entries(content as Readonly<Record<string, ProblemExamples>>)) {
        if (mediaType !== "application/problem+json") found.set(`${operationId} ${status}`, undefined);
        else for (const code in examples) found.set(`${operationId} ${status} ${code}`, examples[code]?.value.detail);
      }
    }
  }
  return found;
}

interface ProblemExamples {
  readonly examples: Readonly<Record<string, { readonly value: { readonly detail: string } }>>;
}

/** The text of a problem with placeholders for IDs and numbers, which differ from one request to another. */
const pattern = (detail: string) =>
  detail.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID").replaceAll(/[0-9]+(\.[0-9]+)?/g, "N");

test("every status and problem code of every operation is seen, or named above", () => {
  const unseen = [...described().keys()].filter((key) => !answers.seen.has(key));
  expect(unseen).toEqual(notProvoked);
});

test("the example of each problem is a text that the service writes for that operation", () => {
  for (const [key, example] of described()) {
    if (example === undefined || notProvoked.includes(key)) continue;
    expect([...(answers.details.get(key) ?? [])].map(pattern), key).toContain(pattern(example));
  }
});
