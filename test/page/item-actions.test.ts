// What the user does on the page, on a real service in this process: the actions, what the page says about them, and
// the check of a name and a password.

import { afterEach, expect, test } from "bun:test";
import { join } from "node:path";
import { jsonText, NetworkError, TodoClient } from "../../src/client/index.ts";
import { OfflineList, type OfflineStorage } from "../../src/client/offline.ts";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { credentialProblem } from "../../src/page/credential-check.ts";
import { ItemActions, type Notice } from "../../src/page/item-actions.ts";
import { viewOf } from "../../src/page/item-view.ts";
import { viewList } from "../../src/page/list-view.ts";
import { badgeOf, problemText, statusLine } from "../../src/page/page-status.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { eventually } from "../eventually.ts";
import { Program, runProgram } from "../program.ts";
import { ids, item, Service, type ServiceOptions } from "../service.ts";
import { Network } from "./network.ts";

const closes: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closes.splice(0).reverse()) await close();
});

async function open(options: ServiceOptions = {}, storage?: OfflineStorage) {
  const service = await Service.on(new MemoryEngine(), options);
  closes.push(() => service.store.close());
  const network = new Network(service);
  const list = new OfflineList(network.connect(), { name: "", storage });
  closes.push(() => list.close());
  list.subscribe(() => {});
  let notice: Notice | undefined;
  const actions = new ItemActions(list, "as-sent", (next) => {
    notice = next(notice);
  });
  const listed = (name: string) => {
    const found = viewList(list.getSnapshot().items, "all", "").shown.find((one) => viewOf(one).name === name);
    if (!found) throw new Error(`there is no item ${name}`);
    return found;
  };
  const untilShown = (...names: readonly string[]) =>
    eventually(() =>
      expect(viewList(list.getSnapshot().items, "all", "").shown.map((one) => viewOf(one).name)).toEqual([...names]),
    );
  const untilSent = () => eventually(() => expect(list.getSnapshot().pending).toEqual([]));
  return { service, network, list, actions, listed, untilShown, untilSent, notice: () => notice };
}

const named = (id: string, name: string, rest = '"Notes":"","Done":false') => item(id, `"Name":"${name}",${rest}`);

test("deleted items come back with Undo under their IDs and with their exact text, and stand last", async () => {
  const { service, actions, listed, untilShown, untilSent, notice } = await open();
  for (const json of [named(ids.one, "One", '"Rate":1.50'), named(ids.two, "Two"), named(ids.three, "Three")])
    await service.create(json);
  await untilShown("One", "Two", "Three");
  await actions.remove(listed("One"));
  expect(notice()?.text).toBe("Deleted “One”");
  await actions.remove(listed("Two"));
  expect(notice()?.text).toBe("Deleted 2 items");
  await untilSent();
  expect(await service.list()).toBe(`[${named(ids.three, "Three")}]`);
  notice()?.action?.run();
  await untilShown("Three", "One", "Two");
  await untilSent();
  expect(await service.list()).toBe(
    `[${named(ids.three, "Three")},${named(ids.one, "One", '"Rate":1.50')},${named(ids.two, "Two")}]`,
  );
});

test("many items that are added, deleted or brought back at once are kept with one write each time", async () => {
  const values = new Map<string, string>();
  const outboxes: string[] = [];
  const { network, list, actions, untilSent, notice } = await open(
    {},
    {
      getItem: (key) => values.get(key),
      setItem(key, value) {
        if (key.endsWith("outbox")) outboxes.push(value);
        values.set(key, value);
      },
      removeItem: (key) => values.delete(key),
    },
  );
  await list.sync();
  const entries = Array.from({ length: 50 }, (_, count) => ({ name: `Item ${count}`, done: true }));
  await untilSent();
  network.state = "down";
  network.breakFeeds();
  await eventually(() => expect(list.getSnapshot().status.connection.kind).toBe("lost"));
  const count = (text = "") => text.split('"kind":').length - 1;
  await actions.add(entries);
  expect([outboxes.length, count(outboxes[0])]).toEqual([1, 50]);
  const { shown } = viewList(list.getSnapshot().items, "all", "");
  await actions.remove(...shown);
  expect(outboxes.length).toBe(1);
  notice()?.action?.run();
  await eventually(() => expect(list.getSnapshot().items.length).toBe(50));
  expect([outboxes.length, count(outboxes[1])]).toEqual([2, 50]);
});

test("a tick keeps the kind of the done mark and every other character, and can be undone", async () => {
  const { service, actions, listed, untilShown, untilSent, notice } = await open();
  const json = (mark: number) => `{"id":"${ids.one}","title":"One","completed":${mark},"n":12345678901234567890}`;
  await service.create(json(0));
  await untilShown("One");
  await actions.setDone(listed("One"), true);
  await untilSent();
  expect(await service.list()).toBe(`[${json(1)}]`);
  notice()?.action?.run();
  await eventually(async () => expect(await service.list()).toBe(`[${json(0)}]`));
});

test("an item that was ticked, deleted and brought back without a connection is not lost if the service refuses it", async () => {
  const { service, network, list, actions, listed, untilShown, notice } = await open();
  await service.create(named(ids.one, "One"));
  await untilShown("One");
  network.state = "down";
  network.breakFeeds();
  await actions.setDone(listed("One"), true);
  await actions.remove(listed("One"));
  notice()?.action?.run();
  await untilShown("One");
  const { fetch } = network.service;
  network.service.fetch = (method, path, init) =>
    method === "POST" ? Promise.resolve(new Response(null, { status: 413 })) : fetch.call(service, method, path, init);
  network.state = "up";
  await list.retry();
  await eventually(() => expect(list.getSnapshot().pending.map(({ state }) => state)).toEqual(["refused"]));
  await untilShown("One");
});

test("the undo key takes back the last action only, and the message of an earlier one still can", async () => {
  const { service, actions, listed, untilShown, notice } = await open();
  for (const json of [named(ids.one, "One"), named(ids.two, "Two")]) await service.create(json);
  await untilShown("One", "Two");
  await actions.remove(listed("One"));
  await actions.save(ids.two, new Map([["Name", { typed: "Zwei", kind: "text" }]]), named(ids.two, "Two"));
  actions.undo();
  expect(notice()?.text).toBe("Deleted “One”");
  await untilShown("Zwei");
  notice()?.action?.run();
  await untilShown("Zwei", "One");
  actions.undo();
  expect(notice()).toBeUndefined();
  await actions.remove(listed("Zwei"));
  actions.undo();
  actions.undo();
  await untilShown("One", "Zwei");
});

test("saving keeps what somebody else has written into other fields, and adds a deleted item again", async () => {
  const { service, actions, listed, untilShown, untilSent } = await open();
  await service.create(named(ids.one, "One"));
  await untilShown("One");
  await service.send("PUT", "/api/todoitems/", named(ids.one, "One", '"Notes":"","Done":true'));
  await eventually(() => expect(viewOf(listed("One")).done).toBe(true));
  await actions.save(ids.one, new Map([["Name", { typed: "Uno", kind: "text" }]]), named(ids.one, "One"));
  await untilSent();
  expect(await service.list()).toBe(`[${named(ids.one, "Uno", '"Notes":"","Done":true')}]`);
  await service.fetch("DELETE", `/api/todoitems/${ids.one}`);
  await untilShown();
  await actions.save(ids.one, new Map([["Name", { typed: "Eins", kind: "text" }]]), named(ids.one, "Uno"));
  await untilSent();
  expect(await service.list()).toBe(`[${named(ids.one, "Eins")}]`);
});

test("the line says what waits and why: no connection, or a conflict", async () => {
  const { service, network, list, actions, listed, untilShown, untilSent } = await open();
  await service.create(named(ids.one, "One"));
  await untilShown("One");
  const asked: string[] = [];
  const ask = (what: string) => (id?: string) => void asked.push(id ? `${what} ${id}` : what);
  const line = () =>
    statusLine(list.getSnapshot(), false, {
      signIn: ask("sign in"),
      retry: ask("retry"),
      sendAnyway: ask("send"),
      decide: ask("decide"),
      edit: ask("edit"),
      discard: ask("discard"),
    });
  const badge = () => badgeOf(list.getSnapshot().status).text;
  expect([badge(), line()]).toEqual(["Live", undefined]);
  network.state = "down";
  network.breakFeeds();
  await actions.add([{ name: "Two", done: false }]);
  await eventually(() => expect([badge(), line()?.text]).toEqual(["Offline", "1 edit waiting in this tab"]));
  await actions.save(ids.one, new Map([["Name", { typed: "Mine", kind: "text" }]]), named(ids.one, "One"));
  await service.send("PUT", "/api/todoitems/", named(ids.one, "Theirs"));
  for (const { run } of line()?.actions ?? []) run();
  network.state = "up";
  list.retry();
  await eventually(() => expect(line()?.text).toBe("“Mine” was changed elsewhere, too"));
  for (const { run } of line()?.actions ?? []) run();
  expect(asked).toEqual(["retry", `decide ${ids.one}`]);
  await list.resolve(ids.one, "mine");
  await untilSent();
  expect(listed("Mine").id).toBe(ids.one);
});

test("a message says why an action is impossible", async () => {
  const { service, list, actions, untilShown, notice } = await open({ readOnly: true });
  await eventually(() => expect(list.getSnapshot().status.readOnly).toBe(true));
  expect(await actions.add([{ name: "One", done: false }])).toBeUndefined();
  const text = "“One” is not added. The service is read-only: it stores no edits.";
  expect(notice()).toMatchObject({ kind: "problem", text });
  await untilShown();
  expect(await service.list()).toBe("[]");
  expect(problemText(new NetworkError({ method: "GET", url: "/" }, "x"))).toBe("The service cannot be reached.");
});

test("a name and a password are checked without changing anything", async () => {
  const folder = temporaryFolder();
  closes.push(() => folder.dispose());
  const users = join(folder.path, "users.txt");
  await runProgram("user", { args: ["add", "ann", "--users", users], input: "long enough\n" });
  const program = await Program.start({
    args: ["--port", "0", "--store", "memory:", "--auth", "writes", "--users", users],
  });
  closes.push(() => program.stop());
  const check = (username: string, password: string, origin = program.origin) =>
    credentialProblem(
      new TodoClient(origin, { codec: jsonText, retry: { limit: 0 }, credentials: { username, password } }),
    );
  expect(await check("ann", "long enough")).toBeUndefined();
  expect(await check("ann", "wrong")).toBe("The name or the password is wrong.");
  expect(await check("bob", "long enough")).toBe("The name or the password is wrong.");
  expect(await check("ann", "long enough", "http://127.0.0.1:1")).toBe("The service cannot be reached.");
  expect(await program.list()).toBe("[]");
});

test("a tick that changes nothing, or is stored, leaves no subscriber behind, who would keep the list connected", async () => {
  const { service, list, actions, listed, untilShown, untilSent } = await open();
  await service.create(named(ids.one, "One"));
  await untilShown("One");
  let subscribers = 0;
  const subscribe = list.subscribe.bind(list);
  Object.assign(list, {
    subscribe(listener: () => void) {
      const unsubscribe = subscribe(listener);
      subscribers++;
      return () => {
        subscribers--;
        unsubscribe();
      };
    },
  });
  await actions.setDone(listed("One"), false);
  expect(subscribers).toBe(0);
  await actions.setDone(listed("One"), true);
  await untilSent();
  expect(subscribers).toBe(0);
});
