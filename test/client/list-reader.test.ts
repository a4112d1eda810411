// What list() transfers when it is called again. The service is the real one, in this process.

import { afterEach, expect, test } from "bun:test";
import { jsonText, TodoClient } from "../../src/client/index.ts";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { nestingDepthMax } from "../../src/items/todo-item.ts";
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

test("a list that has changed is sent again", async () => {
  const { service, network, todo } = await open();
  await todo.list();
  await service.create(item(ids.one));
  expect(await todo.list()).toEqual([item(ids.one)]);
  expect(network.exchanges).toEqual(["/api/todoitems/ 200", "/api/todoitems/ 200"]);
});

test("an item that is nested as deeply as the service allows is read from a list and from a refusal", async () => {
  const { service, todo } = await open();
  const deepest = item(ids.two, `"Deep":${"[".repeat(nestingDepthMax - 1)}${"]".repeat(nestingDepthMax - 1)}`);
  await service.create(deepest);
  expect(await todo.list()).toEqual([deepest]);
  await expect(todo.update(deepest, { ifMatch: '"other"' })).rejects.toMatchObject({ current: deepest });
});

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
  Object.defineProperty(globalThis, "location", { value: new URL("http://page.example/"), configurable: true });
  try {
    expect([await todo.list(), refused]).toEqual([[], 1]);
  } finally {
    Reflect.deleteProperty(globalThis, "location");
  }
});
