// What list() transfers when it is called again. Whatever it transfers, it must return the list of the service. The
// service is the real one, in this process.

import { afterEach, expect, test } from "bun:test";
import fc from "fast-check";
import { InvalidResponseError, jsonText, TodoClient } from "../../src/client/index.ts";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { nestingDepthMax } from "../../src/items/todo-item.ts";
import { engineKinds } from "../engines/engine-kinds.ts";
import { Network } from "../page/network.ts";
import { ids, item, Service, type ServiceOptions } from "../service.ts";

const closes: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closes.splice(0)) await close();
});

async function open(options: ServiceOptions = {}) {
  const service = await Service.on(new MemoryEngine(), options);
  closes.push(() => service.collection.close());
  const network = new Network(service);
  return { service, network, todo: network.connect() };
}

/** Opens two services on one store: one with the default settings, and one with these options. */
async function openTwo(options: ServiceOptions): Promise<[Service, Service]> {
  const store = await engineKinds.find(({ name }) => name === "sqlite")?.createStore();
  if (!store) throw new Error("there is no SQLite engine");
  const one = await Service.on(await store.open());
  const other = await Service.on(await store.open(), options);
  closes.push(
    () => one.collection.close(),
    () => other.collection.close(),
    () => store.dispose(),
  );
  return [one, other];
}

/** With this item, a list is so long that the client requests only its changes. */
const longItem = item(ids.one, `"Notes":"${"x".repeat(9_000)}"`);

test("a list that has not changed is answered without a body, and returned as new objects", async () => {
  const { service, network } = await open();
  await service.create(item(ids.one, '"Name":"One"'));
  const todo = new TodoClient("http://localhost/", { fetch: network.fetch });
  const [first] = await todo.list();
  const [second] = await todo.list();
  expect(second).toEqual(first);
  expect(second).not.toBe(first);
  expect(network.exchanges).toEqual(["/api/todoitems/ 200", "/api/todoitems/ 304"]);
});

test("a short list that has changed is sent again", async () => {
  const { service, network, todo } = await open();
  await todo.list();
  await service.create(item(ids.one));
  expect(await todo.list()).toEqual([item(ids.one)]);
  expect(network.exchanges).toEqual(["/api/todoitems/ 200", "/api/todoitems/ 200"]);
});

test("if a long list has changed, only the changes are sent; if it has not, no body is sent", async () => {
  const { service, network, todo } = await open();
  await service.create(longItem);
  await todo.list();
  await service.create(item(ids.two));
  expect(await todo.list()).toEqual([longItem, item(ids.two)]);
  expect(await todo.list()).toEqual([longItem, item(ids.two)]);
  expect(network.exchanges).toEqual(["/api/todoitems/ 200", "/changes?since=… 200", "/changes?since=… 304"]);
});

test("list() returns the list of the service, whatever has been written since the last call", async () => {
  const numbers = fc.integer({ min: 1, max: 5 });
  const steps = fc.array(
    fc.oneof(
      { arbitrary: fc.record({ kind: fc.constantFrom("create", "update", "remove"), number: numbers }), weight: 3 },
      { arbitrary: fc.constant({ kind: "list", number: 0 }), weight: 1 },
    ),
    { minLength: 20, maxLength: 40, size: "max" },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const { service, todo } = await open();
      const idOf = (number: number) => `00000000-0000-4000-8000-00000000000${number}`;
      const isCurrent = async () => expect(`[${(await todo.list()).join()}]`).toBe(await service.list());
      for (const json of [item(idOf(1)), item(idOf(2)), longItem.replace(ids.one, idOf(9)), item(idOf(3))])
        await service.create(json);
      await isCurrent();
      for (const [count, { kind, number }] of all.entries()) {
        const json = item(idOf(number), `"Count":${count}`);
        if (kind === "list") await isCurrent();
        else if (kind === "create") await service.send("POST", "/api/todoitems/", json);
        else if (kind === "update") await service.send("PUT", "/api/todoitems/", json);
        else await service.fetch("DELETE", `/api/todoitems/${idOf(number)}`);
      }
      await isCurrent();
    }),
    { numRuns: 20 },
  );
});

test("an item that was deleted and created again is last, even if the server reports only that it was created", async () => {
  const { service, network } = await open();
  const fetch = async (url: string, init: RequestInit) => {
    const response = await network.fetch(url, init);
    if (!url.includes("/changes")) return response;
    const withoutDeletions = (await response.text()).replace(/\{[^{}]*"item":null\},/, "");
    return new Response(withoutDeletions, { headers: response.headers });
  };
  const todo = new TodoClient("http://localhost/", { codec: jsonText, fetch });
  for (const json of [item(ids.two), longItem]) await service.create(json);
  expect(await todo.list()).toEqual([item(ids.two), longItem]);
  await service.fetch("DELETE", `/api/todoitems/${ids.two}`);
  await service.create(item(ids.two));
  expect(await todo.list()).toEqual([longItem, item(ids.two)]);
});

test("an item that is nested as deeply as a service allows is read from a list of changes and from a refusal", async () => {
  const { service, network, todo } = await open();
  await service.create(longItem);
  await todo.list();
  const deepest = item(ids.two, `"Deep":${"[".repeat(nestingDepthMax - 1)}${"]".repeat(nestingDepthMax - 1)}`);
  await service.create(deepest);
  expect(await todo.list()).toEqual([longItem, deepest]);
  expect(network.exchanges).toEqual(["/api/todoitems/ 200", "/changes?since=… 200"]);
  await expect(todo.update(deepest, { ifMatch: '"other"' })).rejects.toMatchObject({ current: deepest });
});

test("if the client cannot find an item's ID, because the server nests the item too deeply, list() says that the answer is invalid", async () => {
  const { service, network } = await open();
  const deep = `${"[".repeat(2_000)}${"]".repeat(2_000)}`;
  const fetch = async (url: string, init: RequestInit) => {
    const response = await network.fetch(url, init);
    if (url.includes("/changes")) return response;
    return new Response((await response.text()).replace('"Deep":[]', `"Deep":${deep}`), { headers: response.headers });
  };
  const todo = new TodoClient("http://localhost/", { fetch });
  await service.create(longItem.replace("}", ',"Deep":[]}'));
  expect(await todo.list()).toHaveLength(1);
  await service.create(item(ids.two));
  await expect(todo.list()).rejects.toBeInstanceOf(InvalidResponseError);
});

test("the list of a read-only service is brought up to date as well", async () => {
  const [writable, readOnly] = await openTwo({ readOnly: true });
  await writable.create(longItem);
  const todo = new Network(readOnly).connect();
  await todo.list();
  await writable.create(item(ids.two));
  expect(await todo.list()).toEqual([longItem, item(ids.two)]);
});

test("if the service begins to spell field names differently, the whole list is read again", async () => {
  const [asSent, camel] = await openTwo({ fieldNames: "camel" });
  await asSent.create(longItem);
  let network = new Network(asSent);
  const todo = new TodoClient("http://localhost/", { codec: jsonText, fetch: (url, init) => network.fetch(url, init) });
  await todo.list();
  network = new Network(camel);
  expect((await todo.list())[0]).toStartWith('{"id":');
  await asSent.create(item(ids.two, '"Name":"Two"'));
  expect((await todo.list())[1]).toBe(`{"id":"${ids.two}","name":"Two"}`);
});

for (const [what, answer] of [
  ["404", () => new Response(null, { status: 404 })],
  ["an HTML page", () => new Response("<h1>", { headers: { "Content-Type": "text/html" } })],
] as const) {
  test(`if a server answers a request for changes with ${what}, the client requests only the list from then on, with If-None-Match`, async () => {
    const { service, network } = await open();
    await service.create(longItem);
    let asked = 0;
    const fetch = async (url: string, init: RequestInit) => {
      if (!url.includes("/changes")) return network.fetch(url, init);
      asked++;
      return answer();
    };
    const todo = new TodoClient("http://localhost/", { codec: jsonText, fetch });
    for (let count = 0; count < 3; count++) expect(await todo.list()).toEqual([longItem]);
    expect([asked, ...network.exchanges]).toEqual([
      1,
      ...["/api/todoitems/ 200", "/api/todoitems/ 304", "/api/todoitems/ 304"],
    ]);
  });
}

test("in a page of another origin, a conditional request that fails is sent again without its condition", async () => {
  const { network } = await open();
  let refused = 0;
  const fetch = async (url: string, init: RequestInit) => {
    if (!new Headers(init.headers).has("if-none-match")) return network.fetch(url, init);
    refused++;
    throw new TypeError("Failed to fetch");
  };
  const todo = new TodoClient("http://localhost/", { codec: jsonText, fetch, retry: { delayMs: 1 } });
  await todo.list();
  Object.defineProperty(globalThis, "location", { value: "http://page.example/", configurable: true });
  try {
    expect([await todo.list(), refused]).toEqual([[], 1]);
  } finally {
    Reflect.deleteProperty(globalThis, "location");
  }
});

test("lists that are read at the same time are each complete", async () => {
  const { service, todo } = await open();
  await service.create(longItem);
  await todo.list();
  await service.create(item(ids.two));
  const lists = await Promise.all([todo.list(), todo.list(), todo.list()]);
  for (const list of lists) expect(list).toEqual([longItem, item(ids.two)]);
});
