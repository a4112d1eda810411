// Tests how readers of the change feed get the changes that they missed: in portions, at their own pace.

import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { realLimits } from "../../src/collection/limits.ts";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { isStream } from "../../src/wire/message.ts";
import { Service } from "../service.ts";
import { FeedReader } from "./feed-reader.ts";

let service: Service;

beforeEach(async () => {
  service = await Service.on(new MemoryEngine(), { limits: realLimits });
});

afterEach(() => service.app.changeFeed.stop());

const id = (index: number) => `00000000-0000-4000-8000-${index.toString().padStart(12, "0")}`;
const pathSince = (version: number) => `/changes?since=${service.collection.epoch}-${version}`;

async function update(index: number, fields: string): Promise<void> {
  const response = await service.send("PUT", "/api/todoitems/", `{"ID":"${id(index)}",${fields}}`);
  expect(response.status).toBe(204);
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
    readBody: () => new Uint8Array(),
  });
  if (!isStream(answer.body)) throw new Error("this is not a feed");
  const written: Uint8Array[] = [];
  const source = answer.body.open({ write: (bytes) => written.push(bytes), end() {} });
  const text = () => Buffer.from(written.at(-1) ?? []).toString();
  return { written, text, source };
}

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
});

test("a feed sends all missed changes in order, then those committed while it was sending", async () => {
  for (let index = 0; index < 10; index++) await service.create(`{"ID":"${id(index)}"}`);
  for (let index = 0; index < 7; index++) await update(index, `"Notes":"${"x".repeat(1_000_000)}"`);
  const feed = new FeedReader(await service.fetch("GET", pathSince(2)));
  expect(await feed.next()).toMatchObject({ event: "ready", id: `${service.collection.epoch}-2` });
  const versions: number[] = [];
  while (versions.at(-1) !== 18) {
    versions.push(JSON.parse((await feed.next())?.data ?? "").version);
    if (versions.length === 3) await update(0, '"Name":"new"');
  }
  // Item 0 was changed as version 11 and again as version 18, before version 11 was sent.
  expect(versions).toEqual([8, 9, 10, 12, 13, 14, 15, 16, 17, 18]);
  await feed.close();
});

test("a slow reader gets an item that has changed many times once, as it is now", async () => {
  await service.create(`{"ID":"${id(0)}"}`);
  const feed = await openFeed(1);
  for (let count = 1; count <= 100; count++) await update(0, `"n":${count}`);
  feed.source.pull();
  expect(feed.text().match(/event: change/g)).toHaveLength(1);
  expect(feed.text()).toContain('"n":100}');
});

test("changes of more than 4 MiB are not put into one document: their reader gets every item", async () => {
  await service.create(`{"ID":"${id(0)}"}`);
  for (let index = 1; index <= 5; index++)
    await service.create(`{"ID":"${id(index)}","Notes":"${"x".repeat(1_000_000)}"}`);
  const delta = async (version: number) =>
    (await service.fetch("GET", pathSince(version), { headers: { Accept: "application/json" } })).json();
  expect(await delta(1)).toMatchObject({ whole: true, version: 6, changes: Array(6).fill({}) });
  expect(await delta(2)).toMatchObject({ whole: false, version: 6, changes: Array(4).fill({}) });
});

test("readers that ask for the same changes share one document, and the verdict that it is too long, until a write", async () => {
  await service.create(`{"ID":"${id(0)}"}`);
  for (let index = 1; index <= 5; index++)
    await service.create(`{"ID":"${id(index)}","Notes":"${"x".repeat(1_000_000)}"}`);
  const look = spyOn(service.collection, "changesSince");
  const looksFor = async (version: number, whole: boolean) => {
    look.mockClear();
    const ask = () => service.fetch("GET", pathSince(version), { headers: { Accept: "application/json" } });
    for (const response of await Promise.all([ask(), ask(), ask()]))
      expect(await response.json()).toMatchObject({ whole, version: service.collection.version });
    return look.mock.calls.length;
  };
  expect(await looksFor(1, true)).toBe(1);
  expect(await looksFor(2, false)).toBe(1);
  expect(await looksFor(3, false)).toBe(1);
  await update(0, '"Name":"new"');
  expect(await looksFor(3, false)).toBe(1);
});

test("the long documents of readers that have missed different changes are made one in a turn, so that others are answered in between", async () => {
  const notes = "long ".repeat(realLimits.portionCharacters / 5);
  for (let index = 0; index < 4; index++) await service.create(`{"ID":"${id(index)}","Notes":"${notes}"}`);
  let turn = 0;
  const count = () => {
    turn++;
    immediate = setImmediate(count);
  };
  let immediate = setImmediate(count);
  const made: number[] = [];
  const changesSince = service.collection.changesSince.bind(service.collection);
  spyOn(service.collection, "changesSince").mockImplementation((since) => {
    made.push(turn);
    return changesSince(since);
  });
  const ask = (version: number) =>
    service.fetch("GET", pathSince(version), { headers: { Accept: "application/json" } });
  const documents = await Promise.all([1, 2, 3].map(async (version) => (await ask(version)).json()));
  clearImmediate(immediate);
  expect(documents).toMatchObject([3, 2, 1].map((length) => ({ whole: false, changes: Array(length).fill({}) })));
  expect(new Set(made).size).toBe(3);
});
