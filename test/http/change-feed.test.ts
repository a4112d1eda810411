// Tests the change feed: which events it sends, to whom, from which point on, and what happens if a reader stops
// reading.

import { afterEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { StoreError } from "../../src/collection/engine.ts";
import { realLimits } from "../../src/collection/limits.ts";
import { TodoStore } from "../../src/collection/todo-store.ts";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { Access } from "../../src/http/access.ts";
import { BasicAuth } from "../../src/http/basic-auth.ts";
import type { AllowedOrigins } from "../../src/http/cors.ts";
import { listen } from "../../src/wire/listen.ts";
import { isStream } from "../../src/wire/message.ts";
import { RemoteEngine, SharedMemory } from "../collection/remote-engine.ts";
import { checkedFetch } from "../description/checked-answer.ts";
import { engineKinds, temporaryFolder } from "../engines/engine-kinds.ts";
import { eventually } from "../eventually.ts";
import { Program, runProgram } from "../program.ts";
import { describeOnEveryEngine, expectProblem, ids, item, Service } from "../service.ts";
import { turns } from "../turns.ts";
import { FeedReader } from "./feed-reader.ts";
import { listenOptions } from "./listen-options.ts";

const opened: FeedReader[] = [];
afterEach(async () => {
  for (const feed of opened.splice(0)) await feed.close();
});

async function openFeed(
  service: Service,
  { since = "", headers = {} }: { since?: string; headers?: Record<string, string> } = {},
): Promise<FeedReader> {
  const response = await service.fetch("GET", `/changes${since === "" ? "" : `?since=${since}`}`, { headers });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  const feed = new FeedReader(response);
  opened.push(feed);
  return feed;
}

/** The token of the current list: its ETag without the quotes. */
async function token(service: Service): Promise<string> {
  const response = await service.fetch("GET", "/api/todoitems/");
  return response.headers.get("etag")?.slice(1, -1) ?? "";
}

async function delta(service: Service, path: string): Promise<string> {
  const response = await service.fetch("GET", path, { headers: { Accept: "application/json" } });
  expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
  return response.text();
}

const exact = '"n":12345678901234567890,"m":1.0,"s":"\\ud800","__proto__":1e400';

describeOnEveryEngine("the change feed", (start) => {
  test("a feed starts with its token, then sends every change once it is committed", async () => {
    const service = await start();
    await service.create(item(ids.one));
    const { epoch } = service.collection;
    const feed = await openFeed(service);
    expect(await feed.next()).toEqual({
      event: "ready",
      id: `${epoch}-1`,
      data: `{"epoch":"${epoch}","version":1,"readOnly":false}`,
    });
    await service.create(item(ids.mixedCase, exact));
    expect(await feed.next()).toEqual({
      event: "change",
      id: `${epoch}-2`,
      data: `{"version":2,"position":2,"id":"${ids.mixedCase.toLowerCase()}","etag":"\\"${epoch}-2\\"","item":${item(ids.mixedCase, exact)}}`,
    });
    await service.send("PUT", "/api/todoitems/", item(ids.one, '"Name":"y"'));
    expect((await feed.next())?.data).toBe(
      `{"version":3,"position":1,"id":"${ids.one}","etag":"\\"${epoch}-3\\"","item":${item(ids.one, '"Name":"y"')}}`,
    );
    await service.fetch("DELETE", `/api/todoitems/${ids.one}`);
    expect(await feed.next()).toEqual({
      event: "change",
      id: `${epoch}-4`,
      data: `{"version":4,"position":1,"id":"${ids.one}","item":null}`,
    });
  });

  test("the etag in a change is the ETag that the item is served with", async () => {
    const service = await start({ fieldNames: "camel" });
    const feed = await openFeed(service);
    await feed.next();
    await service.create(item(ids.one));
    const served = await service.fetch("GET", `/api/todoitems/${ids.one}`);
    const change = await feed.next();
    expect(JSON.parse(change?.data ?? "")).toMatchObject({
      etag: served.headers.get("etag"),
      item: { id: ids.one, name: "x" },
    });
  });

  for (const where of ["?since=", "Last-Event-ID"]) {
    test(`a feed opened with a token in ${where} first sends the missed changes, including deletions, and then new ones`, async () => {
      const service = await start();
      await service.create(item(ids.one));
      await service.create(item(ids.two));
      const since = await token(service);
      await service.send("PUT", "/api/todoitems/", item(ids.two, '"Name":"y"'));
      await service.fetch("DELETE", `/api/todoitems/${ids.one}`);
      await service.create(item(ids.three));
      const feed = await openFeed(
        service,
        where === "?since=" ? { since } : { since: "other-1", headers: { "Last-Event-ID": since } },
      );
      expect((await feed.next())?.id).toBe(since);
      expect([await feed.next(), await feed.next(), await feed.next()].map((event) => event?.data)).toEqual([
        expect.stringMatching(/^\{"version":3,"position":2,.*"Name":"y"/),
        `{"version":4,"position":1,"id":"${ids.one}","item":null}`,
        expect.stringMatching(/^\{"version":5,"position":5,/),
      ]);
      await service.fetch("DELETE", `/api/todoitems/${ids.two}`);
      expect((await feed.next())?.data).toContain('{"version":6,"position":2,');
    });
  }

  for (const [which, tokenOf] of Object.entries({
    "another epoch": () => "0123456789abcdef-1",
    "a future version": (current: string) => `${current.slice(0, -1)}9`,
    "the wrong shape": () => "yesterday",
  })) {
    test(`a token of ${which} gets a resync, and the feed continues from there`, async () => {
      const service = await start();
      await service.create(item(ids.one));
      const current = await token(service);
      const feed = await openFeed(service, { since: tokenOf(current) });
      // This event has no ID, so the reader gets no new token. If it loses its connection here, it must not believe
      // that it is up to date.
      expect(await feed.next()).toMatchObject({ event: "ready", id: undefined });
      const { epoch } = service.collection;
      expect(await feed.next()).toEqual({ event: "resync", id: current, data: `{"epoch":"${epoch}","version":1}` });
      await service.create(item(ids.two));
      expect(await feed.next()).toMatchObject({ event: "change", id: `${epoch}-2` });
    });
  }

  test("the JSON document without a token has every item with its version", async () => {
    const service = await start();
    await service.create(item(ids.one, exact));
    await service.create(item(ids.two));
    await service.fetch("DELETE", `/api/todoitems/${ids.two}`);
    const { epoch } = service.collection;
    expect(await delta(service, "/changes")).toBe(
      `{"epoch":"${epoch}","version":3,"readOnly":false,"whole":true,"changes":[{"version":1,"position":1,"id":"${ids.one}","etag":"\\"${epoch}-1\\"","item":${item(ids.one, exact)}}]}`,
    );
  });

  test("the JSON document with a token has the changes since then, and none if there were none", async () => {
    const service = await start();
    await service.create(item(ids.one));
    await service.create(item(ids.two));
    const since = await token(service);
    const { epoch } = service.collection;
    expect(await delta(service, `/changes?since=${since}`)).toBe(
      `{"epoch":"${epoch}","version":2,"readOnly":false,"whole":false,"changes":[]}`,
    );
    await service.fetch("DELETE", `/api/todoitems/${ids.one}`);
    expect(await delta(service, `/changes?since=${since}`)).toBe(
      `{"epoch":"${epoch}","version":3,"readOnly":false,"whole":false,"changes":[{"version":3,"position":1,"id":"${ids.one}","item":null}]}`,
    );
    expect(JSON.parse(await delta(service, "/changes?since=other-1"))).toMatchObject({ whole: true, version: 3 });
  });

  test("the JSON document has the list's ETag, and a client that sends that ETag gets 304", async () => {
    const service = await start({ fieldNames: "pascal" });
    await service.create(item(ids.one));
    const etag = (await service.fetch("GET", "/api/todoitems/")).headers.get("etag") ?? "";
    const headers = { Accept: "application/json" };
    const first = await service.fetch("GET", "/changes", { headers });
    expect([first.headers.get("etag"), first.headers.get("cache-control")]).toEqual([etag, "no-cache"]);
    const second = await service.fetch("GET", "/changes", { headers: { ...headers, "If-None-Match": etag } });
    expect(second.status).toBe(304);
    // The text of the ETag, even with its suffix, can also be used as the value of `since`.
    expect(JSON.parse(await delta(service, `/changes?since=${etag.slice(1, -1)}`))).toMatchObject({ whole: false });
  });

  test("the feed of a read-only instance says that it is read-only, and sends no change that was not stored", async () => {
    const service = await start({ readOnly: true });
    const feed = await openFeed(service, {});
    expect((await feed.next())?.data).toContain('"readOnly":true');
    await service.create(item(ids.one));
    expect(JSON.parse(await delta(service, "/changes"))).toMatchObject({ version: 0, changes: [] });
  });

  test("a feed and a document continue from a weak ETag, as a compressing proxy sends it", async () => {
    const service = await start();
    await service.create(item(ids.one));
    const weak = `W/"${await token(service)}"`;
    await service.create(item(ids.two));
    const path = `/changes/delta?since=${encodeURIComponent(weak)}`;
    expect(await (await service.fetch("GET", path)).json()).toMatchObject({ whole: false, changes: [{ version: 2 }] });
    const feed = await openFeed(service, { headers: { "Last-Event-ID": weak } });
    expect([(await feed.next())?.event, (await feed.next())?.event]).toEqual(["ready", "change"]);
  });

  test("a silent feed sends heartbeats", async () => {
    const service = await start({ heartbeatMs: 10 });
    const feed = await openFeed(service);
    await feed.next();
    expect([await feed.block(), await feed.block()]).toEqual([": still here", ": still here"]);
  });

  test("a stop ends every open feed, and every feed that is opened later, and says when to reconnect", async () => {
    const service = await start();
    const feed = await openFeed(service);
    await feed.next();
    const last = feed.block();
    service.app.changeFeed.stop();
    expect(await last).toMatch(/^retry: [0-9]{3,4}$/);
    expect(await feed.block()).toBeUndefined();
    const late = await openFeed(service);
    expect((await late.next())?.event).toBe("ready");
    expect(await late.block()).toMatch(/^retry: [0-9]{3,4}$/);
    expect(await late.block()).toBeUndefined();
  });
});

test("while a heartbeat waits for a slow reader, nothing more is written to its feed", async () => {
  const service = await Service.on(new MemoryEngine(), { heartbeatMs: 10 });
  const request = {
    method: "GET",
    path: "/changes",
    query: "",
    headers: new Map(),
    peer: "192.0.2.1",
    isSecure: false,
  };
  const { body } = await service.app.handle({ ...request, readBody: () => new Uint8Array() });
  if (!isStream(body)) throw new Error("the feed is not a stream");
  const written: string[] = [];
  const source = body.open({ write: (bytes) => void written.push(Buffer.from(bytes).toString()), end() {} });
  source.pull();
  await eventually(() => written.length > 1);
  await service.create(item(ids.one));
  expect(written.slice(1)).toEqual([": still here\n\n"]);
  source.pull();
  expect(written[2]).toStartWith("event: change\n");
  source.cancel();
});

function numbered(index: number): string {
  return `00000000-0000-4000-8000-${index.toString().padStart(12, "0")}`;
}

test("a reader that falls more than 60,000 changes behind gets a resync, and delays no write", async () => {
  const service = await Service.on(new MemoryEngine(), { limits: realLimits });
  await service.create(item(ids.one));
  const feed = await openFeed(service);
  expect((await feed.next())?.event).toBe("ready");
  const write = (index: number) =>
    ({ kind: "create", item: { id: numbered(index), json: item(numbered(index)) } }) as const;
  for (let round = 0; round < 60; round++) {
    const writes = Array.from({ length: 1_000 }, (_, index) => write(round * 1_000 + index));
    await Promise.all(writes.map((each) => service.collection.write(each)));
  }
  // Events that were already on their way may still arrive.
  let event = await feed.next();
  while (event?.event === "change") event = await feed.next();
  expect(event).toMatchObject({ event: "resync", id: await token(service) });
  await service.create(item(ids.two));
  expect(await feed.next()).toMatchObject({ event: "change", id: await token(service) });
});

test("the JSON document of a read-only instance says so, and its ETag is not that of a writable one", async () => {
  const engine = new MemoryEngine();
  const writable = await Service.on(engine);
  await writable.create(item(ids.one));
  const readOnly = await Service.on(engine, { readOnly: true });
  const paths = ["/changes/delta", `/changes/delta?since=${await token(writable)}`];
  for (const path of paths) {
    const stored = await writable.fetch("GET", path);
    const headers = { "If-None-Match": stored.headers.get("etag") ?? "" };
    expect(await stored.json()).toMatchObject({ readOnly: false });
    // The cached document of the writable instance must not be used for the read-only instance, nor the other way
    // round.
    const document = await readOnly.fetch("GET", path, { headers });
    expect(await document.json()).toMatchObject({ readOnly: true });
    const again = { "If-None-Match": document.headers.get("etag") ?? "" };
    expect((await readOnly.fetch("GET", path, { headers: again })).status).toBe(304);
    expect((await writable.fetch("GET", path, { headers: again })).status).toBe(200);
  }
});

describe("access to the change feed", () => {
  test("the feed offers only GET", async () => {
    const service = await Service.on(new MemoryEngine());
    for (const method of ["POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"]) {
      const response = await service.fetch(method, "/changes");
      expect([method, response.status, response.headers.get("allow")]).toEqual([method, 405, "GET"]);
    }
    await expectProblem(await service.fetch("GET", "/changes/more"), 404, "RouteNotFound");
  });

  test("the feed requires credentials if and only if the list does", async () => {
    const hash = await Bun.password.hash("secret", { algorithm: "bcrypt", cost: 4 });
    const auth = new BasicAuth(new Map([["ann", hash]]));
    const all = await Service.on(new MemoryEngine(), {
      access: new Access({ mode: "all", auth }),
    });
    await expectProblem(await all.fetch("GET", "/changes"), 401, "CredentialsRequired");
    const feed = await openFeed(all, { headers: { Authorization: `Basic ${btoa("ann:secret")}` } });
    expect((await feed.next())?.event).toBe("ready");
    const writes = await Service.on(new MemoryEngine(), {
      access: new Access({ mode: "writes", auth }),
    });
    expect((await (await openFeed(writes)).next())?.event).toBe("ready");
  });

  test("a user who is removed gets no more events, and the feed ends", async () => {
    const hash = await Bun.password.hash("secret", { algorithm: "bcrypt", cost: 4 });
    const bob: [string, string] = ["bob", hash];
    const auth = new BasicAuth(new Map([["ann", hash], bob]));
    const service = await Service.on(new MemoryEngine(), { access: new Access({ mode: "all", auth }) });
    const headersOf = (name: string) => ({ Authorization: `Basic ${btoa(`${name}:secret`)}` });
    const feed = await openFeed(service, { headers: headersOf("ann") });
    const others = await openFeed(service, { headers: headersOf("bob") });
    for (const one of [feed, others]) expect((await one.next())?.event).toBe("ready");
    auth.replaceUsers(new Map([bob]));
    await service.send("POST", "/api/todoitems/", item(ids.one), headersOf("bob"));
    expect(await others.next()).toMatchObject({ event: "change" });
    expect(await feed.next()).toBeUndefined();
  });

  test("a user who is removed while the body of the request arrives gets 401 instead of a feed", async () => {
    const hash = await Bun.password.hash("secret", { algorithm: "bcrypt", cost: 4 });
    const auth = new BasicAuth(new Map([["ann", hash]]));
    const service = await Service.on(new MemoryEngine(), { access: new Access({ mode: "all", auth }) });
    const headers = new Map([["authorization", `Basic ${btoa("ann:secret")}`]]);
    const send = (path: string, body: Promise<Uint8Array>) =>
      service.app.handle({ method: "GET", path, query: "", headers, peer: "", isSecure: false, readBody: () => body });
    expect((await send("/api/todoitems/", Promise.resolve(new Uint8Array()))).status).toBe(200);
    const body = Promise.withResolvers<Uint8Array>();
    const opening = send("/changes/events", body.promise);
    auth.replaceUsers(new Map());
    body.resolve(new Uint8Array());
    expect((await opening).status).toBe(401);
    expect(service.app.changeFeed.readerCount).toBe(0);
  });

  test("pages of other sites get 403, so they cannot use up the feeds of the user's own page, unless --cors allows them", async () => {
    const crossSite = { "Sec-Fetch-Site": "cross-site", Origin: "https://app.example" };
    const allowing = (...origins: string[]) => Service.on(new MemoryEngine(), { cors: new Set(origins) });
    const service = await Service.on(new MemoryEngine());
    for (let count = 0; count < 101; count++)
      await expectProblem(
        await service.fetch("GET", "/changes/events", { headers: crossSite }),
        403,
        "CrossSiteRefused",
      );
    await openFeed(service, { headers: { "Sec-Fetch-Site": "same-origin" } });
    const other = await allowing("https://other.example");
    await expectProblem(await other.fetch("GET", "/changes/events", { headers: crossSite }), 403, "CrossSiteRefused");
    await openFeed(await allowing("https://app.example"), { headers: crossSite });
    const open = await Service.on(new MemoryEngine(), { cors: "*" });
    await openFeed(open, { headers: crossSite });
    // An image or a frame of another site sends no origin.
    const frame = { "Sec-Fetch-Site": "cross-site" };
    await expectProblem(await open.fetch("GET", "/changes/events", { headers: frame }), 403, "CrossSiteRefused");
  });

  test("without Sec-Fetch-Site, which browsers send only to trustworthy addresses, the page's origin decides", async () => {
    const open = async (origin: string, cors?: AllowedOrigins) => {
      const headers = { Host: "192.168.1.5:5000", Origin: origin };
      const service = await Service.on(new MemoryEngine(), { cors });
      return (await service.fetch("GET", "/changes/events", { headers })).status;
    };
    expect(await open("http://evil.example")).toBe(403);
    expect(await open("http://192.168.1.5:3000")).toBe(403);
    expect(await open("null")).toBe(403);
    expect(await open("http://192.168.1.5:5000")).toBe(200);
    expect(await open("http://app.example", new Set(["http://app.example"]))).toBe(200);
    expect(await open("http://evil.example", new Set(["http://app.example"]))).toBe(403);
  });

  test("one address may have 100 feeds open; one more gets 429 with Retry-After, until one of them ends", async () => {
    const service = await Service.on(new MemoryEngine());
    const feeds = await Promise.all(Array.from({ length: 100 }, () => openFeed(service)));
    const refused = await service.fetch("GET", "/changes");
    expect(refused.headers.get("retry-after")).toBe("5");
    await expectProblem(refused, 429, "TooManyRequests");
    expect(JSON.parse(await delta(service, "/changes"))).toMatchObject({ whole: true });
    service.address = "192.0.2.1";
    await openFeed(service);
    service.address = "127.0.0.1";
    await feeds[0]?.close();
    await openFeed(service);
    await expectProblem(await service.fetch("GET", "/changes"), 429, "TooManyRequests");
    service.app.changeFeed.stop();
    await openFeed(service);
  });

  test("a feed that fails to open does not count as open", async () => {
    const engine = new MemoryEngine();
    const service = await Service.on(engine);
    const hasNews = engine.hasNews.bind(engine);
    engine.hasNews = () => Promise.reject(new StoreError("away"));
    for (let count = 0; count < 101; count++)
      await expectProblem(await service.fetch("GET", "/changes"), 503, "StoreUnavailable");
    engine.hasNews = hasNews;
    await openFeed(service);
  });

  for (const trustProxy of [true, false]) {
    const title = trustProxy
      ? "behind a trusted proxy, feeds are counted by the client's address"
      : "without a trusted proxy, feeds are counted by the connection's address, whatever the client claims";
    test(title, async () => {
      const service = await Service.on(new MemoryEngine(), {
        access: new Access({ trustProxy }),
      });
      const from = (address: string) => ({ headers: { "X-Forwarded-For": address } });
      for (let count = 0; count < 100; count++) await openFeed(service, from("192.0.2.1"));
      const [same, other] = [
        await service.fetch("GET", "/changes", from("192.0.2.1")),
        await service.fetch("GET", "/changes", from("192.0.2.2")),
      ];
      expect([same.status, other.status]).toEqual([429, trustProxy ? 200 : 429]);
      service.app.changeFeed.stop();
    });
  }

  test("a page from an allowed origin may read the feed and send its token", async () => {
    const service = await Service.on(new MemoryEngine(), { cors: new Set(["https://app.example"]) });
    const preflight = await service.fetch("OPTIONS", "/changes", {
      headers: {
        Origin: "https://app.example",
        "Access-Control-Request-Method": "GET",
        "Access-Control-Request-Headers": "last-event-id",
      },
    });
    expect(preflight.headers.get("access-control-allow-headers")).toBe("last-event-id");
    expect(preflight.headers.get("access-control-allow-methods")).toBe("GET");
    const response = await service.fetch("GET", "/changes", { headers: { Origin: "https://app.example" } });
    opened.push(new FeedReader(response));
    expect(response.headers.get("access-control-allow-origin")).toBe("https://app.example");
    expect(response.headers.get("vary")).toBe("Accept, Last-Event-ID, Origin");
  });
});

describe("the change feed on sockets and across processes", () => {
  for (const kind of engineKinds.filter(({ name }) => name === "postgres")) {
    test(`a feed sends a change by another process, even if no request reads the store [${kind.name}]`, async () => {
      const store = await kind.createStore();
      const here = await Service.on(await store.open());
      const there = await Service.on(await store.open());
      const feed = await openFeed(here);
      await feed.next();
      await there.create(item(ids.one));
      expect((await feed.next())?.data).toContain(item(ids.one));
      // A request for past changes must not hide these changes from the open feed.
      const since = await token(here);
      await there.create(item(ids.two));
      expect(JSON.parse(await delta(here, `/changes?since=${since}`))).toMatchObject({ changes: [{ id: ids.two }] });
      expect(await here.list()).toContain(item(ids.two));
      expect((await feed.next())?.data).toContain(item(ids.two));
      await feed.close();
      await Promise.all([here, there].map((service) => service.store.close()));
      await store.dispose();
    });
  }

  test("a feed without changes stays open longer than the idle time-out", async () => {
    const service = await Service.on(new MemoryEngine(), { heartbeatMs: 500 });
    const server = listen(service.app, { ...listenOptions, idleTimeoutMs: 2_000 });
    const feed = new FeedReader(await checkedFetch(`http://127.0.0.1:${server.port}/changes`));
    for (let beats = 0; beats < 5; beats++) expect(await feed.block()).toBeDefined();
    await service.create(item(ids.one));
    expect((await feed.next())?.data).toContain(item(ids.one));
    service.app.changeFeed.stop();
    await server.stop(1_000);
  });

  test("open feeds do not delay a stop", async () => {
    const program = await Program.start({ args: ["--port", "0", "--store", "memory:"] });
    const feed = new FeedReader(await program.fetch("/changes"));
    await feed.next();
    const { exitCode, stderr } = await program.stop();
    expect(exitCode).toBe(0);
    expect(stderr).not.toContain("cut off");
  });

  test("feeds end when the users change, so that a removed user gets no more events", async () => {
    const folder = temporaryFolder();
    const users = join(folder.path, "users.txt");
    await runProgram("user", { args: ["add", "ann", "--users", users], input: "long enough\n" });
    await runProgram("user", { args: ["add", "bob", "--users", users], input: "long enough too\n" });
    const program = await Program.start({
      args: ["--port", "0", "--store", "memory:", "--auth", "all", "--users", users],
    });
    const headers = { Authorization: `Basic ${btoa("ann:long enough")}` };
    const feed = new FeedReader(await program.fetch("/changes", { headers }));
    expect((await feed.next())?.event).toBe("ready");
    await runProgram("user", { args: ["remove", "ann", "--users", users] });
    expect(await feed.next()).toBeUndefined();
    expect((await program.fetch("/changes", { headers })).status).toBe(401);
    await program.stop();
    folder.dispose();
  });
});

test("a list that cannot be read does not keep the changes of others from their readers", async () => {
  const engine = new RemoteEngine();
  const service = await Service.on(engine, { lists: "many", listMemoryMax: 1 });
  const other = await TodoStore.open(engine.store);
  const readers: FeedReader[] = [];
  for (const name of ["broken", "work"]) {
    await other.list(name).write({ kind: "create", item: { id: ids.one, json: item(ids.one) } });
    readers.push(new FeedReader(await service.fetch("GET", `/lists/${name}/changes`)));
  }
  for (const reader of readers) expect((await reader.next())?.event).toBe("ready");
  // Now neither list is in memory.
  await service.fetch("GET", "/api/todoitems");
  await turns(5);
  const load = engine.load.bind(engine);
  engine.load = (list) => (list === "broken" ? Promise.reject(new StoreError("damaged")) : load(list));
  for (const name of ["broken", "work"])
    await other.list(name).write({ kind: "create", item: { id: ids.two, json: item(ids.two) } });
  engine.hasNewsResult = Promise.resolve(true);
  expect((await readers[1]?.next())?.data).toContain(ids.two);
  for (const reader of readers) await reader.close();
  await service.store.close();
});

test("an event of a history that was replaced is not sent again, although the new one has the same epoch", async () => {
  const engine = new RemoteEngine();
  const service = await Service.on(engine, { readOnly: true });
  const history = async (...names: string[]) => {
    const store = new SharedMemory();
    const writer = await TodoStore.open(store);
    for (const [index, name] of names.entries()) {
      const kind = index === 0 ? "create" : "update";
      const write = { kind, item: { id: ids.one, json: item(ids.one, name) }, condition: undefined } as const;
      await writer.list("").write(write);
    }
    return store;
  };
  const { epoch } = service.collection;
  const show = async (store: SharedMemory) => {
    engine.store = store;
    service.store.restart({ ...(await store.state()), epoch });
    engine.load = async (list) => ({ ...(await store.load(list)), storeEpoch: epoch });
    await service.list();
  };
  const take = async (store: SharedMemory) => {
    const { rows } = await store.load("");
    service.store.take({ state: { ...(await store.state()), epoch }, lists: [{ list: "", changes: rows }] });
  };
  for (const name of ['"Name":"lost"', '"Name":"new"']) {
    await show(await history('"Name":"old"'));
    const feed = await openFeed(service, { since: `${epoch}-1` });
    expect((await feed.next())?.event).toBe("ready");
    await take(await history('"Name":"old"', name));
    expect((await feed.next())?.data).toContain(name);
  }
});
