// Tests how readers of the change feed get the changes that they missed: what is shared, and what is limited.

import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import type { Bookmark } from "../../src/collection/engine.ts";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { isStream } from "../../src/wire/message.ts";
import { expectProblem, Service } from "../service.ts";
import { FeedReader } from "./feed-reader.ts";

let service: Service;
/**
 * The bookmarks (epoch and version) after which the service has read changes from the store. Reads that only update the
 * service's own copy of the list are not included.
 */
let pulled: Bookmark[];
/** The reads that `pulled` records wait for this promise. */
let storeAnswers: Promise<void>;

beforeEach(async () => {
  const engine = new MemoryEngine();
  service = await Service.on(engine);
  pulled = [];
  storeAnswers = Promise.resolve();
  const pull = engine.pull.bind(engine);
  engine.pull = async (since) => {
    if (since && since.version < service.collection.version) {
      pulled.push(since);
      await storeAnswers;
    }
    return pull(since);
  };
});

afterEach(() => {
  service.app.changeFeed.stop();
  jest.useRealTimers();
});

const id = (index: number) => `00000000-0000-4000-8000-${index.toString().padStart(12, "0")}`;
const long = (name: string) => `"Name":"${name}","Notes":"${"x".repeat(1_000_000)}"`;
const pathSince = (version: number) => `/changes?since=${service.collection.epoch}-${version}`;

/**
 * Creates ten items and then gives seven of them long notes. So a reader whose token has a version from 0 to 10 has
 * missed about 7 MB.
 */
async function writeLongChanges(): Promise<void> {
  for (let index = 0; index < 10; index++) await service.create(`{"ID":"${id(index)}","Name":"short"}`);
  for (let index = 0; index < 7; index++) await update(index, long("long"));
}

async function seed(count: number): Promise<void> {
  await service.collection.seed(
    Array.from({ length: count }, (_, index) => ({ id: id(index), json: `{"ID":"${id(index)}"}` })),
  );
}

async function update(index: number, fields: string): Promise<void> {
  const response = await service.send("PUT", "/api/todoitems/", `{"ID":"${id(index)}",${fields}}`);
  expect(response.status).toBe(204);
}

function getDocument(version: number, headers: Record<string, string> = {}): Promise<Response> {
  return service.fetch("GET", pathSince(version), { headers: { Accept: "application/json", ...headers } });
}

/** Opens a feed. `written` has the bytes of each write of the feed, and `text` returns those of the latest write. */
async function openFeed(version: number) {
  const answer = await service.app.handle({
    method: "GET",
    path: "/changes",
    query: pathSince(version).split("?")[1] ?? "",
    headers: new Map(),
    peer: "127.0.0.1",
    isSecure: false,
    turn: undefined,
    readBody: () => new Uint8Array(),
  });
  if (!isStream(answer.body)) throw new Error("this is not a feed");
  const written: Uint8Array[] = [];
  const source = answer.body.open({ write: (bytes) => written.push(bytes), end() {} });
  const text = () => Buffer.from(written.at(-1) ?? []).toString();
  return { written, text, source };
}

test("readers that ask from the same token at once share one read of the store", async () => {
  await writeLongChanges();
  const texts = await Promise.all(Array.from({ length: 50 }, async () => (await getDocument(3)).text()));
  expect(new Set(texts).size).toBe(1);
  expect(JSON.parse(texts[0] ?? "")).toMatchObject({ version: 17, whole: false });
  expect(pulled.map(({ version }) => version)).toEqual([3]);
});

test("long changes are kept for later readers with the same token, until the next change", async () => {
  await writeLongChanges();
  const first = await (await getDocument(3)).text();
  expect(await (await getDocument(3)).text()).toBe(first);
  expect(pulled).toHaveLength(1);
  await update(9, '"Name":"new"');
  expect(JSON.parse(await (await getDocument(3)).text()).changes.at(-1)).toMatchObject({ version: 18, id: id(9) });
});

test("feeds that start from the same token send the same bytes, 64 KiB at a time", async () => {
  for (let index = 0; index < 2_000; index++)
    await service.create(`{"ID":"${id(index)}","Notes":"${"x".repeat(100)}"}`);
  const [one, two] = [await openFeed(0), await openFeed(0)];
  for (let portion = 0; portion < 8; portion++) {
    one.source.pull();
    two.source.pull();
  }
  expect(one.written.length).toBeGreaterThan(5);
  for (const [index, bytes] of one.written.slice(1).entries()) {
    expect(bytes.length).toBeLessThanOrEqual(64 * 1024);
    expect(two.written[index + 1]).toBe(bytes);
  }
  expect(pulled).toHaveLength(1);
});

test("a feed sends all missed changes in order, then those committed while it was sending", async () => {
  await writeLongChanges();
  const feed = new FeedReader(await service.fetch("GET", pathSince(2)));
  expect(await feed.next()).toMatchObject({ event: "ready", id: `${service.collection.epoch}-2` });
  const versions: number[] = [];
  while (versions.at(-1) !== 18) {
    versions.push(JSON.parse((await feed.next())?.data ?? "").version);
    if (versions.length === 3) await update(0, '"Name":"new"');
  }
  expect(versions).toEqual([8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18]);
  await feed.close();
});

test("a client that has the newest state gets 304, and no past changes are read for it", async () => {
  await writeLongChanges();
  const etag = (await service.fetch("GET", "/api/todoitems/")).headers.get("etag") ?? "";
  expect((await getDocument(3, { "If-None-Match": etag })).status).toBe(304);
  expect(pulled).toEqual([]);
});

test("when 32 MiB of long changes are kept, a reader with another old token gets the whole list", async () => {
  await seed(2_000);
  for (let index = 0; index < 7; index++) await update(index, long("long"));
  const documents = await Promise.all(
    Array.from({ length: 20 }, async (_, version) => JSON.parse(await (await getDocument(version)).text())),
  );
  expect(documents.map(({ whole }) => whole)).toEqual([...Array(4).fill(false), ...Array(16).fill(true)]);
  // Once there is no room in memory for the changes since one version, the changes since other old versions are not
  // even looked up.
  expect(pulled.length).toBeLessThan(8);
  await update(9, '"Name":"new"');
  expect(await (await getDocument(2_007)).json()).toMatchObject({ whole: false, changes: [{ version: 2_008 }] });
});

test("when there is no room for long changes, a reader whose token is as old but whose changes are short gets them", async () => {
  await writeLongChanges();
  for (let version = 0; version < 5; version++) await getDocument(version);
  expect(await (await getDocument(5)).json()).toMatchObject({ whole: true });
  for (let index = 0; index < 7; index++) await update(index, '"Name":"short again"');
  expect(await (await getDocument(10)).json()).toMatchObject({ whole: false, version: 24 });
});

test("after 30 s, long changes make room for others, and a feed that is still sending them gets a resync", async () => {
  await writeLongChanges();
  jest.useFakeTimers();
  const feed = await openFeed(0);
  feed.source.pull();
  expect(feed.text()).toContain("event: change");
  for (let version = 1; version < 5; version++) await openFeed(version);
  expect((await openFeed(5)).text()).toContain("event: resync");
  jest.advanceTimersByTime(30_000);
  expect((await openFeed(6)).text()).not.toContain("event: resync");
  feed.source.pull();
  expect(feed.text()).toStartWith("event: resync");
});

test("when past changes are wanted since 1,002 different tokens, a request with one more is refused with 503", async () => {
  await seed(2_000);
  const { promise, resolve } = Promise.withResolvers<void>();
  storeAnswers = promise;
  const waiting = Array.from({ length: 1_002 }, (_, version) => getDocument(version));
  const refused = await getDocument(1_500);
  expect(refused.headers.get("retry-after")).toBe("1");
  await expectProblem(refused, 503, "Overloaded");
  resolve();
  for (const response of await Promise.all(waiting)) expect(response.status).toBe(200);
});
