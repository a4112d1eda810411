// change(): what it sends, and when it gives up. The service is the real one, in this process.

import { afterEach, describe, expect, test } from "bun:test";
import { isTodoError, TodoClient } from "../../src/client/index.ts";
import type { Network } from "../page/network.ts";
import { ids, item } from "../service.ts";
import { closeAll, openService, setGlobal } from "./opened-service.ts";

afterEach(closeAll);

async function open() {
  const { service, network } = await openService();
  await service.create(item(ids.one, '"Count":0'));
  const connect = () => new TodoClient<Counter>("http://localhost/", { fetch: network.fetch, retry: { delayMs: 1 } });
  const puts = () => network.requests.filter((request) => request.startsWith("PUT")).length;
  return { service, network, connect, todo: connect(), puts };
}

interface Counter {
  readonly ID: string;
  readonly Count: number;
}

const increment = (counter: Counter): Counter => ({ ...counter, Count: counter.Count + 1 });

test("change() stores what the function returns, and returns it with its new ETag", async () => {
  const { todo } = await open();
  const changed = await todo.change(ids.one, increment);
  expect(changed).toEqual(await todo.get(ids.one));
  expect(changed.item).toEqual({ ID: ids.one, Count: 1 });
});

test("if ten clients increment a number at the same time, no increment is lost", async () => {
  const { connect, todo } = await open();
  await Promise.all(Array.from({ length: 10 }, () => connect().change(ids.one, increment, { attempts: 100 })));
  expect((await todo.get(ids.one)).item.Count).toBe(10);
});

test("change() gives up after `attempts` attempts, with the last PreconditionFailedError", async () => {
  const { connect, todo, puts } = await open();
  let calls = 0;
  const interrupted = todo.change(
    ids.one,
    async (counter) => {
      calls++;
      await connect().change(ids.one, increment);
      return { ...counter, Count: -1 };
    },
    { attempts: 3 },
  );
  const error: unknown = await interrupted.catch((reason: unknown) => reason);
  expect(isTodoError(error, "PreconditionFailedError") && error.mayBeStored).toBe(false);
  expect([calls, puts(), (await todo.get(ids.one)).item.Count]).toEqual([3, 6, 3]);
});

test("a change is stored behind a proxy that marks the ETags of what it compresses as weak, as nginx does", async () => {
  const { network, puts } = await open();
  const fetch = async (url: string, init: RequestInit) => {
    const { body, status, headers } = await network.fetch(url, init);
    if (init.method === "GET") headers.set("ETag", `W/${headers.get("ETag")}`);
    return new Response(body, { status, headers });
  };
  const todo = new TodoClient<Counter>("http://localhost/", { fetch });
  expect((await todo.change(ids.one, increment)).item.Count).toBe(1);
  expect(puts()).toBe(1);
});

test("if the function returns the item as it was, nothing is sent", async () => {
  const { service, todo, puts } = await open();
  await service.create(item(ids.two, '"\\u0041":1.50,"Count":1,"Count":2'));
  for (const id of [ids.one, ids.two])
    expect(await todo.change(id, (counter) => ({ ...counter }))).toEqual(await todo.get(id));
  expect(puts()).toBe(0);
});

test("change() writes only the fields that the function changed, and every other field keeps its exact text", async () => {
  const { service, todo } = await open();
  const exact = '"Serial":12345678901234567890,"Price":1.50,"Nested":{"x":1e400},"Gone":-0,"Count":1';
  await service.create(item(ids.two, exact));
  await todo.change(ids.two, ({ Gone: _, ...rest }: Counter & { Gone?: number }) => ({ ...rest, Count: 2, More: [3] }));
  expect(await service.list()).toContain(
    item(ids.two, '"Serial":12345678901234567890,"Price":1.50,"Nested":{"x":1e400},"Count":2,"More":[3]'),
  );
});

test("change() keeps the order of the fields, whatever the order in the function's result", async () => {
  const { service, todo } = await open();
  await service.create(item(ids.two, '"Name":"x","2":1.0,"1":true,"Count":0'));
  await todo.change(ids.two, ({ Count, ...rest }) => ({ New: 1, Count: Count + 1, ...rest }));
  expect(await service.list()).toContain(item(ids.two, '"Name":"x","2":1.0,"1":true,"Count":1,"New":1'));
});

test("a function that modifies its argument and returns it also makes a change", async () => {
  const { todo } = await open();
  await todo.change(ids.one, (counter) => Object.assign(counter, { Count: 7 }));
  expect((await todo.get(ids.one)).item.Count).toBe(7);
});

test("a function that changes or forgets the ID causes a TypeError, and nothing is sent", async () => {
  const { todo, puts } = await open();
  await expect(todo.change(ids.one, (counter) => ({ ...counter, ID: ids.two }))).rejects.toThrow(TypeError);
  await expect(todo.change(ids.one, ({ Count }) => ({ Count: Count + 1 }) as Counter)).rejects.toThrow("must keep");
  expect(puts()).toBe(0);
});

test("an error of the function is thrown, and an item that does not exist is a 404", async () => {
  const { todo, puts } = await open();
  const failing = todo.change(ids.one, () => {
    throw new RangeError("no");
  });
  await expect(failing).rejects.toThrow(RangeError);
  await expect(todo.change(ids.two, increment)).rejects.toHaveProperty("status", 404);
  expect(puts()).toBe(0);
});

test("a change whose answer was lost is recognised, and made once", async () => {
  const { network } = await open();
  const todo = new TodoClient<Counter>("http://localhost/", { fetch: losingPut(network), retry: { delayMs: 1 } });
  expect((await todo.change(ids.one, increment)).item.Count).toBe(1);
  expect((await todo.get(ids.one)).item.Count).toBe(1);
});

test("if an answer was lost and somebody else changed the item after that, change() says that it may be stored", async () => {
  const { network, connect } = await open();
  const fetch = losingPut(network, async () => {
    await connect().change(ids.one, (counter) => ({ ...counter, Count: 100 }));
  });
  const todo = new TodoClient<Counter>("http://localhost/", { fetch, retry: { delayMs: 1 } });
  const error: unknown = await todo.change(ids.one, increment).catch((reason: unknown) => reason);
  expect(isTodoError(error, "PreconditionFailedError") && [error.mayBeStored, error.current]).toEqual([
    true,
    { ID: ids.one, Count: 100 },
  ]);
});

/** Loses the answer to the first PUT. `then` runs before the client notices. */
function losingPut(network: Network, then = async () => {}) {
  let isLost = false;
  return async (url: string, init: RequestInit) => {
    const response = await network.fetch(url, init);
    if (init.method !== "PUT" || isLost) return response;
    isLost = true;
    await then();
    throw new TypeError("the answer was lost");
  };
}

describe("in a browser, which may send a request twice when a connection breaks", () => {
  async function openTwice() {
    const { network, ...opened } = await open();
    setGlobal("document", {});
    const fetch = async (url: string, init: RequestInit) => {
      if (init.method === "PUT") await network.fetch(url, init);
      return network.fetch(url, init);
    };
    return { ...opened, todo: new TodoClient<Counter>("http://localhost/", { fetch, retry: { delayMs: 1 } }) };
  }

  test("a change that finds itself stored has succeeded", async () => {
    const { todo, puts } = await openTwice();
    expect((await todo.change(ids.one, (counter) => ({ ...counter, Count: 7 }))).item.Count).toBe(7);
    expect([puts(), (await todo.get(ids.one)).item.Count]).toEqual([2, 7]);
  });

  test("a change that would change its own result again is made once, and change() says that it may be stored", async () => {
    const { todo, puts } = await openTwice();
    const error: unknown = await todo.change(ids.one, increment).catch((reason: unknown) => reason);
    expect(isTodoError(error, "PreconditionFailedError") && error.mayBeStored).toBe(true);
    expect([puts(), (await todo.get(ids.one)).item.Count]).toEqual([2, 1]);
  });

  test("changes that one client makes at once are all made, although each finds the result of another", async () => {
    const { network } = await open();
    setGlobal("document", {});
    const todo = new TodoClient<Counter>("http://localhost/", { fetch: network.fetch, retry: { delayMs: 1 } });
    await Promise.all([1, 2, 3, 4, 5].map(() => todo.change(ids.one, increment)));
    expect((await todo.get(ids.one)).item.Count).toBe(5);
  });

  test("an update under a condition that finds what it wrote has succeeded", async () => {
    const { todo } = await openTwice();
    const { item: before, etag: ifMatch } = await todo.get(ids.one);
    const { etag } = await todo.update({ ...before, Count: 7 }, { ifMatch });
    expect(await todo.get(ids.one)).toMatchObject({ item: { Count: 7 }, etag });
    await expect(todo.update({ ...before, Count: 8 }, { ifMatch })).rejects.toHaveProperty("mayBeStored", false);
  });
});
