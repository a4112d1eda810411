// OfflineList: edits are safe on the device, are sent when the service can be reached, and overwrite nobody's. The
// service is the real one, in this process.

import { afterEach, describe, expect, spyOn, test } from "bun:test";
import { type ItemCodec, TodoClient, type TodoClientOptions, type TodoItem } from "../../src/client/index.ts";
import { type Conflict, OfflineList, type OfflineListOptions, type OfflineStorage } from "../../src/client/offline.ts";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { eventually } from "../eventually.ts";
import { Network } from "../page/network.ts";
import { ids, item, Service, type ServiceOptions } from "../service.ts";
import { turns } from "../turns.ts";
import { MapStorage } from "./map-storage.ts";
import { closeAll, closes, follow, kind, names, openService, untilKind } from "./opened-service.ts";
import { SharedLocks, TabLocks } from "./simulated-locks.ts";

afterEach(closeAll);

async function open(serviceOptions: ServiceOptions = {}, engine = new MemoryEngine()) {
  const { service, network } = await openService(serviceOptions, engine);
  const storage = new MapStorage();
  const connect = (more: TodoClientOptions<TodoItem> = {}) =>
    new TodoClient("http://localhost/", { fetch: network.fetch, retry: { limit: 0 }, ...more });
  const list = (more: OfflineListOptions<TodoItem> = {}, clientOptions: TodoClientOptions<TodoItem> = {}) => {
    const made = new OfflineList(connect(clientOptions), { storage, ...more });
    closes.push(() => made.close());
    return made;
  };
  const followed = async () => {
    const made = list();
    await follow(made);
    return made;
  };
  return { service, network, storage, connect, list, followed };
}

/** What a hotel's network sends before somebody has signed in. */
const page = () => new Response("<html>Welcome!</html>", { headers: { "Content-Type": "text/html" } });

/** A storage that takes its time. */
function slow(storage: MapStorage): OfflineStorage {
  return {
    getItem: (key) => Bun.sleep(5).then(() => storage.getItem(key)),
    setItem: (key, value) => Bun.sleep(5).then(() => storage.setItem(key, value)),
    removeItem: (key) => Bun.sleep(5).then(() => storage.removeItem(key)),
  };
}

/** A storage of which those writes wait for `open` in which the text contains `held`. */
function gated(storage: MapStorage, held = "") {
  const { promise: opens, resolve: open } = Promise.withResolvers<void>();
  const gate = { isClosed: false, open };
  closes.push(open);
  const wait = async (value: string) => {
    if (gate.isClosed && value.includes(held)) await opens;
  };
  return {
    gate,
    storage: {
      getItem: (key: string) => storage.getItem(key),
      setItem: (key: string, value: string) => wait(value).then(() => storage.setItem(key, value)),
      removeItem: (key: string) => wait("").then(() => storage.removeItem(key)),
    },
  };
}

const pending = (list: OfflineList<TodoItem>) => list.getSnapshot().pending;
const isSent = (list: OfflineList<TodoItem>) => eventually(() => expect(pending(list)).toEqual([]));
/** A list that can do nothing asks for nothing. */
async function expectQuiet({ requests }: Network): Promise<void> {
  const count = requests.length;
  await turns(100);
  expect(requests.length).toBe(count);
}

const rename = (name: string) => (seen: TodoItem) => ({ ...seen, Name: name });

describe("offline", () => {
  test("edits are shown at once, kept while the network is down, and sent when it is back", async () => {
    const { service, network, list, followed } = await open();
    await service.create(item(ids.one, '"Name":"One","Price":1.50'));
    const before = await followed();
    expect(names(before)).toEqual(["One"]);
    network.state = "down";
    network.breakFeeds();
    await untilKind(before, "lost");
    const id = await before.add({ Name: "Two", Done: false });
    await before.change(id, (seen) => ({ ...seen, Done: true }));
    // Edits of one item become one request.
    for (let count = 0; count < 50; count++) await before.change(ids.one, rename(`${count}`));
    await before.change(ids.one, rename("Uno"));
    expect(names(before)).toEqual(["Uno", "Two"]);
    expect(pending(before).map(({ kind }) => kind)).toEqual(["add", "change"]);
    await before.close();

    const after = list();
    await after.ready;
    expect(names(after)).toEqual(["Uno", "Two"]);
    expect(after.getSnapshot().status).toMatchObject({ kept: true, loaded: true });
    network.state = "up";
    await follow(after);
    await isSent(after);
    expect(network.requests.filter((request) => request.startsWith("PUT"))).toHaveLength(1);
    expect(await service.list()).toBe(
      `[${item(ids.one, '"Name":"Uno","Price":1.50')},${item(id, '"Name":"Two","Done":true')}]`,
    );
    await eventually(() => expect(after.getSnapshot().items.map((entry) => entry.pending)).toEqual([false, false]));
  });

  test("at the start, the kept list is never shown without the waiting edits", async () => {
    const { service, network, storage, list } = await open();
    await service.create(item(ids.one, '"Name":"One"'));
    const before = list();
    await before.sync();
    network.state = "down";
    await before.change(ids.one, rename("Uno"));
    await before.close();
    const after = list({ storage: slow(storage) });
    const shown = new Set<string>();
    closes.push(after.subscribe(() => shown.add(names(after).join())));
    await after.ready;
    expect([...shown]).toEqual(["Uno"]);
  });

  test("an edit without a subscriber is sent, too, and sync() sends and fetches once", async () => {
    const { service, list } = await open();
    const made = list();
    await made.add({ Name: "One" });
    await isSent(made);
    expect(await service.list()).toContain('"Name":"One"');
    await untilKind(made, "stopped");
    await service.create(item(ids.two, '"Name":"Two"'));
    await made.sync();
    expect(names(made)).toEqual(["One", "Two"]);
    expect(kind(made)).toBe("stopped");
  });

  test("sync() throws if the service cannot be reached, and works again afterwards", async () => {
    const { service, network, followed } = await open();
    const made = await followed();
    network.state = "down";
    await expect(made.sync()).rejects.toHaveProperty("name", "NetworkError");
    network.state = "up";
    await service.create(item(ids.one, '"Name":"One"'));
    await made.sync();
    expect(names(made)).toEqual(["One"]);
  });

  for (const [what, ms] of [
    ["after ten silent seconds", 11_000],
    ["if the clock was set back", -3_600_000],
  ] as const)
    test(`${what}, the first edit waits until it is known which store answers`, async () => {
      const { service, network, followed } = await open();
      const made = await followed();
      network.service = (await openService()).service;
      const now = spyOn(Date, "now").mockImplementation(() => performance.timeOrigin + performance.now() + ms);
      closes.push(() => now.mockRestore());
      await made.add({ Name: "One" });
      await eventually(() => expect(pending(made).map(({ state }) => state)).toEqual(["held"]));
      expect([await service.list(), await network.service.list()]).toEqual(["[]", "[]"]);
    });

  test("close() ends a sync() that is still waiting", async () => {
    const { list } = await open();
    const made = list({}, { fetch: () => new Promise(() => {}) });
    await made.ready;
    const problem = made.sync().then(
      () => "none",
      (error: Error) => error.message,
    );
    await untilKind(made, "connecting");
    await made.close();
    expect(await problem).toBe("This list is closed.");
  });

  test("an item that was added and removed again is never sent", async () => {
    const { network, list } = await open();
    network.state = "down";
    const made = list();
    const id = await made.add({ Name: "One" });
    await made.remove(id);
    expect(made.getSnapshot()).toMatchObject({ items: [], pending: [] });
  });

  for (const [kind, run] of [
    ["add", (made: OfflineList<TodoItem>) => made.add({ Name: "Two" })],
    ["change", (made: OfflineList<TodoItem>) => made.change(ids.one, rename("Two"))],
    ["remove", (made: OfflineList<TodoItem>) => made.remove(ids.one)],
  ] as const)
    test(`a lost response to a ${kind} is resolved, and the edit is applied once`, async () => {
      const { service, network, followed } = await open();
      await service.create(item(ids.one, '"Name":"One"'));
      const made = await followed();
      network.state = "lossy";
      await run(made);
      await eventually(() => network.requests.some((request) => !request.startsWith("GET")));
      network.state = "up";
      made.retry();
      await isSent(made);
      await made.sync();
      expect(names(made)).toEqual({ add: ["One", "Two"], change: ["Two"], remove: [] }[kind]);
      expect(JSON.parse(await service.list())).toHaveLength(names(made).length);
    });
});

describe("conflicts", () => {
  const change = (list: OfflineList<TodoItem>) => list.change(ids.one, rename("mine"));

  /** The user makes this edit of the item One, without a network. */
  async function openConflict(options: OfflineListOptions<TodoItem> = {}, edit = change) {
    const opened = await open();
    await opened.service.create(item(ids.one, '"Name":"One","Notes":"x"'));
    const list = opened.list(options);
    await list.sync();
    opened.network.state = "down";
    await edit(list);
    opened.network.state = "up";
    return { ...opened, list };
  }

  test("an add under a known ID does not count as stored because somebody else has created the item", async () => {
    const { service, network, followed } = await open();
    const made = await followed();
    await made.sync();
    network.state = "down";
    await made.add({ ID: ids.one, Name: "Mine" });
    // It was tried, and may have been stored.
    await untilKind(made, "lost");
    await service.create(item(ids.one, '"Name":"Theirs"'));
    network.state = "up";
    made.retry();
    await eventually(() => expect(names(made)).toEqual(["Mine"]));
    await eventually(() => expect(pending(made).map(({ state }) => state)).toEqual(["conflict"]));
  });

  test("changes of different fields are merged", async () => {
    const { service, list } = await openConflict();
    await service.send("PUT", "/api/todoitems/", item(ids.one, '"Name":"One","Notes":"theirs"'));
    list.retry();
    await isSent(list);
    expect(await service.list()).toBe(`[${item(ids.one, '"Name":"mine","Notes":"theirs"')}]`);
  });

  for (const [choice, name] of [
    ["mine", "mine"],
    ["theirs", "theirs"],
    [{ ID: ids.one, Name: "both", Notes: "x" }, "both"],
  ] as const)
    test(`two changes of one field are a conflict, until somebody decides for ${name}`, async () => {
      const { service, list } = await openConflict();
      await service.send("PUT", "/api/todoitems/", item(ids.one, '"Name":"theirs","Notes":"x"'));
      list.retry();
      await eventually(() => expect(pending(list)[0]?.state).toBe("conflict"));
      expect(pending(list)[0]?.conflict).toMatchObject({
        base: { Name: "One" },
        mine: { Name: "mine" },
        theirs: { Name: "theirs" },
      });
      await list.add({ Name: "not held back" });
      await eventually(() => expect(pending(list)).toHaveLength(1));
      await list.resolve(ids.one, choice);
      await isSent(list);
      expect(await service.list()).toContain(item(ids.one, `"Name":"${name}","Notes":"x"`));
    });

  const decide = ({ theirs }: Conflict<TodoItem>) => theirs && { ...theirs, Name: "decided" };
  for (const onConflict of [decide, async (conflict: Conflict<TodoItem>) => decide(conflict)])
    test(`onConflict decides: ${onConflict}`, async () => {
      const { service, list } = await openConflict({ onConflict });
      await service.send("PUT", "/api/todoitems/", item(ids.one, '"Name":"theirs","Notes":"y"'));
      list.retry();
      await isSent(list);
      expect(await service.list()).toBe(`[${item(ids.one, '"Name":"decided","Notes":"y"')}]`);
    });

  test("an edit function that returns a promise is refused with a sentence that says so", async () => {
    const { list } = await openConflict();
    const edit = (async (seen: TodoItem) => seen) as unknown as (seen: TodoItem) => TodoItem;
    await expect(list.change(ids.one, edit)).rejects.toThrow("not a promise");
  });

  test("an edit function that returns nothing is refused with a sentence that says so", async () => {
    const { connect, list } = await open();
    const nothing = (() => {}) as unknown as (seen: TodoItem) => TodoItem;
    const [made, todo] = [list(), connect()];
    const id = await made.add({ Name: "One" });
    await made.sync();
    for (const either of [made, todo]) await expect(either.change(id, nothing)).rejects.toThrow("is a JSON object");
  });

  test("if onConflict throws, the edit waits, and other edits are sent", async () => {
    const logged = spyOn(console, "error").mockImplementation(() => {});
    const { service, list } = await openConflict({
      onConflict: () => {
        throw new Error("a defect of the app");
      },
    });
    await service.send("PUT", "/api/todoitems/", item(ids.one, '"Name":"theirs"'));
    list.retry();
    await eventually(() => expect(pending(list)[0]?.state).toBe("conflict"));
    await list.add({ Name: "another" });
    await eventually(() => expect(pending(list)).toHaveLength(1));
    expect(logged).toHaveBeenCalledTimes(1);
    logged.mockRestore();
  });

  test("a change of what others have deleted is a conflict without `theirs`; mine creates it again", async () => {
    const { service, list } = await openConflict();
    await service.fetch("DELETE", `/api/todoitems/${ids.one}`);
    list.retry();
    await eventually(() => expect(pending(list)[0]?.state).toBe("conflict"));
    expect(pending(list)[0]?.conflict).toMatchObject({ mine: { Name: "mine" }, theirs: undefined });
    await list.resolve(ids.one, "mine");
    await isSent(list);
    expect(await service.list()).toBe(`[${item(ids.one, '"Name":"mine","Notes":"x"')}]`);
  });

  test("a removal of what others have changed is a conflict, and the item stays visible", async () => {
    const { service, list } = await openConflict({}, (made) => made.remove(ids.one));
    expect(names(list)).toEqual([]);
    await service.send("PUT", "/api/todoitems/", item(ids.one, '"Name":"theirs"'));
    list.retry();
    await eventually(() => expect(pending(list)[0]?.state).toBe("conflict"));
    expect(names(list)).toEqual(["theirs"]);
    await list.resolve(ids.one, "theirs");
    expect(pending(list)).toEqual([]);
  });

  test("a conflict follows what others do to its item, and ends if they come to want the same", async () => {
    const { service, list } = await openConflict();
    const put = (fields: string) => service.send("PUT", "/api/todoitems/", item(ids.one, fields));
    const expectConflict = (shown: object, theirs: object | undefined) =>
      eventually(() => {
        expect(pending(list)).toMatchObject([{ state: "conflict", conflict: { mine: { Name: "mine" }, theirs } }]);
        expect(list.getSnapshot().items).toMatchObject([{ item: shown }]);
      });
    await put('"Name":"theirs","Notes":"x"');
    await follow(list);
    await expectConflict({ Name: "mine", Notes: "x" }, { Name: "theirs" });
    await put('"Name":"theirs again","Notes":"y"');
    await expectConflict({ Name: "mine", Notes: "y" }, { Name: "theirs again", Notes: "y" });
    await service.fetch("DELETE", `/api/todoitems/${ids.one}`);
    await expectConflict({ Name: "mine", Notes: "y" }, undefined);
    await service.create(item(ids.one, '"Name":"back","Notes":"z"'));
    await expectConflict({ Name: "mine", Notes: "z" }, { Name: "back", Notes: "z" });
    await put('"Name":"mine","Notes":"z"');
    await isSent(list);
    expect(names(list)).toEqual(["mine"]);
  });

  test("a later edit of the item is sent as soon as others have ended the conflict", async () => {
    const { service, list } = await openConflict();
    await service.send("PUT", "/api/todoitems/", item(ids.one, '"Name":"theirs"'));
    await follow(list);
    await eventually(() => expect(pending(list)[0]?.state).toBe("conflict"));
    await list.change(ids.one, (seen) => ({ ...seen, Notes: "later" }));
    await service.send("PUT", "/api/todoitems/", item(ids.one, '"Name":"mine"'));
    await isSent(list);
    expect(await service.list()).toBe(`[${item(ids.one, '"Name":"mine","Notes":"later"')}]`);
  });

  test("if the user insists on a removal, later edits of the item are dropped, and there is no second conflict", async () => {
    const { service, network, list } = await openConflict({}, (made) => made.remove(ids.one));
    await service.send("PUT", "/api/todoitems/", item(ids.one, '"Name":"theirs"'));
    await follow(list);
    await eventually(() => expect(pending(list)[0]?.state).toBe("conflict"));
    network.state = "down";
    network.breakFeeds();
    await list.change(ids.one, rename("later"));
    await list.change(ids.one, rename("even later"));
    expect(names(list)).toEqual(["even later"]);
    expect(pending(list).map(({ state }) => state)).toEqual(["conflict", "waiting"]);
    await list.resolve(ids.one, "mine");
    expect(pending(list)).toMatchObject([{ kind: "remove", state: "waiting" }]);
    network.state = "up";
    list.retry();
    await isSent(list);
    expect(await service.list()).toBe("[]");
  });
});

describe("on a slow device", () => {
  const theirs = item(ids.one, '"Name":"One","Notes":"of somebody else"');

  for (const [what, isWaiting] of [
    ["an item", false],
    ["an item with an edit that is confirmed just then", true],
  ] as const)
    test(`what others have done to ${what} before its removal is kept counts as not seen`, async () => {
      const { service, network, storage, list } = await open();
      await service.create(item(ids.one, '"Name":"One"'));
      const { gate, ...slowly } = gated(storage);
      const made = list(slowly);
      await follow(made);
      const answers = Promise.withResolvers<void>();
      network.answersAfter = answers.promise;
      if (isWaiting) {
        await made.change(ids.one, (seen) => ({ ...seen, Done: true }));
        await eventually(() => expect(network.requests).toContain("PUT /api/todoitems/"));
      }
      gate.isClosed = true;
      answers.resolve();
      if (!isWaiting) void made.add({ Name: "Two" });
      await turns(100);
      const removing = made.remove(ids.one);
      const notes = isWaiting ? theirs.replace("{", '{"Done":true,') : theirs;
      await service.send("PUT", "/api/todoitems/", notes);
      await eventually(() => expect(made.getSnapshot().items[0]?.item).toHaveProperty("Notes"));
      gate.open();
      await removing;
      await eventually(() => expect(pending(made)).toMatchObject([{ id: ids.one, state: "conflict" }]));
      expect(await service.list()).toContain("of somebody else");
    });

  test("a call that finds nothing to do because of an earlier one is made all the same if that one fails", async () => {
    const { service, storage, list } = await open();
    await service.create(item(ids.one, '"Name":"One"'));
    // Both calls are written together, and then each alone.
    let failures = 2;
    const refusing = async (key: string, value: string) => {
      await Bun.sleep(5);
      if (key.endsWith("outbox") && --failures >= 0) throw new Error("the storage is full");
      storage.setItem(key, value);
    };
    const made = list({ storage: { ...slow(storage), setItem: refusing } });
    await follow(made);
    const [first, second] = await Promise.allSettled([made.remove(ids.one), made.remove(ids.one)]);
    expect([first.status, second.status]).toEqual(["rejected", "fulfilled"]);
    await isSent(made);
    expect(await service.list()).toBe("[]");
  });

  test("a call that finds nothing to do because of an earlier one is made all the same if that one is discarded", async () => {
    const { service, storage, list } = await open();
    await service.create(item(ids.one, '"Name":"One"'));
    const { gate, ...slowly } = gated(storage);
    const made = list(slowly);
    await follow(made);
    for (const isKept of [false, true]) {
      gate.isClosed = !isKept;
      const changing = made.change(ids.one, rename("Two"));
      if (isKept) await changing;
      await Promise.all([made.discard(ids.one), made.change(ids.one, rename("Two")), changing, gate.open()]);
      expect(names(made)).toEqual(["Two"]);
      await isSent(made);
      await made.change(ids.one, rename("One"));
      await isSent(made);
    }
  });

  test("a call that finds nothing to do takes back nothing that others do while it waits", async () => {
    const { service, storage, list } = await open();
    await service.create(item(ids.one, '"Name":"One"'));
    const { gate, ...slowly } = gated(storage);
    const made = list(slowly);
    await follow(made);
    gate.isClosed = true;
    const adding = made.add({ Name: "Two" });
    await turns(100);
    const changing = made.change(ids.one, rename("One"));
    await service.send("PUT", "/api/todoitems/", item(ids.one, '"Name":"Theirs"'));
    await eventually(() => expect(names(made)).toContain("Theirs"));
    gate.open();
    await Promise.all([adding, changing]);
    await isSent(made);
    expect(await service.list()).toContain('"Name":"Theirs"');
  });

  test("an item that the user deletes just when its add is confirmed is deleted", async () => {
    const { service, network, storage, list } = await open();
    const { gate, ...slowly } = gated(storage);
    // Without a feed, only the response can tell of the item.
    const fetch = async (url: string, init: RequestInit) => {
      const response = await network.fetch(url, init);
      return Object.defineProperty(response, "body", { value: null });
    };
    const made = list({ ...slowly, pollMs: 60_000 }, { fetch });
    await follow(made);
    const answers = Promise.withResolvers<void>();
    network.answersAfter = answers.promise;
    const id = await made.add({ Name: "One" });
    await eventually(() => expect(network.requests).toContain("POST /api/todoitems/"));
    gate.isClosed = true;
    const adding = made.add({ Name: "Two" });
    await turns(100);
    answers.resolve();
    await turns(100);
    const removing = made.remove(id);
    gate.open();
    await Promise.all([adding, removing]);
    await isSent(made);
    expect(JSON.parse(await service.list())).toMatchObject([{ Name: "Two" }]);
  });

  test("an edit is not sent to a store that has taken over before the device has noted that it may be sent", async () => {
    const { service, network, storage, list } = await open();
    await service.create(item(ids.one, '"Name":"One"'));
    const { gate, ...slowly } = gated(storage, '"sent":true');
    const made = list(slowly);
    await follow(made);
    gate.isClosed = true;
    await made.change(ids.one, rename("Uno"));
    network.service = (await openService()).service;
    await network.service.create(item(ids.one, '"Name":"One"'));
    network.breakFeeds();
    await untilKind(made, "lost");
    gate.open();
    await eventually(() => expect(pending(made).map(({ state }) => state)).toEqual(["held"]));
    expect(network.requests.filter((request) => request.startsWith("PUT"))).toEqual([]);
  });
});

describe("an edit of an item that has a waiting edit", () => {
  /** An edit of Name is refused and waits. Meanwhile somebody else has changed Done or Name, and this device shows it. */
  async function openWaiting(theirs: string) {
    const { service, followed } = await open({ requiredFields: ["Name"] });
    await service.create(item(ids.one, '"Name":"One","Done":false'));
    const made = await followed();
    await made.change(ids.one, ({ Name: _, ...rest }) => rest as TodoItem);
    await eventually(() => expect(pending(made)[0]?.state).toBe("refused"));
    await service.send("PUT", "/api/todoitems/", item(ids.one, theirs));
    return { service, made };
  }

  test("is not lost if it puts back a value that somebody else has changed", async () => {
    const { service, made } = await openWaiting('"Name":"One","Done":true');
    await eventually(() => expect(made.getSnapshot().items[0]?.item.Done).toBe(true));
    await made.change(ids.one, (seen) => ({ ...seen, Done: false }));
    expect(made.getSnapshot().items[0]?.item.Done).toBe(false);
    await made.change(ids.one, rename("Uno"));
    await isSent(made);
    expect(JSON.parse(await service.list())).toEqual([{ ID: ids.one, Name: "Uno", Done: false }]);
  });

  test("is no conflict if the user has seen what it replaces", async () => {
    const { service, made } = await openWaiting('"Name":"One","Done":true,"Notes":"v2"');
    await eventually(() => expect(made.getSnapshot().items[0]?.item.Notes).toBe("v2"));
    await made.change(ids.one, (seen) => ({ ...seen, Name: "Uno", Notes: "v3" }));
    await isSent(made);
    expect(JSON.parse(await service.list())).toEqual([{ ID: ids.one, Name: "Uno", Done: true, Notes: "v3" }]);
  });
});

describe("refusals", () => {
  test("a refused edit waits with its problem, others are sent, and a new change sends it again", async () => {
    const { service, followed } = await open({ requiredFields: ["Name"] });
    const made = await followed();
    const id = await made.add({ Notes: "no name" });
    await made.add({ Name: "Two" });
    await eventually(() => expect(pending(made).map(({ state }) => state)).toEqual(["refused"]));
    expect(pending(made)[0]?.problem).toMatchObject({ status: 400, code: "FieldRequired" });
    await made.change(id, rename("named"));
    await isSent(made);
    expect(JSON.parse(await service.list())).toHaveLength(2);
  });

  test("retry(id) sends a refused edit again as it is, and retry() does not", async () => {
    const { service, network, followed } = await open();
    await service.create(item(ids.one, '"Name":"One"'));
    const made = await followed();
    network.state = 507;
    await made.remove(ids.one);
    await eventually(() => expect(pending(made)[0]?.state).toBe("refused"));
    network.state = "up";
    made.retry();
    await made.add({ Name: "Two" });
    await eventually(() => expect(pending(made)).toHaveLength(1));
    expect(pending(made)[0]?.state).toBe("refused");
    await made.retry(ids.one);
    await isSent(made);
    expect(names(made)).toEqual(["Two"]);
    await expect(made.retry(ids.one)).rejects.toThrow(new RangeError(`No edit of the item ${ids.one} waits.`));
  });

  test("a subscriber that throws, or a strange response to any request, does not stop the sending", async () => {
    const logged = spyOn(console, "error").mockImplementation(() => {});
    closes.push(() => logged.mockRestore());
    const { service, network, list } = await open();
    await service.create(item(ids.one, '"Name":"One"'));
    let pages = 3;
    const fetch = async (url: string, init: RequestInit) => {
      const response = await network.fetch(url, init);
      return url.endsWith(ids.one) && --pages >= 0 ? page() : response;
    };
    const made = list({}, { fetch });
    closes.push(
      made.subscribe(() => {
        throw new Error("a defect of the app");
      }),
    );
    // The ID is taken, and the item arrives as a page.
    await made.add({ ID: ids.one, Name: "other" });
    await eventually(() => expect(pages).toBe(2));
    for (const name of ["Two", "Three"]) await made.add({ Name: name });
    made.retry();
    await eventually(() => expect(pending(made)[0]?.state).toBe("conflict"));
    await eventually(async () => expect(await service.list()).toMatch(/Two.*Three/));
    expect(logged).toHaveBeenCalled();
  });

  test("what somebody else answers for the service passes, such as the page of a hotel: edits are sent without retry()", async () => {
    const { service, network, list } = await open();
    let answer: (() => Response) | undefined;
    const made = list({}, { fetch: async (url, init) => answer?.() ?? network.fetch(url, init) });
    await follow(made);
    const redirect = () => new Response(null, { status: 302, headers: { Location: "http://sign-in.example/" } });
    /** What a proxy or a tunnel sends while the service behind it is replaced. */
    const unknown = () => new Response("no such service", { status: 404 });
    for (const other of [page, redirect, unknown]) {
      let answers = 0;
      answer = () => {
        answers++;
        return other();
      };
      network.breakFeeds();
      await eventually(() => expect(answers).toBeGreaterThan(1));
      await made.add({ Name: "Two" });
      answer = undefined;
      await isSent(made);
    }
    expect(JSON.parse(await service.list())).toHaveLength(3);
  });

  test("Retry-After of many days is no reason for haste", async () => {
    const { network, list } = await open();
    let posts = 0;
    const fetch = (url: string, init: RequestInit) => {
      if (init.method !== "POST") return network.fetch(url, init);
      posts++;
      return Promise.resolve(new Response(null, { status: 503, headers: { "Retry-After": "2147484" } }));
    };
    const made = list({}, { fetch });
    const feeds = () => network.exchanges.filter((exchange) => exchange.endsWith("events")).length;
    await follow(made);
    await made.add({ Name: "One" });
    await eventually(() => expect([posts, feeds()]).toEqual([1, 2]));
    await untilKind(made, "live");
    await made.sync().catch(() => {});
    expect(posts).toBe(1);
  });

  test("401 makes the edits wait for credentials, until retry()", async () => {
    const { network, list } = await open();
    const made = list();
    await made.sync();
    network.state = 401;
    await made.add({ Name: "One" });
    await eventually(() => expect(made.getSnapshot().status.needsCredentials).toBe(true));
    network.state = "up";
    made.retry();
    await isSent(made);
  });
});

test("a 401 to what was sent before retry() does not make the edits wait again", async () => {
  const { service, network, list } = await open();
  const { promise: late, resolve: answer } = Promise.withResolvers<Response>();
  let posts = 0;
  const fetch = (url: string, init: RequestInit) =>
    init.method === "POST" && ++posts === 1 ? late : network.fetch(url, init);
  const made = list({}, { fetch });
  await follow(made);
  await made.add({ Name: "One" });
  await eventually(() => expect(posts).toBe(1));
  await made.retry();
  await untilKind(made, "live");
  answer(new Response(null, { status: 401 }));
  await isSent(made);
  expect(await service.list()).toContain('"Name":"One"');
});

describe("another store", () => {
  test("edits for another store wait until sendAnyway() or discard()", async () => {
    const { network, list } = await open();
    const made = list();
    await made.sync();
    network.state = "down";
    await made.add({ Name: "One" });
    await made.add({ Name: "Two" });
    network.service = (await openService()).service;
    network.state = "up";
    await follow(made);
    made.retry();
    await eventually(() => expect(pending(made).map(({ state }) => state)).toEqual(["held", "held"]));
    await made.discard(pending(made)[0]?.id);
    await made.sendAnyway();
    await isSent(made);
    expect(await network.service.list()).toContain('"Name":"Two"');
  });

  test("if the response shows that another store answers by now, no more is sent to it", async () => {
    const { network, followed } = await open();
    const made = await followed();
    network.service = (await openService()).service;
    await Promise.all([made.add({ Name: "One" }), made.add({ Name: "Two" })]);
    await eventually(() => expect(pending(made)).toMatchObject([{ state: "held" }]));
    expect(JSON.parse(await network.service.list())).toMatchObject([{ Name: "One" }]);
  });

  test("without a subscriber, edits for another store cost no more requests, until sendAnyway() or retry()", async () => {
    const { service, network, list } = await open();
    const made = list();
    await made.sync();
    network.state = "down";
    await made.add({ Name: "One" });
    network.service = (await openService()).service;
    network.state = "up";
    await made.sync();
    expect(pending(made).map(({ state }) => state)).toEqual(["held"]);
    await expectQuiet(network);
    const other = network.service;
    await made.sendAnyway();
    await isSent(made);
    expect(await other.list()).toContain('"Name":"One"');
    // The edit was meant for the store that is back.
    network.state = "down";
    await made.add({ Name: "Two" });
    network.service = service;
    network.state = "up";
    await made.sync();
    expect(pending(made).map(({ state }) => state)).toEqual(["held"]);
    network.service = other;
    made.retry();
    await isSent(made);
    expect(await other.list()).toContain('"Name":"Two"');
  });

  test("without a subscriber, a service that was read-only may be writable at the next edit", async () => {
    const engine = new MemoryEngine();
    const { network, list } = await open({ readOnly: true }, engine);
    const made = list();
    await made.sync();
    network.state = "down";
    await made.add({ Name: "One" });
    network.state = "up";
    await made.sync();
    expect(pending(made).map(({ state }) => state)).toEqual(["waiting"]);
    await expectQuiet(network);
    network.service = await Service.on(engine);
    await made.add({ Name: "Two" });
    await isSent(made);
    expect(await network.service.list()).toContain('"Name":"One"');
  });

  test("a read-only service refuses edits at once, and those from before wait, for the store that is connected first", async () => {
    const { network, list } = await open({ readOnly: true });
    network.state = "down";
    const made = list();
    await made.add({ Name: "One" });
    network.state = "up";
    await follow(made);
    made.retry();
    await eventually(() => expect(made.getSnapshot().status.readOnly).toBe(true));
    await expect(made.add({ Name: "Two" })).rejects.toThrow("read-only");
    expect(pending(made).map(({ state }) => state)).toEqual(["waiting"]);
    network.service = (await openService()).service;
    network.breakFeeds();
    made.retry();
    await eventually(() => expect(made.getSnapshot().status.readOnly).toBe(false));
    await eventually(() => expect(pending(made).map(({ state }) => state)).toEqual(["held"]));
    expect(await network.service.list()).toBe("[]");
  });
});

test("an item with an ID that is not a UUID is a mistake of the caller, and nothing waits", async () => {
  const { list } = await open();
  const made = list();
  for (const ID of ["abc", 5]) await expect(made.add({ ID, Name: "One" } as TodoItem)).rejects.toThrow(TypeError);
  expect(made.getSnapshot()).toMatchObject({ items: [], pending: [] });
});

describe("storage", () => {
  test("an edit that the storage refuses, or that does not fit, rejects the call and changes nothing", async () => {
    const { network, storage, list } = await open();
    network.state = "down";
    const made = list();
    await made.ready;
    storage.fails = true;
    await expect(made.add({ Name: "One" })).rejects.toThrow("full");
    storage.fails = false;
    await expect(made.add({ Name: "x".repeat(1_000_000) })).rejects.toThrow(RangeError);
    expect(made.getSnapshot()).toMatchObject({ items: [], pending: [] });
  });

  test("edits that fill the storage to its limit can still be sent", async () => {
    const { service, network, storage, list } = await open();
    for (const quota of [1_000, 3_000, 10_000]) {
      const device: OfflineStorage = {
        getItem: (key) => storage.getItem(key),
        setItem(key, value) {
          if (value.length > quota) throw new Error("the storage is full");
          storage.setItem(key, value);
        },
        removeItem: (key) => storage.removeItem(key),
      };
      network.state = "down";
      const made = list({ storage: device, name: String(quota) });
      const ids: string[] = [];
      const add = async () => ids.push(await made.add({ Name: "x" }));
      while (await add().catch(() => false));
      await made.close();
      const after = list({ storage: device, name: String(quota) });
      network.state = "up";
      await after.sync();
      await isSent(after);
      const stored = await service.list();
      expect([ids.length > 0, ids.filter((id) => !stored.includes(id))]).toEqual([true, []]);
    }
  });

  test("the status says what cannot be read; such an outbox is left alone until forget(), such a copy is replaced", async () => {
    const { storage, list } = await open();
    const first = list();
    await first.add({ Name: "One" });
    await first.sync();
    await first.close();
    const keys = [...storage.values.keys()];
    expect(keys).toHaveLength(1);
    for (const key of [...keys, keys[0]?.replace("copy", "outbox") ?? ""]) {
      storage.values.clear();
      storage.values.set(key, "{");
      const made = list();
      await made.ready;
      const { kept, storageError } = made.getSnapshot().status;
      expect([kept, storageError]).toEqual([key.endsWith("copy"), expect.any(Error)]);
      await made.add({ Name: "Two" });
      await made.sync();
      expect(storage.values.get(key) === "{").toBe(key.endsWith("outbox"));
      await made.forget();
      expect([made.getSnapshot().status, storage.values.size]).toMatchObject([
        { kept: true, storageError: undefined },
        0,
      ]);
      await made.add({ Name: "Three" });
      expect([...storage.values.keys()].join()).toContain("outbox");
      await made.close();
    }
  });

  test("what the codec of a new version refuses is not read, and the list goes on", async () => {
    const { service, network, storage, list } = await open();
    const codec: ItemCodec<TodoItem> = {
      parse(json) {
        if (!json.includes("Due")) throw new TypeError("no due date");
        return JSON.parse(json) as TodoItem;
      },
      stringify: JSON.stringify,
    };
    await service.create(item(ids.one, '"Name":"One"'));
    const first = list();
    await first.sync();
    network.state = "down";
    await first.change(ids.one, (seen) => ({ ...seen, Done: true }));
    await first.close();
    const key = (name: string) => [...storage.values.keys()].find((one) => one.endsWith(name)) ?? "";
    const outbox = storage.getItem(key("outbox"));
    network.state = "up";
    await service.send("PUT", "/api/todoitems/", item(ids.one, '"Name":"One","Due":"today"'));

    const strict = list({}, { codec });
    await strict.ready;
    expect(strict.getSnapshot()).toMatchObject({
      items: [],
      status: { kept: false, storageError: { message: expect.stringContaining("outbox") } },
    });
    await strict.sync();
    expect(names(strict)).toEqual(["One"]);
    expect(storage.getItem(key("outbox"))).toBe(outbox);
    await strict.forget();
    expect(strict.getSnapshot().status).toMatchObject({ kept: true, storageError: undefined });
    await strict.sync();
    expect(names(strict)).toEqual(["One"]);
  });

  test("a list that the codec refuses in part does not take the place of the one that is shown and kept", async () => {
    const { service, network, list } = await open();
    for (const [id, name] of [
      [ids.one, "One"],
      [ids.two, "Two"],
    ] as const)
      await service.create(item(id, `"Name":"${name}"`));
    const parse = (json: string) => {
      if (json.includes("Three")) throw new TypeError("too many");
      return JSON.parse(json) as TodoItem;
    };
    const strict = () => list({}, { codec: { parse, stringify: JSON.stringify } });
    const made = strict();
    await made.sync();
    const other = await Service.on(new MemoryEngine());
    closes.push(() => other.store.close());
    for (const name of ["One", "Three", "Two"]) await other.create(`{"Name":"${name}"}`);
    network.service = other;
    await expect(made.sync()).rejects.toThrow("many");
    expect(names(made)).toEqual(["One", "Two"]);
    await made.close();
    network.state = "down";
    const after = strict();
    await after.ready;
    expect(names(after)).toEqual(["One", "Two"]);
  });

  test("the status says that the codec refuses what two people have made together, until somebody changes that", async () => {
    const { service, network, list } = await open();
    await service.create(item(ids.one, '"Name":"One"'));
    const parse = (json: string) => {
      if (json.includes("From") && json.includes("Until")) throw new TypeError("both");
      return JSON.parse(json) as TodoItem;
    };
    const made = list({}, { codec: { parse, stringify: JSON.stringify } });
    await follow(made);
    network.state = "down";
    network.breakFeeds();
    await made.change(ids.one, (seen) => ({ ...seen, From: 1 }));
    await service.send("PUT", "/api/todoitems/", item(ids.one, '"Name":"Uno","Until":1'));
    network.state = "up";
    made.retry();
    const failure = { kind: "failed", error: { message: expect.stringContaining("both") } };
    await eventually(() => expect(made.getSnapshot().status.connection).toMatchObject(failure));
    expect(made.getSnapshot()).toMatchObject({ items: [{ item: { From: 1 } }], pending: [{ kind: "change" }] });
    await made.discard(ids.one);
    await service.send("PUT", "/api/todoitems/", item(ids.one, '"Name":"Uno"'));
    made.retry();
    await eventually(() => expect([kind(made), names(made)]).toEqual(["live", ["Uno"]]));
  });

  test("the status says that the list cannot be kept, until it can, and edits are safe nevertheless", async () => {
    const { storage, list } = await open();
    const made = list();
    const keep = storage.setItem.bind(storage);
    let attempts = 0;
    storage.setItem = (key, value) => {
      if (key.endsWith("copy") && ++attempts <= 2) throw new Error(`attempt ${attempts}`);
      keep(key, value);
    };
    const shown: unknown[] = [];
    closes.push(made.subscribe(() => shown.push(made.getSnapshot().status.storageError)));
    await made.add({ Name: "One" });
    await made.sync();
    await made.sync();
    expect(made.getSnapshot().status).toMatchObject({ kept: true, storageError: new Error("attempt 2") });
    await made.sync();
    expect(made.getSnapshot().status.storageError).toBeUndefined();
    // Each error was shown, and showing it has caused no attempt of its own.
    expect([new Set(shown).size, attempts]).toEqual([3, 3]);
  });

  test("edits that are made at once are written at once, and one that fails fails alone", async () => {
    const { network, storage, list } = await open();
    const made = list();
    await made.sync();
    network.state = "down";
    let writes = 0;
    const keep = storage.setItem.bind(storage);
    storage.setItem = (key, value) => {
      if (key.endsWith("outbox")) writes++;
      keep(key, value);
    };
    const known = await made.add({ Name: "Known" });
    writes = 0;
    const edits = Array.from({ length: 100 }, (_, count) => made.add({ Name: `Item ${count}` }));
    await Promise.race(edits);
    // The edit before may be noted as sent meanwhile.
    expect(writes).toBeLessThan(4);
    expect((await Promise.all(edits)).length).toBe(100);
    expect(names(made).slice(1)).toEqual(edits.map((_, count) => `Item ${count}`));
    const results = await Promise.allSettled([
      made.remove(known),
      made.change(known, rename("Gone already")),
      made.add({ Name: "Last" }),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect([names(made).length, names(made).at(-1)]).toEqual([101, "Last"]);
    writes = 0;
    const more = Array.from({ length: 64 }, (_, count) => made.add({ Name: `More ${count}` }));
    await expect(made.change(known, rename("Gone already"))).rejects.toThrow(RangeError);
    await Promise.all(more);
    expect([names(made).length, writes < 16]).toEqual([165, true]);
  });

  test("an edit whose event comes before its response is not written off twice", async () => {
    const { network, storage, list } = await open();
    const made = list();
    await follow(made);
    network.state = "down";
    network.breakFeeds();
    await untilKind(made, "lost");
    await Promise.all(Array.from({ length: 50 }, (_, count) => made.add({ Name: `Item ${count}` })));
    let writes = 0;
    const keep = storage.setItem.bind(storage);
    storage.setItem = (key, value) => {
      if (key.endsWith("outbox")) writes++;
      keep(key, value);
    };
    network.state = "up";
    await made.sync();
    // One before each request, one after it, and one now and then for the copy of the list.
    expect(writes).toBeLessThan(105);
  });

  test("if only writing fails, an edit that waits says so, a refused one rejects, and both go on when there is room", async () => {
    const { network, storage, list } = await open();
    const made = list();
    const error = () => made.getSnapshot().status.storageError;
    await follow(made);
    // Nothing else is to be written from here on.
    await eventually(() => expect([...storage.values.keys()].join()).toContain("copy"));
    network.state = "down";
    network.breakFeeds();
    await untilKind(made, "lost");
    await made.add({ Name: "One" });
    storage.fails = true;
    await expect(made.add({ Name: "Two" })).rejects.toThrow("the storage is full");
    expect(error()).toBeUndefined();
    network.state = "up";
    await made.retry();
    await eventually(() => expect(error()).toEqual(new Error("the storage is full")));
    expect([names(made), network.requests.filter((request) => request.startsWith("POST"))]).toEqual([["One"], []]);
    storage.fails = false;
    await made.retry();
    await isSent(made);
    await eventually(() => expect(error()).toBeUndefined());
  });

  test("a list that changes all the time is kept every ten seconds", async () => {
    const { service, storage, followed } = await open();
    await service.create(item(ids.one, '"Name":"0"'));
    const made = await followed();
    const { now } = Date;
    let skippedMs = 0;
    const clock = spyOn(Date, "now").mockImplementation(() => now() + skippedMs);
    closes.push(() => clock.mockRestore());
    const copy = () => [...storage.values].find(([key]) => key.endsWith("/copy"))?.[1] ?? "";
    for (let count = 1; !copy().includes('\\"Name'); count++) {
      expect(count).toBeLessThan(5);
      skippedMs += 4_000;
      await service.send("PUT", "/api/todoitems/", item(ids.one, `"Name":"${count}"`));
      await eventually(() => expect(names(made)).toEqual([`${count}`]));
      await turns(100);
    }
  });

  test("a list that is made again while the earlier one is being closed waits for it", async () => {
    const { network, storage, list } = await open();
    network.state = "down";
    const device = { ...slow(storage), getItem: (key: string) => storage.getItem(key) };
    const [confirmed, calls]: [string[], Promise<unknown>[]] = [[], []];
    for (let count = 0; count < 3; count++) {
      const made = list({ storage: device });
      await made.ready;
      for (const name of [`${count} a`, `${count} b`])
        calls.push(made.add({ Name: name }).then(() => confirmed.push(name)));
      await new Promise((resolve) => void setTimeout(resolve));
      calls.push(made.close());
    }
    await Promise.all(calls);
    const last = list({ storage: device });
    await last.ready;
    expect([confirmed.length, names(last)]).toEqual([6, confirmed]);
  });

  test("an edit that is confirmed by a list that is closed while it opens is kept, at whatever moment", async () => {
    const { network, storage, list } = await open();
    network.state = "down";
    for (let count = 0; count < 40; count++) {
      const locks = count < 20 ? undefined : new TabLocks(new SharedLocks());
      const made = list({ name: `${count}`, locks });
      void made.ready;
      for (let turn = 0; turn < count % 20; turn++) await undefined;
      const isConfirmed = made.add({ Name: `Item ${count}` }).then(
        () => true,
        () => false,
      );
      await made.close();
      expect([...storage.values].join().includes(`Item ${count}`)).toBe(await isConfirmed);
    }
  });

  test("lists of two names never meet, and forget() deletes what is kept", async () => {
    const { network, storage, list } = await open();
    network.state = "down";
    const [ann, bob] = [list({ name: "ann" }), list({ name: "bob" })];
    await ann.add({ Name: "hers" });
    await bob.ready;
    expect(names(bob)).toEqual([]);
    await ann.forget();
    expect([names(ann), storage.values.size]).toEqual([[], 0]);
  });

  test("forget() and discard() also drop an edit that was made just before, whether or not the list was ready", async () => {
    const { network, storage, list } = await open();
    network.state = "down";
    for (const drop of ["forget", "discard"] as const)
      for (const isReady of [false, true]) {
        const made = list({ storage: isReady ? storage : slow(storage), name: `${drop} ${isReady}` });
        if (isReady) await made.ready;
        const id = ids.one;
        await Promise.all([made.add({ ID: id, Name: "One" }), made.change(id, rename("Uno")), made[drop]()]);
        expect([names(made), storage.values.size]).toEqual([[], 0]);
      }
  });

  test("what is added after a call of forget() stays, also if the device is so slow that it could come before", async () => {
    const { network, storage, list } = await open();
    network.state = "down";
    const made = list({ storage: slow(storage) });
    await made.ready;
    const first = made.add({ Name: "One" });
    await turns(3);
    await Promise.all([first, made.add({ Name: "Two" }), made.forget(), made.add({ Name: "Three" })]);
    expect([names(made), [...storage.values.values()].join().match(/One|Two|Three/g)]).toEqual([["Three"], ["Three"]]);
  });

  test("a name is required if the credentials are a function, or there is a token", async () => {
    const { connect } = await open();
    for (const client of [connect({ credentials: () => undefined }), connect({ token: () => "x.y.z" })]) {
      expect(() => new OfflineList(client)).toThrow(TypeError);
      expect(new OfflineList(client, { name: "ann" }).getSnapshot().items).toEqual([]);
    }
  });
});

test("on a server whose errors have no codes, a change of what others have deleted is a conflict", async () => {
  const { service, network, list } = await open();
  await service.create(item(ids.one, '"Name":"One"'));
  const fetch = async (url: string, init: RequestInit) => {
    if (url.includes("/changes/")) return new Response("", { status: 404 });
    const response = await network.fetch(url, init);
    return new Response(response.ok ? await response.text() : "", { status: response.status });
  };
  const made = list({ pollMs: 60_000 }, { fetch });
  await follow(made);
  await service.send("DELETE", `/api/todoitems/${ids.one}`, "");
  await made.change(ids.one, rename("Uno"));
  await eventually(() => expect(pending(made)).toMatchObject([{ state: "conflict" }]));
});

test("behind a proxy that holds back the change feed, edits are sent and the list is polled", async () => {
  const { service, network, list } = await open();
  const wait = globalThis.setTimeout;
  const impatient = spyOn(globalThis, "setTimeout").mockImplementation(((work: () => void, ms = 0, ...args: []) =>
    wait(work, ms > 1_000 ? 10 : ms, ...args)) as typeof setTimeout);
  closes.push(() => impatient.mockRestore());
  const fetch = async (url: string, init: RequestInit) =>
    url.includes("/changes/events") ? new Promise<Response>(() => {}) : network.fetch(url, init);
  const made = list({}, { fetch });
  await made.add({ Name: "One" });
  await isSent(made);
  expect(await service.list()).toContain('"Name":"One"');
  await follow(made);
  await service.send("POST", "/api/todoitems/", item(ids.two, '"Name":"Two"'));
  await eventually(() => expect(names(made)).toEqual(["One", "Two"]));
  expect(made.getSnapshot().status.connection.kind).toBe("polling");
});

test("with a server that has no feed, the page of a hotel's network passes, too: the list is polled again", async () => {
  const { network, list } = await open();
  let hotel = false;
  const fetch = async (url: string, init: RequestInit) => {
    if (hotel) return page();
    if (url.includes("/changes/")) return new Response(null, { status: 404 });
    const { body, headers, status } = await network.fetch(url, init);
    headers.delete("ETag");
    return new Response(body, { headers, status });
  };
  const made = list({ pollMs: 10 }, { fetch });
  await follow(made);
  hotel = true;
  await untilKind(made, "lost");
  hotel = false;
  await untilKind(made, "polling");
});

test("a token that never comes holds up the edits only for a while", async () => {
  const { service, list } = await open();
  let hangs = false;
  const token = () => (hangs ? new Promise<string>(() => {}) : "token");
  const made = list({ name: "somebody" }, { token, timeoutMs: 50 });
  await follow(made);
  hangs = true;
  await made.add({ Name: "One" });
  await untilKind(made, "lost");
  hangs = false;
  await isSent(made);
  expect(JSON.parse(await service.list())).toHaveLength(1);
});

test("behind a proxy that refuses the change feed, edits are sent and the list is polled", async () => {
  for (const status of [403, 429, 504]) {
    const { service, network, list } = await open();
    let feeds = 0;
    const fetch = async (url: string, init: RequestInit) => {
      if (!url.includes("/changes/events")) return network.fetch(url, init);
      feeds++;
      return new Response(null, { status });
    };
    const made = list({}, { fetch });
    await made.add({ Name: "One" });
    await isSent(made);
    expect(await service.list()).toContain('"Name":"One"');
    await follow(made);
    expect(kind(made)).toBe("polling");
    expect(feeds).toBe(2);
  }
});

test("if the browser blocks the change feed, or it breaks off at once, edits are sent and the list is polled", async () => {
  const broken = () =>
    new Response(new ReadableStream({ start: (controller) => controller.error(new TypeError("reset")) }), {
      headers: { "Content-Type": "text/event-stream" },
    });
  for (const refuse of [() => Promise.reject(new TypeError("Failed to fetch")), async () => broken()]) {
    const { service, network, list } = await open();
    let isBlocked = true;
    const fetch = (url: string, init: RequestInit) =>
      url.includes("/changes/events") && isBlocked ? refuse() : network.fetch(url, init);
    const made = list({ pollMs: 10 }, { fetch });
    await made.add({ Name: "One" });
    await isSent(made);
    expect(await service.list()).toContain('"Name":"One"');
    await follow(made);
    expect(kind(made)).toBe("polling");
    isBlocked = false;
    await untilKind(made, "live");
  }
});

test("if a server does not say what the item is now, it is fetched before the edit is compared with it", async () => {
  const { service, network, list } = await open();
  await service.create(item(ids.one, '"Name":"One"'));
  const fetch = async (url: string, init: RequestInit) => {
    const response = await network.fetch(url, init);
    return response.status === 412 ? new Response("", { status: 412 }) : response;
  };
  const made = list({}, { fetch });
  await made.sync();
  await service.send("PUT", "/api/todoitems/", item(ids.one, '"Name":"One","Notes":"of somebody else"'));
  network.state = "down";
  await made.change(ids.one, rename("Uno"));
  network.state = "up";
  await isSent(made);
  expect(await service.list()).toBe(`[${item(ids.one, '"Name":"Uno","Notes":"of somebody else"')}]`);
});

test("behind a proxy that drops the ETag of what it compresses, nobody's change is overwritten", async () => {
  const { service, network, list } = await open();
  await service.create(item(ids.one, '"Name":"One"'));
  const write = (rest: string) => service.send("PUT", "/api/todoitems/", item(ids.one, rest));
  const matches: (string | null)[] = [];
  const fetch = async (url: string, init: RequestInit) => {
    if (init.method === "PUT") {
      matches.push(new Headers(init.headers).get("If-Match"));
      await write(matches.length === 1 ? '"Name":"One","Notes":"x"' : '"Name":"of somebody else","Notes":"x"');
    }
    const { body, status, headers } = await network.fetch(url, init);
    if (status === 412) headers.delete("ETag");
    return new Response(body, { status, headers });
  };
  const made = list({}, { fetch });
  await follow(made);
  await made.change(ids.one, rename("Uno"));
  await eventually(() => expect(pending(made).map(({ state }) => state)).toEqual(["conflict"]));
  expect(matches).not.toContain(null);
  expect(await service.list()).toContain('"Name":"of somebody else"');
});

test("a server that refuses the very ETag that it names is not asked again and again, and other edits are sent", async () => {
  const { service, network, list } = await open();
  await service.create(item(ids.one, '"Name":"One"'));
  let puts = 0;
  const fetch = async (url: string, init: RequestInit) => {
    if (init.method !== "PUT") return network.fetch(url, init);
    if (++puts > 20) throw new Error("too many requests");
    const current = item(ids.one, '"Name":"One","Notes":"of somebody else"');
    return new Response(`{"current":${current},"detail":"The ETag is weak."}`, {
      status: 412,
      headers: { ETag: 'W/"2"' },
    });
  };
  const made = list({}, { fetch });
  await follow(made);
  await made.change(ids.one, rename("Uno"));
  await made.add({ Name: "Two" });
  await eventually(() => expect(pending(made).map(({ state }) => state)).toEqual(["refused"]));
  expect(pending(made)[0]?.problem?.detail).toBe("The ETag is weak.");
  expect(puts).toBe(2);
  expect(await service.list()).toContain('"Name":"Two"');
});

test("without a change feed, an item that others remove just after it was added is not shown for ever", async () => {
  const { service, network, list } = await open();
  const fetch = async (url: string, init: RequestInit) => {
    if (url.includes("/changes/")) return new Response("", { status: 404 });
    const response = await network.fetch(url, init);
    const text = await response.text();
    if (init.method === "POST")
      for (const { ID } of JSON.parse(await service.list())) await service.send("DELETE", `/api/todoitems/${ID}`, "");
    return new Response(text, { status: response.status });
  };
  // Only the request after the edit can show it.
  const made = list({ pollMs: 60_000 }, { fetch });
  await follow(made);
  await made.add({ Name: "One" });
  await isSent(made);
  await eventually(() => expect(names(made)).toEqual([]));
});

test("a subscriber never sees a stored edit undone, if its response comes before the change feed tells of it", async () => {
  const { network, list } = await open();
  const slow = async (url: string, init: RequestInit) => {
    const response = await network.fetch(url, init);
    if (!url.includes("/changes/events")) return response;
    const late = new TransformStream<Uint8Array, Uint8Array>({
      async transform(chunk, controller) {
        await Bun.sleep(50);
        controller.enqueue(chunk);
      },
    });
    return new Response(response.body?.pipeThrough(late), response);
  };
  const made = list({}, { fetch: slow });
  const seen: string[] = [];
  closes.push(made.subscribe(() => seen.push(JSON.stringify(names(made)))));
  await untilKind(made, "live");
  const id = await made.add({ Name: "One" });
  await isSent(made);
  await made.change(id, rename("Uno"));
  await isSent(made);
  await made.remove(id);
  await isSent(made);
  await eventually(() => expect(seen.at(-1)).toBe("[]"));
  expect(seen.filter((shown, index) => shown !== seen[index - 1])).toEqual(["[]", '["One"]', '["Uno"]', "[]"]);
});

describe("several instances", () => {
  test("a list that is closed while it opens lets go of the device, at whatever moment", async () => {
    const { storage, list } = await open();
    const shared = new SharedLocks();
    for (let count = 0; count < 12; count++) {
      const tab = { locks: new TabLocks(shared), storage: slow(storage) };
      const first = list(tab);
      first.subscribe(() => {});
      await Bun.sleep(count);
      void first.close();
      const again = list(tab);
      await again.ready;
      await eventually(() => expect(again.getSnapshot().status.kept).toBe(true));
      await again.close();
      const other = list({ locks: new TabLocks(shared), storage: new MapStorage(storage.values) });
      await other.ready;
      await eventually(() => expect(other.getSnapshot().status.kept).toBe(true));
      await other.close();
    }
  });

  test("a change that arrives while a list takes over what another tab has left does not hide earlier ones", async () => {
    const { service, network, storage, list } = await open();
    const [shared, lost] = [new SharedLocks(), new Network(service)];
    const tab = new TabLocks(shared);
    const first = list({ locks: tab }, { fetch: lost.fetch });
    await first.sync();
    lost.state = "down";
    const id = await first.add({ Name: "of the first" });
    // Its edit was sent and stored, and there was no response.
    for (const [key, value] of storage.values) storage.values.set(key, value.replace('"sent":false', '"sent":true'));
    await service.create(item(id, '"Name":"of the first"'));

    const gate = Promise.withResolvers<void>();
    const device: OfflineStorage = {
      getItem: (key) => storage.getItem(key),
      async setItem(key, value) {
        if (key.endsWith("outbox")) await gate.promise;
        storage.setItem(key, value);
      },
      removeItem: (key) => storage.removeItem(key),
    };
    await service.create(item(ids.one, '"Name":"One"'));
    const second = list({ locks: new TabLocks(shared), storage: device });
    await follow(second);
    network.answersAfter = gate.promise;
    await second.add({ Name: "of the second" });
    tab.crash();
    await service.create(item(ids.two, '"Name":"Two"'));
    await eventually(() => expect(names(second)).toContain("Two"));
    gate.resolve();
    await isSent(second);
    await eventually(() => expect(names(second).sort()).toEqual(["One", "Two", "of the first", "of the second"]));
  });

  test("an item that was added in one tab and deleted elsewhere does not come back, although another tab has seen that", async () => {
    const { service, storage, list } = await open();
    const shared = new SharedLocks();
    const first = list({ locks: new TabLocks(shared) });
    await follow(first);
    const network = new Network(service);
    const second = list(
      { locks: new TabLocks(shared), storage: new MapStorage(storage.values) },
      { fetch: network.fetch },
    );
    await follow(second);
    network.state = "lossy";
    network.breakFeeds();
    const id = await second.add({ Name: "Two" });
    await eventually(() => expect(network.requests).toContain("POST /api/todoitems/"));
    network.state = "down";
    await service.fetch("DELETE", `/api/todoitems/${id}`);
    await eventually(() => expect(first.getSnapshot().items).toEqual([]));
    await first.close();
    await eventually(() => expect(second.getSnapshot().status.kept).toBe(true));
    // The app is killed.
    const third = list({ storage: new MapStorage(new Map(storage.values)) });
    await third.sync();
    expect([pending(third), await service.list()]).toEqual([[], "[]"]);
  });

  test("a removal in another tab does not hide a refused change that it did not see", async () => {
    const { service, network, storage, list } = await open({ requiredFields: ["Name"] });
    await service.create(item(ids.one, '"Name":"One"'));
    const shared = new SharedLocks();
    const first = list({ locks: new TabLocks(shared) });
    await first.sync();
    const second = list({ locks: new TabLocks(shared), storage: new MapStorage(storage.values) });
    await follow(second);
    network.state = "down";
    network.breakFeeds();
    await untilKind(second, "lost");
    await first.change(ids.one, () => ({ ID: ids.one, Notes: "long" }) as TodoItem);
    await second.remove(ids.one);
    await first.close();
    await eventually(() => expect(second.getSnapshot().status.kept).toBe(true));
    network.state = "up";
    second.retry();
    await eventually(() => expect(pending(second)[0]?.state).toBe("refused"));
    expect(pending(second).map(({ kind }) => kind)).toEqual(["change", "remove"]);
    expect(await service.list()).toContain("One");
  });

  test("of two tabs, one keeps; the edits of the other wait in memory, and are kept when it takes over", async () => {
    const { service, network, storage, list } = await open();
    const shared = new SharedLocks();
    const first = list({ locks: new TabLocks(shared) });
    await first.ready;
    const second = list({ locks: new TabLocks(shared), storage: new MapStorage(storage.values) });
    await follow(second);
    await second.ready;
    expect([first, second].map((tab) => tab.getSnapshot().status.kept)).toEqual([true, false]);
    await expect(second.forget()).rejects.toThrow("keeps nothing");
    const id = await second.add({ Name: "One" });
    await isSent(second);
    expect(await service.list()).toContain("One");
    network.state = "down";
    await first.add({ Name: "of the first" });
    await second.change(id, rename("Uno"));
    expect(names(second)).toEqual(["Uno"]);
    await first.close();
    await eventually(() => expect(second.getSnapshot().status.kept).toBe(true));
    expect(pending(second).map(({ kind }) => kind)).toEqual(["add", "change"]);
    expect([...storage.values].join()).toContain("Uno");
    network.state = "up";
    second.retry();
    await isSent(second);
    expect(names(second)).toEqual(["Uno", "of the first"]);
  });

  const forbidden = new Error("the browser forbids storage");
  const refuse = () => {
    throw forbidden;
  };
  for (const [where, options] of [
    ["without storage", { storage: undefined }],
    ["if the browser forbids storage", { storage: refuse }],
    ["in a page without locks", { locks: null }],
  ] as const)
    test(`${where}, no instance keeps, edits wait in memory, and all calls work as documented`, async () => {
      const { service, network, list } = await open();
      network.state = "down";
      const made = list(options);
      const id = await made.add({ Name: "One" });
      await made.change(id, rename("Uno"));
      expect(made.getSnapshot()).toMatchObject({
        items: [{ item: { Name: "Uno" } }],
        pending: [{ kind: "add" }],
        status: { kept: false, storageError: where.includes("forbids") ? forbidden : undefined },
      });
      await expect(made.change(ids.two, rename("x"))).rejects.toThrow(RangeError);
      await made.remove(ids.two);
      network.state = "up";
      made.retry();
      await isSent(made);
      expect(await service.list()).toContain("Uno");
    });

  test("instances with one storage and name share one engine, also those of two copies of the package", async () => {
    const { network, storage, connect, list } = await open();
    network.state = "down";
    const copy: typeof import("../../src/client/offline.ts") = await import(
      "../../src/client/offline/offline-list.ts?copy" as string
    );
    expect(copy.OfflineList).not.toBe(OfflineList);
    const [one, same, other] = [list(), list(), new copy.OfflineList(connect(), { storage })];
    closes.push(() => other.close());
    await Promise.all([one, same, other].map((made) => made.add({ Name: "One" })));
    for (const made of [same, other]) expect(made.getSnapshot()).toBe(one.getSnapshot());
    await one.close();
    expect(names(other)).toEqual(["One", "One", "One"]);
  });
});
