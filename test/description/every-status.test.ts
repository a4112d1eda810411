// Provokes every status that the description lists for an operation, and every problem code, on instances with and
// without limits. Compares the texts of the problems with the examples. What cannot be provoked is named here.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { UnsecuredJWT } from "jose";
import { type Engine, StoreError } from "../../src/collection/engine.ts";
import { KeysUnavailableError } from "../../src/credentials/provider-keys.ts";
import { TokenVerifier } from "../../src/credentials/token-verifier.ts";
import { completeDescription, type Operation } from "../../src/description/api-description.ts";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { Access } from "../../src/http/access.ts";
import { AllowedHosts } from "../../src/http/allowed-hosts.ts";
import { BasicAuth } from "../../src/http/basic-auth.ts";
import { BearerAuth } from "../../src/http/bearer-auth.ts";
import { RateLimiter } from "../../src/http/rate-limiter.ts";
import { type ListenOptions, listen, type RunningServer } from "../../src/wire/listen.ts";
import { SharedLimit } from "../../src/wire/shared-limit.ts";
import { listenOptions } from "../http/listen-options.ts";
import { RawConnection } from "../http/raw-connection.ts";
import { ids, item, Service, type ServiceOptions } from "../service.ts";
import { differences } from "./described-answers.ts";

/** Statuses that no request can cause. */
const notProvoked = [
  // This operation does nothing that could fail.
  "isLive 500",
];

interface DescribedOperation {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly hasBody: boolean;
  readonly responses: Operation["responses"];
}

/** What a test changes in a valid request, to get a different answer. */
interface RequestChanges {
  readonly path?: string;
  readonly version?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body. Each character stands for one byte. */
  readonly body?: string;
  /** False if the request stays incomplete. */
  readonly ends?: boolean;
}

const operations: readonly DescribedOperation[] = Object.entries(completeDescription.paths).flatMap(
  ([path, pathItem]) =>
    Object.entries(pathItem).map(([method, { operationId, responses }]) => ({
      operationId,
      method: method.toUpperCase(),
      path: path.replace("{id}", ids.one),
      hasBody: ["post", "put"].includes(method),
      responses,
    })),
);

/** Limits that no request reaches, unless a test lowers one of them. */
const limits = (): Start => ({
  access: new Access({ rate: new RateLimiter({ burst: 1_000, perSecond: 1_000 }) }),
  hosts: new AllowedHosts([]),
  requiredFields: ["ID"],
  storeBytesMax: 1_000_000,
  connections: new SharedLimit(1_000),
});

const servers: RunningServer[] = [];
const isWrite = ({ method }: DescribedOperation) => method !== "GET";
const hasId = ({ path }: DescribedOperation) => path.includes(ids.one);

interface Start extends ServiceOptions, Partial<ListenOptions> {
  readonly engine?: Engine;
  readonly seeded?: boolean;
}

async function start({ engine = new MemoryEngine(), seeded = true, ...options }: Start = {}): Promise<number> {
  const service = await Service.on(engine, { lists: "many", ...options });
  if (seeded) await service.store.seed([{ id: ids.one, json: item(ids.one) }]);
  const server = listen(service.app, { ...listenOptions, ...options });
  servers.push(server);
  return server.port;
}

/** What was seen: `operation status`. */
const seen = new Set<string>();
/** The `detail` texts of each problem, by its code. */
const details = new Map<string, Set<string>>();

/** Sends a request over a real connection, and notes the response. Throws if it is not described. */
async function send(port: number, operation: DescribedOperation, changes: RequestChanges = {}): Promise<void> {
  const { operationId, method, path } = operation;
  const connection = await RawConnection.open(port);
  connection.send(requestText(operation, changes));
  const isFeed = operationId === "followChanges";
  const text = await (isFeed ? connection.until(/^HTTP\/1\.1 200[\s\S]*\r\n\r\n/) : connection.untilClosed());
  connection.close();
  const [head = "", body = ""] = text.split("\r\n\r\n");
  const [statusLine = "", ...lines] = head.split("\r\n");
  const status = Number(statusLine.split(" ")[1]);
  const headers = new Headers(lines.map((line) => line.split(/:(.*)/, 2) as [string, string]));
  const mediaType = headers.get("content-type");
  const isStream = mediaType?.startsWith("text/event-stream") ?? false;
  const seenAnswer = { method, path, status, headers, body: isStream ? undefined : body };
  expect(differences(completeDescription, seenAnswer)).toEqual([]);
  seen.add(`${operationId} ${status}`);
  if (mediaType !== "application/problem+json") return;
  const { code, detail } = JSON.parse(body) as { code: string; detail: string };
  details.set(code, (details.get(code) ?? new Set()).add(detail));
}

function requestText(operation: DescribedOperation, changes: RequestChanges): string {
  const { method, hasBody } = operation;
  const { path = operation.path, version = "HTTP/1.1", ends = true } = changes;
  const body = changes.body ?? (hasBody ? item(ids.one) : "");
  const headers = {
    Host: "localhost",
    ...(body === "" ? {} : { "Content-Type": "application/json", "Content-Length": String(body.length) }),
    Connection: "close",
    ...changes.headers,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} ${version}\r\n${lines.join("")}${ends ? `\r\n${body}` : ""}`;
}

/**
 * Sends a request with these changes for each of the chosen operations, to an instance with limits and to one without.
 * Each request goes to an instance of its own.
 */
async function provoke(
  which: (operation: DescribedOperation) => boolean,
  changes: RequestChanges | ((operation: DescribedOperation) => RequestChanges),
  options: Start = {},
): Promise<void> {
  const sending = operations.filter(which).flatMap((operation) =>
    [{}, limits()].map(async (more) => {
      const port = await start({ ...more, ...options });
      return send(port, operation, typeof changes === "function" ? changes(operation) : changes);
    }),
  );
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
  for (const operation of operations.filter(which)) await send(port, operation);
}

const tokenSettings = { issuer: "https://login.example", audience: "todo" };
const unverifiable = new UnsecuredJWT({ sub: "ann" })
  .setIssuer(tokenSettings.issuer)
  .setAudience(tokenSettings.audience)
  .setExpirationTime("1h")
  .encode()
  .replace(/$/, "c2lnbmF0dXJl")
  // Only the claims matter here, because there is no key to verify the signature with.
  .replace(/^[^.]*/, btoa('{"alg":"ES256"}').replaceAll("=", ""));

/** Checks tokens while the identity provider is away. */
function withoutKeys(): Access {
  const find = async () => {
    throw new KeysUnavailableError();
  };
  const verifier = new TokenVerifier(tokenSettings, { find, renew: async () => false });
  return new Access({ mode: "all", tokens: new BearerAuth(verifier) });
}

beforeAll(async () => {
  await provoke(any, {});
  await provoke(any, {}, { seeded: false });
  await provoke((operation) => !isWrite(operation), { headers: { "If-None-Match": "*" } });
  // Most of these requests have a mistake in the body, the path or a header.
  const bodies = ["\xff", "[".repeat(100), `{"Id":"${ids.one}","id":"${ids.one}"}`, '{"ID":"1"}', item(ids.two), "{}"];
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
  await provoke(any, { headers: { Authorization: `Bearer ${unverifiable}` } }, { access: withoutKeys() });
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
  for (const operation of operations) await send(full, operation);
  busy.close();
  // No operation matches these requests.
  const unmatched = { operationId: "none", hasBody: false, responses: {} };
  await send(await start({ lists: "one" }), { ...unmatched, method: "GET", path: "/nowhere" });
  await send(await start(), { ...unmatched, method: "PATCH", path: "/api/todoitems" });
  // The service fails during these requests.
  await provokeFailure(new StoreError("away"), any);
  await provokeFailure(new TypeError("a defect"), any);
});

afterAll(() => Promise.all(servers.map((server) => server.stop(0))));

/** The text of a problem with placeholders for IDs and numbers, which differ from one request to another. */
const pattern = (detail: string) =>
  detail.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID").replaceAll(/[0-9]+(\.[0-9]+)?/g, "N");

test("every status of every operation is seen, or named above", () => {
  const described = operations.flatMap(({ operationId, responses }) =>
    Object.keys(responses).map((status) => `${operationId} ${status}`),
  );
  expect(described.filter((key) => !seen.has(key))).toEqual(notProvoked);
});

test("every problem is seen, and its example is a text that the service writes", () => {
  for (const [code, { value }] of Object.entries(completeDescription.components["examples"] ?? {})) {
    const { detail } = value as { detail: string };
    expect([...(details.get(code) ?? [])].map(pattern), code).toContain(pattern(detail));
  }
});
