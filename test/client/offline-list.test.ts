// OfflineList: edits are safe on the device, are sent when the service can be reached, and overwrite nobody's. The
// service is the real one, in this process.

import { afterEach, describe, expect, spyOn, test } from "bun:test";
import { TodoClient, type TodoClientOptions, type TodoItem } from "../../src/client/index.ts";
import { OfflineList, type OfflineListOptions, type OfflineStorage } from "../../src/client/offline.ts";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { eventually } from "../eventually.ts";
import { Network } from "../page/network.ts";
import { ids, item, Service, type ServiceOptions } from "../service.ts";
import { startOtherDeployment } from "./other-deployment.ts";
import { SharedLocks, TabLocks } from "./simulated-locks.ts";

const closes: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closes.splice(0).reverse()) await close();
});

class MapStorage implements OfflineStorage {
  readonly values: Map<string, string>;
  fails = false;

  constructor(values = new Map<string, string>()) {
    this.values = values;
  }

  getItem(key: string): string | null {
    return this.values.get(key) ?? null;
  }

  setItem(key: string, value: string): void {
    if (this.fails) throw new Error("the storage is full");
    this.values.set(key, value);
  }

  removeItem(key: string): void {
    this.values.delete(key);
  }
}

async function open(options: ServiceOptions = {}) {
  const service = await Service.on(new MemoryEngine(), options);
  closes.push(() => service.collection.close());
  const network = new Network(service);
  const storage = new MapStorage();
  const connect = (more: TodoClientOptions<TodoItem> = {}) =>
    new TodoClient("http://localhost/", { fetch: network.fetch, retry: { limit: 0 }, ...more });
  const list = (more: OfflineListOptions<TodoItem> = {}) => {
    const made = new OfflineList(connect(), { storage, ...more });
    closes.push(() => made.close());
    return made;
  };
  return { service, network, storage, connect, list };
}

/** A list that is connected to a read-only service for the first time, with an edit from before. */
async function openReadOnly() {
  const { network, list } = await open({ readOnly: true });
  network.state = "down";
  const made = list();
  await made.add({ Name: "One" });
  network.state = "up";
  follow(made);
  made.retry();
  await eventually(() => expect(made.getSnapshot().status.readOnly).toBe(true));
  return { network, made };
}

/** Subscribes until the end of the test. */
function follow(list: OfflineList<TodoItem>): void {
  closes.push(list.subscribe(() => {}));
}

const names = (list: OfflineList<TodoItem>) => list.getSnapshot().items.map((entry) => entry.item.Name);
const pending = (list: OfflineList<TodoItem>) => list.getSnapshot().pending;
const isSent = (list: OfflineList<TodoItem>) => eventually(() => expect(pending(list)).toEqual([]));
const rename = (name: string) => (seen: TodoItem) => ({ ...seen, Name: name });

describe("offline", () => {
  test("edits are shown at once, kept while the network is down, and sent when it is back", async () => {
    const { service, network, list } = await open();
    await service.create(item(ids.one, '"Name":"One","Price":1.50'));
    const before = list();
    follow(before);
    await eventually(() => expect(names(before)).toEqual(["One"]));
    network.state = "down";
    network.breakFeeds();
    await eventually(() => expect(before.getSnapshot().status.connection.kind).toBe("lost"));
    const id = await before.add({ Name: "Two", Done: false });
    await before.change(id, (seen) => ({ ...seen, Done: true }));
    await before.change(ids.one, rename("Uno"));
    expect(names(before)).toEqual(["Uno", "Two"]);
    expect(pending(before).map(({ kind }) => kind)).toEqual(["add", "change"]);
    await before.close();

    const after = list();
    await after.ready;
    expect(names(after)).toEqual(["Uno", "Two"]);
    expect(after.getSnapshot().status).toMatchObject({ kept: true, loaded: true });
    network.state = "up";
    follow(after);
    await isSent(after);
    expect(await service.list()).toBe(
      `[${item(ids.one, '"Name":"Uno","Price":1.50')},${item(id, '"Name":"Two","Done":true')}]`,
    );
    await eventually(() => expect(after.getSnapshot().items.map((entry) => entry.pending)).toEqual([false, false]));
  });

  test("an edit without a subscriber is sent, too, and sync() sends and fetches once", async () => {
    const { service, list } = await open();
    const made = list();
    await made.add({ Name: "One" });
    await isSent(made);
    expect(await service.list()).toContain('"Name":"One"');
    await eventually(() => expect(made.getSnapshot().status.connection.kind).toBe("stopped"));
    await service.create(item(ids.two, '"Name":"Two"'));
    await made.sync();
    expect(names(made)).toEqual(["One", "Two"]);
    expect(made.getSnapshot().status.connection.kind).toBe("stopped");
  });

  test("sync() throws if the service cannot be reached, and works again afterwards", async () => {
    const { service, network, list } = await open();
    const made = list();
    follow(made);
    await eventually(() => expect(made.getSnapshot().status.connection.kind).toBe("live"));
    network.state = "down";
    await expect(made.sync()).rejects.toHaveProperty("name", "NetworkError");
    network.state = "up";
    await service.create(item(ids.one, '"Name":"One"'));
    await made.sync();
    expect(names(made)).toEqual(["One"]);
  });

  test("close() ends a sync() that is still waiting", async () => {
    const { connect } = await open();
    const made = new OfflineList(connect({ fetch: () => new Promise(() => {}) }));
    await made.ready;
    const problem = made.sync().then(
      () => "none",
      (error: Error) => error.message,
    );
    await eventually(() => expect(made.getSnapshot().status.connection.kind).toBe("connecting"));
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
      const { service, network, list } = await open();
      await service.create(item(ids.one, '"Name":"One"'));
      const made = list();
      follow(made);
      await eventually(() => expect(made.getSnapshot().status.connection.kind).toBe("live"));
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
  async function openConflict(options: OfflineListOptions<TodoItem> = {}) {
    const opened = await open();
    await opened.service.create(item(ids.one, '"Name":"One","Notes":"x"'));
    const list = opened.list(options);
    await list.sync();
    opened.network.state = "down";
    await list.change(ids.one, rename("mine"));
    opened.network.state = "up";
    return { ...opened, list };
  }

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

  test("onConflict decides at once", async () => {
    const { service, list } = await openConflict({
      onConflict: ({ theirs }) => theirs && { ...theirs, Name: "decided" },
    });
    await service.send("PUT", "/api/todoitems/", item(ids.one, '"Name":"theirs","Notes":"y"'));
    list.retry();
    await isSent(list);
    expect(await service.list()).toBe(`[${item(ids.one, '"Name":"decided","Notes":"y"')}]`);
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
    const { service, network, list } = await open();
    await service.create(item(ids.one, '"Name":"One"'));
    const made = list();
    await made.sync();
    network.state = "down";
    await made.remove(ids.one);
    expect(names(made)).toEqual([]);
    await service.send("PUT", "/api/todoitems/", item(ids.one, '"Name":"theirs"'));
    network.state = "up";
    made.retry();
    await eventually(() => expect(pending(made)[0]?.state).toBe("conflict"));
    expect(names(made)).toEqual(["theirs"]);
    await made.resolve(ids.one, "theirs");
    expect(pending(made)).toEqual([]);
  });
});

describe("an edit of an item that has a waiting edit", () => {
  /** An edit of Name is refused and waits. Meanwhile somebody else has changed Done or Name, and this device shows it. */
  async function openWaiting(theirs: string) {
    const { service, list } = await open({ requiredFields: ["Name"] });
    await service.create(item(ids.one, '"Name":"One","Done":false'));
    const made = list();
    follow(made);
    await eventually(() => expect(names(made)).toEqual(["One"]));
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

  test("is merged into it: 50 edits are one request", async () => {
    const { network, list, service } = await open();
    await service.create(item(ids.one, '"Name":"One"'));
    const made = list();
    await made.sync();
    network.state = "down";
    for (let count = 1; count <= 50; count++) await made.change(ids.one, rename(`${count}`));
    expect(pending(made)).toHaveLength(1);
    network.state = "up";
    made.retry();
    await isSent(made);
    expect(network.requests.filter((request) => request.startsWith("PUT"))).toHaveLength(1);
  });
});

describe("refusals", () => {
  test("a refused edit waits with its problem, others are sent, and a new change sends it again", async () => {
    const { service, list } = await open({ requiredFields: ["Name"] });
    const made = list();
    follow(made);
    const id = await made.add({ Notes: "no name" });
    await made.add({ Name: "Two" });
    await eventually(() => expect(pending(made).map(({ state }) => state)).toEqual(["refused"]));
    expect(pending(made)[0]?.problem).toMatchObject({ status: 400, code: "FieldRequired" });
    await made.change(id, rename("named"));
    await isSent(made);
    expect(JSON.parse(await service.list())).toHaveLength(2);
  });

  test("a read-only service refuses edits at once, and those from before wait", async () => {
    const { made } = await openReadOnly();
    await expect(made.add({ Name: "Two" })).rejects.toThrow("read-only");
    expect(pending(made).map(({ state }) => state)).toEqual(["waiting"]);
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

describe("another store", () => {
  test("edits for another store wait until sendAnyway() or discard()", async () => {
    const { network, list } = await open();
    const made = list();
    await made.sync();
    network.state = "down";
    await made.add({ Name: "One" });
    await made.add({ Name: "Two" });
    network.service = await Service.on(new MemoryEngine());
    network.state = "up";
    follow(made);
    made.retry();
    await eventually(() => expect(pending(made).map(({ state }) => state)).toEqual(["held", "held"]));
    await made.discard(pending(made)[0]?.id);
    await made.sendAnyway();
    await isSent(made);
    expect(await network.service.list()).toContain('"Name":"Two"');
    await network.service.collection.close();
  });

  test("an edit from before the first connection is for the store that is connected first", async () => {
    const { network, made } = await openReadOnly();
    expect(pending(made).map(({ state }) => state)).toEqual(["waiting"]);
    network.service = await Service.on(new MemoryEngine());
    network.breakFeeds();
    made.retry();
    await eventually(() => expect(made.getSnapshot().status.readOnly).toBe(false));
    await eventually(() => expect(pending(made).map(({ state }) => state)).toEqual(["held"]));
    expect(await network.service.list()).toBe("[]");
    await network.service.collection.close();
  });
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

  test("a value that cannot be read is left alone, and the status says so", async () => {
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
      await made.close();
      expect(storage.values.get(key)).toBe("{");
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

  test("a name is required if the credentials are a function", async () => {
    const { connect } = await open();
    const client = connect({ credentials: () => undefined });
    expect(() => new OfflineList(client)).toThrow(TypeError);
    expect(new OfflineList(client, { name: "ann" }).getSnapshot().items).toEqual([]);
  });

  test("without storage, edits wait in memory and nothing is kept", async () => {
    const { service, network, connect } = await open();
    network.state = "down";
    const made = new OfflineList(connect());
    closes.push(() => made.close());
    await made.add({ Name: "One" });
    expect(made.getSnapshot()).toMatchObject({ status: { kept: false }, pending: [{ kind: "add" }] });
    network.state = "up";
    made.retry();
    await isSent(made);
    expect(await service.list()).toContain("One");
  });
});

test("a subscriber never sees a stored edit undone, if its response comes before the change feed tells of it", async () => {
  const { network, connect } = await open();
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
  const made = new OfflineList(connect({ fetch: slow }), {});
  closes.push(() => made.close());
  const seen: string[] = [];
  closes.push(made.subscribe(() => seen.push(JSON.stringify(names(made)))));
  await eventually(() => expect(made.getSnapshot().status.connection.kind).toBe("live"));
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
  test("instances with one storage and name share one engine", async () => {
    const { network, list } = await open();
    network.state = "down";
    const [one, other] = [list(), list()];
    await one.add({ Name: "One" });
    await other.ready;
    expect(other.getSnapshot()).toBe(one.getSnapshot());
    await one.close();
    expect(names(other)).toEqual(["One"]);
  });

  test("of two tabs, one keeps; the edits of the other wait in memory, and are kept when it takes over", async () => {
    const { service, network, storage, list } = await open();
    const shared = new SharedLocks();
    const first = list({ locks: new TabLocks(shared) });
    await first.ready;
    const second = list({ locks: new TabLocks(shared), storage: new MapStorage(storage.values) });
    follow(second);
    await second.ready;
    expect([first, second].map((tab) => tab.getSnapshot().status.kept)).toEqual([true, false]);
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

  test("in a page without locks, no instance keeps", async () => {
    const { list } = await open();
    const made = list({ locks: null });
    await made.add({ Name: "One" });
    expect(made.getSnapshot().status.kept).toBe(false);
  });
});

test("a server without a change feed and ETags: whole lists, unconditional writes", async () => {
  const { origin, stop } = startOtherDeployment("b");
  closes.push(stop);
  const client = new TodoClient(origin);
  const made = new OfflineList(client, { pollMs: 20 });
  closes.push(() => made.close());
  follow(made);
  const id = await made.add({ Name: "One" });
  await isSent(made);
  await made.change(id, rename("Uno"));
  await isSent(made);
  expect((await client.list()).map(({ Name }) => Name)).toEqual(["Uno"]);
  await client.change(id, rename("Un"));
  await eventually(() => expect(names(made)).toEqual(["Un"]));
  await made.remove(id);
  await isSent(made);
  expect(await client.list()).toEqual([]);
});
