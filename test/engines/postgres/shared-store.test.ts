// Two services share one PostgreSQL store. The state that a service knows may lack the other's latest writes. Clients
// must not notice this: each write takes effect after those writes, and its answer takes them into account.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { rootList } from "../../../src/collection/list-key.ts";
import { TodoStore } from "../../../src/collection/todo-store.ts";
import { ids, item, Service } from "../../service.ts";
import { createPostgresStore, type PostgresTestStore } from "./postgres-store.ts";

let store: PostgresTestStore;
let here: Service;
let there: Service;

beforeEach(async () => {
  store = await createPostgresStore();
  here = await Service.on(await store.open());
  there = await Service.on(await store.open());
});

afterEach(async () => {
  await here.store.close();
  await there.store.close();
  await store.dispose();
});

/** One item fits into a list of this size, and two do not. */
const limit = { storeBytesMax: 60 };

const path = (id: string) => `/api/todoitems/${id}`;
const post = (service: Service, id: string) => service.send("POST", "/api/todoitems/", item(id));
const put = (service: Service, id: string, json = item(id, '"Name":"y"'), headers = {}) =>
  service.send("PUT", path(id), json, headers);
const tagOf = (response: Response) => response.headers.get("etag") ?? "";

async function tagAt(service: Service, id: string): Promise<string> {
  return tagOf(await service.fetch("GET", path(id)));
}

/** The status codes of the answers to requests that share one commit. */
async function statuses(...requests: Promise<Response>[]): Promise<number[]> {
  return (await Promise.all(requests)).map(({ status }) => status);
}

describe("a service that does not know the other's latest writes", () => {
  test("creates an item after them, with the same ETag and the same place in the list on both services", async () => {
    await there.create(item(ids.one));
    const created = await post(here, ids.two);
    expect(created.status).toBe(201);
    expect(tagOf(created)).toEndWith('-2"');
    expect(await tagAt(here, ids.two)).toBe(tagOf(created));
    expect(await tagAt(there, ids.two)).toBe(tagOf(created));
    const list = `[${item(ids.one)},${item(ids.two)}]`;
    expect([await here.list(), await there.list()]).toEqual([list, list]);
  });

  test("updates and deletes items after them, and updated items keep their place", async () => {
    for (const id of [ids.one, ids.two]) await here.create(item(id));
    await there.create(item(ids.three));
    const [updated, deleted] = await Promise.all([put(here, ids.one), here.fetch("DELETE", path(ids.two))]);
    expect([updated.status, deleted.status]).toEqual([204, 204]);
    expect(await tagAt(there, ids.one)).toBe(tagOf(updated));
    const list = `[${item(ids.one, '"Name":"y"')},${item(ids.three)}]`;
    expect([await here.list(), await there.list()]).toEqual([list, list]);
    const restarted = await Service.on(await store.open());
    expect(await restarted.list()).toBe(list);
    await restarted.store.close();
  });

  test("refuses an ID that the other has used, and accepts one that the other has freed", async () => {
    await here.create(item(ids.one));
    await there.create(item(ids.two));
    await there.fetch("DELETE", path(ids.one));
    // The third write makes sure that there is something to commit, whatever is decided for the others.
    expect(await statuses(post(here, ids.one), post(here, ids.two), post(here, ids.three))).toEqual([201, 409, 201]);
    expect(await there.list()).toBe(`[${item(ids.two)},${item(ids.one)},${item(ids.three)}]`);
  });

  test("does not update an item that the other has deleted, and updates one that the other has created", async () => {
    await here.create(item(ids.one));
    await there.create(item(ids.two));
    await there.fetch("DELETE", path(ids.one));
    expect(await statuses(put(here, ids.one), put(here, ids.two), post(here, ids.three))).toEqual([404, 204, 201]);
  });

  test("does not refuse a write for a reason that is no longer true", async () => {
    await here.create(item(ids.one));
    await there.fetch("DELETE", path(ids.one));
    expect(await statuses(post(here, ids.one), post(here, ids.three))).toEqual([201, 201]);
    await there.create(item(ids.two));
    expect(await statuses(put(here, ids.two), put(here, ids.one))).toEqual([204, 204]);
    const tag = tagOf(await put(there, ids.two));
    const update = put(here, ids.two, item(ids.two), { "If-Match": tag });
    expect(await statuses(update, put(here, ids.one))).toEqual([204, 204]);
  });

  test("checks conditions against the stored item", async () => {
    const first = tagOf(await here.create(item(ids.one)));
    const second = tagOf(await put(there, ids.one));
    const update = (tag: string) => put(here, ids.one, item(ids.one, '"Name":"z"'), { "If-Match": tag });
    expect(await statuses(update(first), post(here, ids.two))).toEqual([412, 201]);
    await there.create(item(ids.three));
    expect(await statuses(update(second))).toEqual([204]);
  });

  test("does not let If-Match succeed with a version that was planned but never stored", async () => {
    await here.create(item(ids.one));
    await there.create(item(ids.two));
    const { epoch } = here.collection;
    // If the other service had written nothing, the first update below would get version 2. But it gets version 3, so
    // the second update, which names version 2, must fail.
    const guess = { "If-Match": `"${epoch}-2"` };
    expect(await statuses(put(here, ids.one), put(here, ids.one, item(ids.one, '"Name":"z"'), guess))).toEqual([
      204, 412,
    ]);
    await there.create(item(ids.three));
    const right = { "If-Match": `"${epoch}-5"` };
    expect(await statuses(put(here, ids.one), put(here, ids.one, item(ids.one, '"Name":"z"'), right))).toEqual([
      204, 204,
    ]);
  });

  test("has the same positions and versions in memory as in the database after a commit that got later versions than planned", async () => {
    await here.create(item(ids.one));
    await there.create(item(ids.mixedCase));
    const writes = [
      post(here, ids.two),
      put(here, ids.two),
      put(here, ids.one),
      post(here, ids.three),
      here.fetch("DELETE", path(ids.three)),
      post(here, ids.three),
    ];
    expect(await statuses(...writes)).toEqual([201, 204, 204, 201, 204, 201]);
    const later = await Service.on(await store.open());
    const places = ({ collection }: Service) =>
      Array.from(collection.items(), ({ position, version }) => [position, version]);
    expect(places(here)).toEqual([
      [1, 5],
      [2, 2],
      [3, 4],
      [8, 8],
    ]);
    expect(places(later)).toEqual(places(here));
    await later.store.close();
  });

  test("notifies its watchers of the other's writes before its own", async () => {
    const seen: number[] = [];
    const { epoch, version } = here.collection;
    here.collection.watch(() => {
      const changes = here.collection.changesSince({ epoch, version: seen.at(-1) ?? version }) ?? [];
      seen.push(...Array.from(changes, (change) => change.version));
    });
    await there.create(item(ids.one));
    await there.create(item(ids.two));
    await here.create(item(ids.three));
    expect(seen).toEqual([1, 2, 3]);
  });

  test("does not seed a store in which the other has created an item", async () => {
    await there.create(item(ids.one));
    expect(await here.store.seed([{ id: ids.two, json: item(ids.two) }])).toBe(false);
    expect(await here.list()).toBe(`[${item(ids.one)}]`);
  });
});

test("two creates through two services never make a list that is longer than the limit", async () => {
  const stores = [await TodoStore.open(await store.open(), limit), await TodoStore.open(await store.open(), limit)];
  const [one, two] = stores.map((opened) => opened.list(rootList));
  if (!one || !two) throw new Error("there are two stores");
  for (let round = 0; round < 20; round++) {
    const creates = [one, two].map((collection) => {
      const id = crypto.randomUUID();
      return collection.write({ kind: "create", item: { id, json: item(id) } });
    });
    const kinds = (await Promise.all(creates)).map(({ kind }) => kind);
    expect(kinds.sort()).toEqual(["done", "store-full"]);
    await one.refresh();
    expect(one.listBytes).toBeLessThanOrEqual(limit.storeBytesMax);
    const [stored] = one.items();
    await one.write({ kind: "delete", id: stored?.id ?? "", condition: undefined });
  }
  for (const opened of stores) await opened.close();
});

test("two services under constant load end with the same list as a service that starts later", async () => {
  const random = (max: number) => Math.floor(Math.random() * max);
  const known = Array.from({ length: 12 }, (_, index) => `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`);
  const client = async (service: Service) => {
    for (let count = 0; count < 60; count++) {
      const id = known[random(known.length)] ?? "";
      const write = [
        () => post(service, id),
        () => put(service, id, item(id, `"n":${count}`)),
        () => service.fetch("DELETE", path(id)),
      ];
      const { status } = (await write[random(3)]?.()) ?? { status: 0 };
      expect([201, 204, 404, 409]).toContain(status);
    }
  };
  await Promise.all([here, there, here, there, here, there].map(client));
  const later = await Service.on(await store.open());
  const list = await later.list();
  expect([await here.list(), await there.list()]).toEqual([list, list]);
  expect(JSON.parse(list)).toBeArray();
  await later.store.close();
});
