// Many lists in one service: a list is a base address. What holds for every list is tested in test/specification, which
// runs at the address of a named list, too.

import { afterEach, describe, expect, spyOn, test } from "bun:test";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { Access } from "../../src/http/access.ts";
import { BasicAuth } from "../../src/http/basic-auth.ts";
import { engineKinds } from "../engines/engine-kinds.ts";
import { eventually } from "../eventually.ts";
import { expectProblem, ids, item, Service, type ServiceOptions } from "../service.ts";
import { FeedReader } from "./feed-reader.ts";

/** With so little memory, only the list that was used last stays there. */
const many = { lists: "many", listMemoryMax: 1 } as const;
const json = { "Content-Type": "application/json" };
const closes: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closes.splice(0).reverse()) await close();
});

async function start(options: ServiceOptions = {}): Promise<Service> {
  const service = await Service.on(new MemoryEngine(), { ...many, ...options });
  closes.push(() => service.store.close());
  return service;
}

const create = (service: Service, list: string, body: string) =>
  service.fetch("POST", `${list}/api/todoitems/`, { body, headers: json });

async function listed(service: Service, list: string): Promise<string> {
  const response = await service.fetch("GET", `${list}/api/todoitems/`);
  expect(response.status).toBe(200);
  return response.text();
}

async function openFeed(service: Service, list: string): Promise<FeedReader> {
  const feed = new FeedReader(await service.fetch("GET", `${list}/changes`));
  closes.push(() => feed.close());
  expect((await feed.next())?.event).toBe("ready");
  return feed;
}

test("every document is sent only in a state that If-Match names", async () => {
  const service = await start();
  await create(service, "/lists/work", item(ids.one));
  for (const path of ["/lists/", "/lists/work/api/todoitems/", "/lists/work/changes/delta"]) {
    const get = (tag: string) => service.fetch("GET", path, { headers: { "If-Match": tag } });
    const tag = (await service.fetch("GET", path)).headers.get("ETag") ?? "";
    const answers = [await get(tag), await get("*"), await get('"another"'), await get("")];
    expect({ path, statuses: answers.map(({ status }) => status) }).toEqual({ path, statuses: [200, 200, 412, 400] });
    expect(answers[2]?.headers.get("ETag")).toBe(tag);
  }
});

describe("the address of a list", () => {
  test("has a name of 1 to 64 letters, digits, hyphens, underscores and dots, and letter case counts", async () => {
    const service = await start();
    const names = ["a", "7", "Work", "work", "a.b-c_d", "x..", "lists", "apis", "x".repeat(64)];
    for (const name of names) expect((await create(service, `/lists/${name}`, item(ids.one))).status).toBe(201);
    for (const name of names) expect(await listed(service, `/lists/${name}`)).toBe(`[${item(ids.one)}]`);
    const lists = await service.fetch("GET", "/lists/");
    expect(await lists.json()).toEqual(names.sort().map((name) => ({ name })));
  });

  test("any other name is no route, for whatever resource", async () => {
    const service = await start();
    const encoded = ["%2e%2e%2fx", "%00", "a%00", "a%0a", "%ff", "a%2fb", "a%20b", "%C3%A9", "a%25", "%"];
    const names = ["api", "API", "aPi", "-a", "_a", ".a", "a b", "a~", "a+b", "a@b", "a:b", "x".repeat(65), ...encoded];
    for (const name of names)
      for (const path of ["", "/", "/api/todoitems/", `/api/todoitems/${ids.one}`, "/changes", "/changes/delta"]) {
        // `URL` would resolve or encode some of these names.
        const request = { method: "GET", path: `/lists/${name}${path}`, query: "", headers: new Map() };
        const answer = await service.app.handle({
          ...request,
          peer: "127.0.0.1",
          isSecure: false,
          readBody: () => new Uint8Array(),
        });
        expect([request.path, answer.status, String(answer.body)]).toEqual([
          request.path,
          404,
          expect.stringContaining('"code":"RouteNotFound"'),
        ]);
      }
    expect(service.store.state).toMatchObject({ clock: 0, byteCount: 0 });
  });

  test("works in the spellings in which the root list works, and nothing redirects", async () => {
    const service = await start();
    await create(service, "/lists/work", item(ids.one));
    for (const path of ["/LISTS/work/API", "/Lists/work/api/", "/lists/w%6Frk/api/TodoItems", "/%6cists/work/api?a=b"])
      expect(await (await service.fetch("GET", path)).text()).toBe(`[${item(ids.one)}]`);
    expect((await service.fetch("GET", "/lists/work/Changes/DELTA/")).status).toBe(200);
    for (const path of ["/lists//api", "/lists/work//", "/lists/work//api", "/lists/work/lists", "/lists/work/docs"])
      await expectProblem(await service.fetch("GET", path), 404, "RouteNotFound");
    for (const path of ["/lists/work/health/live", "/lists/work/openapi.json", "/lists/work/lists/work/api"])
      await expectProblem(await service.fetch("GET", path), 404, "RouteNotFound");
  });

  test("is in Location and in the advice of a problem", async () => {
    const service = await start();
    const created = await create(service, "/LISTS/w%6Frk", item(ids.one));
    expect(created.headers.get("location")).toBe(`/lists/work/api/todoitems/${ids.one}`);
    const missing = await service.fetch("GET", `/lists/work/api/todoitems/${ids.two}`);
    expect((await expectProblem(missing, 404, "RecordNotFound")).detail).toContain("/lists/work/api/todoitems/");
    const patched = await service.send("PATCH", `/lists/work/api/todoitems/${ids.one}`, "{}");
    expect((await expectProblem(patched, 405, "MethodNotAllowed")).detail).toContain("/lists/work/api/todoitems/");
    const nowhere = await service.fetch("GET", "/lists/-/api/todoitems/");
    expect((await expectProblem(nowhere, 404, "RouteNotFound")).detail).toContain("/lists/NAME/");
  });

  test("is no route of a service with one list", async () => {
    const service = await start({ lists: "one", listMemoryMax: undefined });
    for (const path of ["/lists", "/lists/", "/lists/work", "/lists/work/", "/lists/work/api", "/lists/work/changes"])
      await expectProblem(await service.fetch("GET", path), 404, "RouteNotFound");
    await expectProblem(await create(service, "/lists/work", item(ids.one)), 404, "RouteNotFound");
  });
});

describe("GET /lists", () => {
  const body = async (service: Service) => (await service.fetch("GET", "/lists")).text();

  test("names the lists that have items, the root list as an empty name", async () => {
    const service = await start();
    expect(await body(service)).toBe("[]");
    await create(service, "/lists/work", item(ids.one));
    expect(await body(service)).toBe('[{"name":"work"}]');
    await create(service, "", item(ids.one));
    await create(service, "/lists/Home", item(ids.one));
    expect(await body(service)).toBe('[{"name":""},{"name":"Home"},{"name":"work"}]');
    await service.fetch("DELETE", `/lists/work/api/todoitems/${ids.one}`);
    expect(await body(service)).toBe('[{"name":""},{"name":"Home"}]');
  });

  test("has an ETag that changes only with the names, and returns 304 to a reader that has them", async () => {
    const service = await start();
    await create(service, "/lists/work", item(ids.one));
    const first = await service.fetch("GET", "/lists/");
    const etag = first.headers.get("etag") ?? "";
    expect(first.headers.get("cache-control")).toBe("no-cache");
    expect(first.headers.get("content-type")).toBe("application/json; charset=utf-8");
    await create(service, "/lists/work", item(ids.two));
    const again = () => service.fetch("GET", "/lists/", { headers: { "If-None-Match": etag } });
    expect((await again()).status).toBe(304);
    await create(service, "/lists/home", item(ids.one));
    expect((await again()).status).toBe(200);
    await service.fetch("DELETE", `/lists/home/api/todoitems/${ids.one}`);
    expect((await again()).status).toBe(304);
  });

  test("offers nothing but GET, and needs credentials as a list does", async () => {
    const service = await start({ access: new Access({ mode: "all", auth: new BasicAuth(new Map()) }) });
    for (const path of ["/lists", "/lists/"]) {
      for (const method of ["POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS"]) {
        const response = await service.fetch(method, path);
        expect([method, response.status, response.headers.get("allow")]).toEqual([method, 405, "GET"]);
      }
      await expectProblem(await service.fetch("GET", path), 401, "CredentialsRequired");
    }
    await expectProblem(await service.fetch("GET", "/lists/work/api"), 401, "CredentialsRequired");
  });
});

describe("two lists", () => {
  test("may have items with the same ID, and a write to one changes no tag of the other", async () => {
    const service = await start();
    await create(service, "/lists/a", item(ids.one, '"Name":"a"'));
    await create(service, "/lists/b", item(ids.one, '"Name":"b"'));
    const tags = async (list: string) =>
      Promise.all(
        ["/api", `/api/todoitems/${ids.one}`, "/changes/delta"].map(async (path) => {
          const response = await service.fetch("GET", list + path);
          return response.headers.get("etag");
        }),
      );
    const before = [await tags("/lists/a"), await tags("/lists/b")];
    expect(new Set(before.flat()).size).toBe(2);
    await service.fetch("PUT", "/lists/b/api/todoitems/", { body: item(ids.one, '"Name":"c"'), headers: json });
    expect(await tags("/lists/a")).toEqual(before[0] ?? []);
    expect(await tags("/lists/b")).not.toEqual(before[1] ?? []);
    expect(await listed(service, "/lists/a")).toBe(`[${item(ids.one, '"Name":"a"')}]`);
    const foreign = { body: item(ids.one), headers: { ...json, "If-Match": before[1]?.[1] ?? "" } };
    await expectProblem(await service.fetch("PUT", "/lists/a/api/todoitems/", foreign), 412, "PreconditionFailed");
    const token = before[1]?.[0]?.slice(1, -1);
    const delta = await service.fetch("GET", `/lists/a/changes/delta?since=${token}`);
    expect(await delta.json()).toMatchObject({ whole: true });
  });

  test("have a feed each, and a reader of one is not notified of the other", async () => {
    const service = await start();
    const [a, b, root] = [
      await openFeed(service, "/lists/a"),
      await openFeed(service, "/lists/b"),
      await openFeed(service, ""),
    ];
    expect(service.app.changeFeed.readerCount).toBe(3);
    await create(service, "/lists/b", item(ids.one, '"Name":"b"'));
    await create(service, "", item(ids.one, '"Name":"root"'));
    await create(service, "/lists/a", item(ids.one, '"Name":"a"'));
    expect((await a.next())?.data).toContain('"Name":"a"');
    expect((await b.next())?.data).toContain('"Name":"b"');
    expect((await root.next())?.data).toContain('"Name":"root"');
  });

  test("a reader of a feed gets what it has missed, although the items are not in memory any more", async () => {
    const service = await start();
    const feed = await openFeed(service, "/lists/work");
    await create(service, "/lists/work", item(ids.one));
    await eventually(async () => {
      await listed(service, "");
      return !service.store.list("work").isCurrent;
    });
    expect((await feed.next())?.data).toContain(item(ids.one));
  });
});

describe("several processes", () => {
  for (const kind of engineKinds.filter(({ isShared }) => isShared))
    test(`a feed sends what another process writes to its list, even if the items are not in memory [${kind.name}]`, async () => {
      const store = await kind.createStore();
      closes.push(async () => store.dispose());
      const [here, there] = [await Service.on(await store.open(), many), await Service.on(await store.open(), many)];
      closes.push(
        () => here.store.close(),
        () => there.store.close(),
      );
      const [work, home] = [await openFeed(here, "/lists/work"), await openFeed(here, "/lists/home")];
      const load = spyOn(here.store, "load");
      for (const id of [ids.one, ids.two]) {
        await create(there, "/lists/work", item(id));
        expect((await work.next())?.data).toContain(item(id));
      }
      // Nothing was written to the other list, so it was not read.
      expect(load.mock.calls.filter(([list]) => list === "home")).toEqual([]);
      await create(there, "/lists/home", item(ids.three));
      expect((await home.next())?.data).toContain(item(ids.three));
      expect(await (await here.fetch("GET", "/lists/")).json()).toEqual([{ name: "home" }, { name: "work" }]);
    });
});

describe("a list that nobody ever wrote to", () => {
  test("is empty, has tags and a feed, and takes a first item, which does not change its history", async () => {
    const service = await start();
    const response = await service.fetch("GET", "/lists/new/api/todoitems/");
    expect([response.status, await response.text()]).toEqual([200, "[]"]);
    const [epoch, version] = response.headers.get("etag")?.slice(1, -1).split("-") ?? [];
    expect(version).toBe("0");
    const feed = await openFeed(service, `/lists/new`);
    const created = await create(service, "/lists/new", item(ids.one));
    expect(created.headers.get("etag")).toBe(`"${epoch}-1"`);
    expect(await feed.next()).toMatchObject({ event: "change", id: `${epoch}-1` });
  });

  test("leaves nothing behind, whatever was asked of it", async () => {
    const service = await start();
    await create(service, "/lists/work", item(ids.one));
    const before = { ...service.store.state };
    await listed(service, "/lists/a");
    await service.fetch("GET", "/lists/a/changes/delta");
    const feed = new FeedReader(await service.fetch("GET", "/lists/b/changes"));
    await feed.next();
    await feed.close();
    expect((await service.fetch("DELETE", `/lists/c/api/todoitems/${ids.one}`)).status).toBe(404);
    expect((await create(service, "/lists/d", "{")).status).toBe(400);
    expect(service.store.state).toMatchObject(before);
    // The store makes a new object for a list that it does not know.
    for (const name of ["a", "b", "c", "d"])
      await eventually(() => {
        const made = service.store.list(name);
        return service.store.list(name) !== made;
      });
  });
});
