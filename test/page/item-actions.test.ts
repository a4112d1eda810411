// What the user does to items, and what the service then stores. The service is the real one, in this process.

import { expect, test } from "bun:test";
import { eventually } from "../eventually.ts";
import { ids } from "../service.ts";
import { entry, named, numbered, shown, untilLive, untilSent, useSessions } from "./session-fixture.ts";

const { open } = useSessions();

test("a new item spells its field names as the newest item does", async () => {
  const { service, session } = await open();
  await service.create(`{"id":"${ids.one}","name":"camel"}`);
  session.start();
  await untilLive(session);
  session.actions.add(entry("Two"));
  expect(JSON.parse(shown(session, "Two").json)).toMatchObject({ name: "Two", notes: "", done: false });
});

test("a deletion is sent when its message is closed, and not before", async () => {
  const { service, network, session, names } = await open();
  await service.create(named(ids.one, "One"));
  session.start();
  await untilLive(session);
  session.actions.remove(shown(session, "One"));
  expect([names(), session.notices.all[0]?.text]).toEqual([[], "Deleted “One”"]);
  expect(network.requests.filter((request) => request.startsWith("DELETE"))).toEqual([]);
  session.notices.close(session.notices.all[0]?.key ?? -1);
  await untilSent(session);
  expect(await service.list()).toBe("[]");
});

test("a fourth message closes the first one, which sends its deletion", async () => {
  const { service, session } = await open();
  for (const id of [ids.one, ids.two, ids.three]) await service.create(named(id, id));
  await service.create(named(numbered(4), "Four"));
  session.start();
  await untilLive(session);
  for (const item of session.items) session.actions.remove(item);
  await eventually(async () => expect(await service.list()).not.toContain("Four"));
  expect([session.notices.all.length, session.outbox.unsentCount]).toEqual([3, 3]);
});

test("several names are listed in the order in which they were added, and adding them is undone in one step, whether they were sent or not", async () => {
  const { service, network, session, names } = await open();
  session.start();
  await untilLive(session);
  session.actions.add(entry("One"), entry("Two"));
  await untilSent(session);
  expect(names()).toEqual(["One", "Two"]);
  session.notices.act(session.notices.all[0]?.key ?? -1);
  await untilSent(session);
  expect([names(), await service.list()]).toEqual([[], "[]"]);
  network.state = "down";
  session.actions.add(entry("Three"), entry("Four"));
  session.notices.act(session.notices.all.at(-1)?.key ?? -1);
  network.state = "up";
  await untilSent(session);
  expect([names(), await service.list()]).toEqual([[], "[]"]);
});
