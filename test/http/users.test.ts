// Lists for each user (`--lists user`). What holds for every list is tested in test/specification, which also runs as a
// user, and by the model of many lists.

import { afterEach, describe, expect, test } from "bun:test";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { Access } from "../../src/http/access.ts";
import { BasicAuth } from "../../src/http/basic-auth.ts";
import { listen } from "../../src/wire/listen.ts";
import { expectProblem, ids, item, Service, type ServiceOptions } from "../service.ts";
import { FeedReader } from "./feed-reader.ts";
import { listenOptions } from "./listen-options.ts";
import { RawConnection } from "./raw-connection.ts";

const hash = (password: string) => Bun.password.hashSync(password, { algorithm: "bcrypt", cost: 4 });
const hashes = { ann: hash("ann"), ANN: hash("ANN"), bob: hash("bob") };
const as = (name: string, password = name) => ({ Authorization: `Basic ${btoa(`${name}:${password}`)}` });
const json = { "Content-Type": "application/json" };
const closes: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closes.splice(0).reverse()) await close();
});

async function start(
  options: ServiceOptions = {},
  engine = new MemoryEngine(),
): Promise<{ service: Service; auth: BasicAuth }> {
  const auth = new BasicAuth(new Map(Object.entries(hashes)));
  const access = new Access({ mode: "all", auth });
  const service = await Service.on(engine, { lists: "user", listMemoryMax: 1, access, ...options });
  closes.push(() => service.store.close());
  return { service, auth };
}

const create = (service: Service, user: string, list: string, body: string) =>
  service.fetch("POST", `${list}/api/todoitems/`, { body, headers: { ...json, ...as(user) } });
const get = (service: Service, user: string, path: string, headers: Record<string, string> = {}) =>
  service.fetch("GET", path, { headers: { ...as(user), ...headers } });
const listed = async (service: Service, user: string, list = "") =>
  (await get(service, user, `${list}/api/todoitems/`)).text();

async function openFeed(service: Service, user: string): Promise<FeedReader> {
  const feed = new FeedReader(await get(service, user, "/changes"));
  closes.push(() => feed.close());
  expect((await feed.next())?.event).toBe("ready");
  return feed;
}

describe("each user", () => {
  test("has a root list, named lists and names of their own, and letter case counts", async () => {
    const { service } = await start();
    for (const name of Object.keys(hashes)) {
      expect((await create(service, name, "", item(ids.one, `"Name":"${name}"`))).status).toBe(201);
      expect((await create(service, name, `/lists/${name}`, item(ids.two))).status).toBe(201);
    }
    for (const name of Object.keys(hashes)) {
      expect(await listed(service, name)).toBe(`[${item(ids.one, `"Name":"${name}"`)}]`);
      expect(await (await get(service, name, "/lists/")).json()).toEqual([{ name: "" }, { name }]);
    }
    expect(await listed(service, "bob", "/lists/ann")).toBe("[]");
  });

  test("gets the same answer for what another user has as for what nobody has", async () => {
    const { service } = await start();
    await create(service, "ann", "", item(ids.one));
    await create(service, "bob", "", item(ids.three));
    const annsTag = (await get(service, "ann", `/api/todoitems/${ids.one}`)).headers.get("etag") ?? "";
    const text = async (id: string) => (await get(service, "bob", `/api/todoitems/${id}`)).text();
    expect((await text(ids.one)).replaceAll(ids.one, "")).toBe((await text(ids.two)).replaceAll(ids.two, ""));
    const bobs = await service.fetch("DELETE", `/api/todoitems/${ids.three}`, {
      headers: { ...as("bob"), "If-Match": annsTag },
    });
    expect(bobs.status).toBe(412);
    const delta = await (await get(service, "bob", `/changes/delta?since=${annsTag.slice(1, -1)}`)).json();
    expect(delta).toMatchObject({ whole: true });
    expect(await listed(service, "ann")).toBe(`[${item(ids.one)}]`);
  });

  test("hears only of their own changes", async () => {
    const { service } = await start();
    const feed = await openFeed(service, "bob");
    await create(service, "ann", "", item(ids.one));
    await create(service, "bob", "", item(ids.two));
    expect(JSON.parse((await feed.next())?.data ?? "")).toMatchObject({ id: ids.two, version: 1 });
  });

  test("gets their own list on a connection that another user has used", async () => {
    const { service } = await start();
    for (const user of ["ann", "bob"]) await create(service, user, "", item(ids.one, `"Name":"of ${user}"`));
    const connections = await connectTwice(service);
    for (let round = 1; round <= 4; round++)
      for (const user of ["ann", "ann", "bob"])
        for (const connection of connections) expect(await answerTo(connection, user)).toContain(`of ${user}`);
  });
});

async function connectTwice(service: Service): Promise<readonly RawConnection[]> {
  const server = listen(service.app, listenOptions);
  closes.push(() => server.stop(0));
  const connections = [await RawConnection.open(server.port), await RawConnection.open(server.port)];
  closes.push(() => connections.map((connection) => connection.close()));
  return connections;
}

/** What this user gets for a request with the same head as ever. */
async function answerTo(connection: RawConnection, user: string): Promise<string> {
  const before = (await connection.until(/^/)).length;
  connection.send(`GET /api/todoitems/ HTTP/1.1\r\nHost: x\r\nAuthorization: ${as(user).Authorization}\r\n\r\n`);
  const received = await connection.until(new RegExp(`^[^]{${before}}[^]*[}\\]]$`));
  return received.slice(before);
}

test("answers with items are for one user alone: no cache gives them to another", async () => {
  const { service } = await start();
  const created = await create(service, "ann", "", item(ids.one));
  const path = `/api/todoitems/${ids.one}`;
  const etag = created.headers.get("etag") ?? "";
  const answers = {
    created,
    list: await get(service, "ann", "/api/todoitems/"),
    unchangedList: await get(service, "ann", "/api/todoitems/", { "If-None-Match": etag }),
    item: await get(service, "ann", path),
    unchanged: await get(service, "ann", path, { "If-None-Match": etag }),
    delta: await get(service, "ann", "/changes/delta"),
    unchangedDelta: await get(service, "ann", "/changes/delta", { "If-None-Match": etag }),
    feed: await get(service, "ann", "/changes"),
    lists: await get(service, "ann", "/lists/"),
  };
  for (const [what, { headers }] of Object.entries(answers)) {
    expect([what, headers.get("cache-control")]).toEqual([what, expect.stringMatching(/^private, no-cache/)]);
    expect([what, headers.get("vary")]).toEqual([what, expect.stringMatching(/^Authorization/)]);
  }
  const changed = await get(service, "ann", path, { "If-Match": '"another"' });
  expect(await changed.json()).toMatchObject({ current: { ID: ids.one } });
  expect(changed.headers.get("cache-control")).toBe("no-store");
  expect(changed.headers.get("vary")).toBe("Authorization");
  await new FeedReader(answers.feed).close();
});

describe("when the users change", () => {
  test("only those whose line changed or is gone are forgotten, and only their feeds end", async () => {
    const { service, auth } = await start();
    const feeds = {
      ann: await openFeed(service, "ann"),
      ANN: await openFeed(service, "ANN"),
      bob: await openFeed(service, "bob"),
    };
    auth.replaceUsers(
      new Map([
        ["bob", hashes.bob],
        ["ANN", hash("other")],
      ]),
    );
    expect(await feeds.ann.next()).toBeUndefined();
    expect(await feeds.ANN.next()).toBeUndefined();
    await create(service, "bob", "", item(ids.one));
    expect(await feeds.bob.next()).toMatchObject({ event: "change" });
    expect((await get(service, "ann", "/api/todoitems/")).status).toBe(401);
    expect((await get(service, "ANN", "/api/todoitems/")).status).toBe(401);
  });

  test("their heads are forgotten at once, on every connection", async () => {
    const { service, auth } = await start();
    const connections = await connectTwice(service);
    const statuses = async () => {
      const answers = [];
      for (const user of ["ann", "bob"])
        for (const connection of connections) answers.push((await answerTo(connection, user)).slice(9, 12));
      return answers;
    };
    for (let round = 1; round <= 3; round++) expect(await statuses()).toEqual(["200", "200", "200", "200"]);
    auth.replaceUsers(new Map([["bob", hashes.bob]]));
    expect(await statuses()).toEqual(["401", "401", "200", "200"]);
  });

  test("a user who signed in from two addresses at the same time is forgotten at both", async () => {
    const { service, auth } = await start();
    const open = async (address: string) => {
      service.address = address;
      return openFeed(service, "ann");
    };
    const feeds = await Promise.all([open("192.0.2.1"), open("192.0.2.2")]);
    auth.replaceUsers(new Map());
    for (const feed of feeds) expect(await feed.next()).toBeUndefined();
  });
});

describe("the limit on what a user may have", () => {
  const userBytesMax = item(ids.one).length + 1;

  test("is for all lists of the user together, and 507 says which limit it was", async () => {
    const { service } = await start({ userBytesMax: userBytesMax + 10 });
    expect((await create(service, "ann", "", item(ids.one))).status).toBe(201);
    const { detail } = await expectProblem(
      await create(service, "ann", "/lists/work", item(ids.one)),
      507,
      "StoreFull",
    );
    expect(detail).toContain("--user-limit");
    expect((await create(service, "bob", "", item(ids.one))).status).toBe(201);
    await service.fetch("DELETE", `/api/todoitems/${ids.one}`, { headers: as("ann") });
    expect((await create(service, "ann", "/lists/work", item(ids.one))).status).toBe(201);
  });

  test("counts what was there before the start, also for a read-only instance", async () => {
    const engine = new MemoryEngine();
    const first = await start({}, engine);
    expect((await create(first.service, "ann", "/lists/work", item(ids.one))).status).toBe(201);
    const again = await start({ userBytesMax }, engine);
    const outcomes = await Promise.all([1, 2, 3].map(() => create(again.service, "ann", "", item(ids.two))));
    expect(outcomes.map(({ status }) => status)).toEqual([507, 507, 507]);
    const readOnly = await start({ userBytesMax, readOnly: true }, engine);
    expect((await create(readOnly.service, "ann", "", item(ids.two))).status).toBe(507);
    expect((await create(readOnly.service, "bob", "", item(ids.two))).status).toBe(201);
  });
});
