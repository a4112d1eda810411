// liveList(): its snapshots stay the same objects while nothing changes, and it survives failures of networks and
// servers.

import { afterEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { TodoClient, type TodoItem, type WatchedItem } from "../../src/client/index.ts";
import { OfflineList } from "../../src/client/offline.ts";
import { Access } from "../../src/http/access.ts";
import { BasicAuth } from "../../src/http/basic-auth.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { eventually } from "../eventually.ts";
import { Program } from "../program.ts";
import { ids, item } from "../service.ts";
import { closeAll, closes, follow, kind, names, openService, setGlobal, untilKind } from "./opened-service.ts";
import { startOtherDeployment } from "./other-deployment.ts";

afterEach(closeAll);

/** What a list sees of a web page. */
function openPage() {
  const page = Object.assign(new EventTarget(), { visibilityState: "visible" });
  const window = new EventTarget();
  const globals = {
    document: page,
    addEventListener: window.addEventListener.bind(window),
    removeEventListener: window.removeEventListener.bind(window),
  };
  for (const [name, value] of Object.entries(globals)) setGlobal(name, value);
  const show = (visibilityState: "visible" | "hidden") => {
    page.visibilityState = visibilityState;
    page.dispatchEvent(new Event("visibilitychange"));
  };
  return { show, network: (name: "offline" | "online") => window.dispatchEvent(new Event(name)) };
}

async function followOffline(todo: TodoClient) {
  const list = new OfflineList(todo);
  closes.push(() => list.close());
  await follow(list);
  return list;
}

describe("snapshots", () => {
  test("a live list is stopped and empty until somebody subscribes, and then follows the list", async () => {
    const { service, network, todo } = await openService();
    await service.create(item(ids.one, '"Name":"One"'));
    const list = todo.liveList();
    expect(list.getSnapshot()).toEqual({
      items: [],
      status: { connection: { kind: "stopped" }, loaded: false, readOnly: false, needsCredentials: false },
    });
    expect(network.requests).toEqual([]);
    await follow(list);
    expect(list.getSnapshot()).toMatchObject({
      items: [{ id: ids.one, item: { ID: ids.one, Name: "One" }, etag: expect.any(String), position: 1 }],
      status: { loaded: true, connection: { kind: "live", readOnly: false } },
    });
    await service.create(item(ids.two, '"Name":"Two"'));
    await eventually(() => expect(names(list)).toEqual(["One", "Two"]));
    await service.fetch("DELETE", `/api/todoitems/${ids.one}`);
    await eventually(() => expect(names(list)).toEqual(["Two"]));
    await service.create(item(ids.one, '"Name":"One"'));
    await eventually(() => expect(names(list)).toEqual(["Two", "One"]));
  });

  test("a snapshot stays the same object until something changes, and items that did not change stay the same", async () => {
    const { service, todo } = await openService();
    for (const id of [ids.one, ids.two, ids.three]) await service.create(item(id, '"Name":"before"'));
    const list = todo.liveList();
    await follow(list);
    const before = list.getSnapshot();
    expect(list.getSnapshot()).toBe(before);
    await service.send("PUT", "/api/todoitems/", item(ids.two, '"Name":"after"'));
    await eventually(() => list.getSnapshot() !== before);
    const after = list.getSnapshot();
    expect(after.items).not.toBe(before.items);
    expect(after.items.map((entry, index) => entry === before.items[index])).toEqual([true, false, true]);
    expect(before.items[1]?.item.Name).toBe("before");
    expect(after.status).toBe(before.status);
  });

  test("changes that arrive together are published together", async () => {
    const { service, todo } = await openService();
    const list = todo.liveList();
    const unsubscribe = await follow(list);
    unsubscribe();
    await untilKind(list, "stopped");
    for (let count = 0; count < 50; count++) await service.create(item(crypto.randomUUID(), '"Name":"x"'));
    let calls = 0;
    closes.push(list.subscribe(() => calls++));
    await eventually(() => list.getSnapshot().items.length === 50);
    // The listener is called when the list starts to connect, when it is live, and a few times for all 50 changes
    // together.
    expect(calls).toBeLessThan(10);
  });
});

describe("subscriptions", () => {
  test("the last subscriber closes the connection, and the next one receives only what it missed", async () => {
    const { service, network, todo } = await openService();
    await service.create(item(ids.one, '"Name":"One"'));
    const list = todo.liveList();
    const unsubscribe = await follow(list);
    const [kept] = list.getSnapshot().items;
    unsubscribe();
    await untilKind(list, "stopped");
    expect(names(list)).toEqual(["One"]);
    await service.create(item(ids.two, '"Name":"Two"'));
    await follow(list);
    await eventually(() => expect(names(list)).toEqual(["One", "Two"]));
    expect(list.getSnapshot().items[0]).toBe(kept as WatchedItem<TodoItem>);
    expect(network.exchanges).toEqual([
      "/changes/delta 200",
      "/changes/events?since=… 200 events",
      "/changes/delta?since=… 200",
      "/changes/events?since=… 200 events",
    ]);
  });

  test("unsubscribing and subscribing again at once, as React does, keeps the connection", async () => {
    const { network, todo } = await openService();
    const list = todo.liveList();
    const unsubscribe = await follow(list);
    unsubscribe();
    await follow(list);
    expect(network.exchanges).toEqual(["/changes/delta 200", "/changes/events?since=… 200 events"]);
  });
});

describe("in a web page", () => {
  test("a list closes its feed when the page is hidden for two seconds, unless it has edits to send, and opens it when the page is visible", async () => {
    const { service, network, todo } = await openService();
    const page = openPage();
    const live = todo.liveList();
    await follow(live);
    const offline = await followOffline(todo);
    network.state = 503;
    const id = await offline.add({ Name: "One" });
    page.show("hidden");
    await untilKind(live, "stopped");
    expect(kind(offline)).not.toBe("stopped");
    network.state = "up";
    offline.retry();
    await eventually(async () => expect(await service.list()).toContain(id));
    await untilKind(offline, "stopped");
    page.show("visible");
    await eventually(() => expect([live, offline].map(kind)).toEqual(["live", "live"]));
    await eventually(() => expect([live, offline].map(names)).toEqual([["One"], ["One"]]));
  });

  test("after an event offline or online, and after a write that fails, a list says at once what it has found", async () => {
    const { network, todo } = await openService();
    const page = openPage();
    const list = await followOffline(todo);
    const feeds = () => network.exchanges.filter((exchange) => exchange.endsWith("events")).length;
    // The browser is wrong, as with a service on the same machine.
    page.network("offline");
    await eventually(() => feeds() === 2 && kind(list) === "live");
    network.state = "down";
    page.network("offline");
    await untilKind(list, "lost");
    network.state = "up";
    page.network("online");
    await untilKind(list, "live");
    // The feed is still open, but the next request cannot reach the service.
    network.state = "down";
    await list.add({ Name: "One" });
    await untilKind(list, "lost");
  });
});

describe("failures", () => {
  test("while the connection is lost, the reason is visible and the items stay; afterwards they are the same objects", async () => {
    const program = await Program.start({ args: ["--store", "memory:", "--port", "0"] });
    closes.push(() => program.stop("SIGKILL"));
    const todo = new TodoClient(program.origin);
    await todo.create({ Name: "One" });
    const list = todo.liveList();
    await follow(list);
    const [one] = list.getSnapshot().items;
    const { port } = new URL(program.origin);
    await program.stop();
    await untilKind(list, "lost");
    expect(list.getSnapshot()).toMatchObject({
      items: [{ item: { Name: "One" } }],
      status: { connection: { error: { name: "NetworkError" }, retryInMs: expect.any(Number) } },
    });

    // The new process has another store, and so another epoch (the name of the store's history). From its start, the
    // store has a new item and an item with the same content as before, because the list may connect again by itself.
    const { connection } = list.getSnapshot().status;
    const folder = temporaryFolder();
    closes.push(() => folder.dispose());
    const seed = join(folder.path, "seed.json");
    writeFileSync(seed, JSON.stringify([{ ID: ids.two, Name: "Zero" }, one?.item]));
    const next = await Program.start({ args: ["--store", "memory:", "--port", port, "--seed", seed] });
    closes.push(() => next.stop("SIGKILL"));
    list.reconnect();
    await eventually(() => expect(names(list)).toEqual(["Zero", "One"]));
    await untilKind(list, "live");
    expect(list.getSnapshot().status.connection).not.toEqual(connection);
    const after = list.getSnapshot().items[1];
    expect(after?.item).toBe(one?.item as TodoItem);
    expect(after?.etag).not.toBe(one?.etag);
  });

  test("an error that waiting cannot fix is visible, and reconnect() tries again", async () => {
    const hash = await Bun.password.hash("secret", { algorithm: "bcrypt", cost: 4 });
    const auth = new BasicAuth(new Map([["ann", hash]]));
    const access = new Access({ mode: "all", auth });
    const { network } = await openService({ access });
    let password: string | undefined;
    const credentials = () => (password === undefined ? undefined : { username: "ann", password });
    let answers = Promise.resolve();
    const fetch = async (url: string, init: RequestInit) => {
      await answers;
      return network.fetch(url, init);
    };
    const list = new TodoClient("http://localhost/", { fetch, credentials }).liveList();
    closes.push(list.subscribe(() => {}));
    const status = () => list.getSnapshot().status;
    await untilKind(list, "failed");
    expect(status()).toMatchObject({ connection: { error: { status: 401 } }, needsCredentials: true });
    const held = Promise.withResolvers<void>();
    answers = held.promise;
    password = "secret";
    list.reconnect();
    await untilKind(list, "connecting");
    // Until the service has answered, what it said before still holds.
    expect(status().needsCredentials).toBe(true);
    held.resolve();
    await untilKind(list, "live");
    expect(status().needsCredentials).toBe(false);
  });

  test("a function for a token or for credentials that fails for a moment, such as without a network, is asked again", async () => {
    for (const name of ["token", "credentials"]) {
      const { network, todo } = await openService();
      let isDown = false;
      const ask = () => {
        if (isDown) throw new TypeError("the provider cannot be reached");
        return name === "token" ? "x.y.z" : undefined;
      };
      const client = new TodoClient("http://localhost/", { fetch: network.fetch, [name]: ask, retry: { limit: 0 } });
      const list = client.liveList();
      await follow(list);
      isDown = true;
      network.breakFeeds();
      const cause = { message: "the provider cannot be reached" };
      await eventually(() => expect(list.getSnapshot().status.connection).toMatchObject({ error: { cause } }));
      await expect(client.list()).rejects.toMatchObject({ name: "NetworkError", cause });
      isDown = false;
      await todo.create({ Name: "One" });
      await eventually(() => expect(names(list)).toEqual(["One"]));
    }
  });

  test("an app that connects again whenever credentials are needed does not break off its own attempts", async () => {
    let isSignedIn = false;
    const { network } = await openService();
    let attempts = 0;
    const fetch = async (url: string, init: RequestInit) => {
      if (url.includes("/delta")) attempts++;
      await Bun.sleep(5);
      init.signal?.throwIfAborted();
      return isSignedIn ? network.fetch(url, init) : new Response("", { status: 401 });
    };
    const todo = new TodoClient("http://localhost/", { fetch });
    const live = todo.liveList();
    const offline = new OfflineList(todo);
    closes.push(() => offline.close());
    closes.push(live.subscribe(() => live.getSnapshot().status.needsCredentials && live.reconnect()));
    closes.push(offline.subscribe(() => void (offline.getSnapshot().status.needsCredentials && offline.retry())));
    await eventually(() => expect(attempts).toBeGreaterThan(5));
    isSignedIn = true;
    await eventually(() => expect([live, offline].map(kind)).toEqual(["live", "live"]));
    expect([live, offline].map((list) => list.getSnapshot().status.needsCredentials)).toEqual([false, false]);
  });

  test("if a server never knows the list that it has just sent, the reason is visible, and the client pauses", async () => {
    const { network } = await openService();
    const fetch = (url: string, init: RequestInit) => network.fetch(url.replace(/since=.*/, "since=unknown-1"), init);
    const list = new TodoClient("http://localhost/", { fetch }).liveList();
    closes.push(list.subscribe(() => {}));
    await untilKind(list, "lost");
    expect(list.getSnapshot().status.connection).toHaveProperty(
      "error.message",
      expect.stringContaining("several stores"),
    );
  });

  test("watch() continues where the feed broke, and yields a snapshot if the service has forgotten what was missed", async () => {
    const { service, network } = await openService();
    let forgets = false;
    const fetch = (url: string, init: RequestInit) =>
      network.fetch(forgets ? url.replace(/since=.*/, "since=unknown-1") : url, init);
    const todo = new TodoClient("http://localhost/", { fetch });
    const states: string[] = [];
    const events = todo.watch({ onState: ({ kind }) => states.push(kind) });
    closes.push(() => events.return());
    expect((await events.next()).value).toMatchObject({ kind: "snapshot", items: [] });
    const next = events.next();
    await eventually(() => states.includes("live"));
    await service.create(item(ids.one, '"Name":"One"'));
    expect((await next).value).toMatchObject({ kind: "changed", item: { Name: "One" }, etag: expect.any(String) });
    network.breakFeeds();
    await service.create(item(ids.two, '"Name":"Two"'));
    expect((await events.next()).value).toMatchObject({ kind: "changed", id: ids.two });
    await service.fetch("DELETE", `/api/todoitems/${ids.one}`);
    const removed = (await events.next()).value;
    expect(removed).toMatchObject({ kind: "removed", id: ids.one });
    const later = todo.watch({ since: removed?.token });
    closes.push(() => later.return());
    await service.create(item(ids.three, '"Name":"Three"'));
    expect((await later.next()).value).toMatchObject({ kind: "changed", id: ids.three });
    expect((await events.next()).value).toMatchObject({ kind: "changed", id: ids.three });
    forgets = true;
    network.breakFeeds();
    expect((await events.next()).value).toMatchObject({
      kind: "snapshot",
      items: [{ id: ids.two }, { id: ids.three }],
    });
    expect(states.slice(0, 3)).toEqual(["live", "lost", "live"]);
  });

  test("behind a proxy that passes on only the list, it is polled after a few attempts, and then at once", async () => {
    const { network } = await openService();
    const fetch = (url: string, init: RequestInit) =>
      url.includes("/changes/") ? Promise.resolve(new Response("<h1>Hello</h1>")) : network.fetch(url, init);
    const list = new TodoClient("http://localhost/", { fetch }).liveList({ pollMs: 20 });
    closes.push(list.subscribe(() => {}));
    await untilKind(list, "lost");
    await untilKind(list, "polling");
    const lists = network.requests.length;
    list.reconnect();
    await eventually(() => kind(list) === "polling" && network.requests.length > lists);
  });

  test("on a server without a change feed, the list is polled, and unchanged items stay the same objects", async () => {
    const { origin, stop } = startOtherDeployment("b");
    closes.push(stop);
    const feeds: string[] = [];
    const send = (url: string, init: RequestInit) => {
      if (url.includes("/changes")) feeds.push(url);
      return fetch(url, init);
    };
    const todo = new TodoClient(origin, { fetch: send });
    await todo.create({ Name: "One" });
    const list = todo.liveList({ pollMs: 10 });
    const unsubscribe = await follow(list);
    const [one] = list.getSnapshot().items;
    await todo.create({ Name: "Two" });
    await eventually(() => expect(names(list)).toEqual(["One", "Two"]));
    // It is not asked for its feed each time.
    expect(feeds).toHaveLength(1);
    expect(list.getSnapshot().items[0]).toBe(one as WatchedItem<TodoItem>);
    unsubscribe();
    await untilKind(list, "stopped");
    await follow(list);
    await eventually(() => expect(names(list)).toEqual(["One", "Two"]));
    expect(list.getSnapshot().items[0]?.item).toBe(one?.item as TodoItem);
  });
});
