// Following the list through the change feed of a real service, which is in this process.

import { expect, test } from "bun:test";
import { eventually } from "../eventually.ts";
import { ids } from "../service.ts";
import { entry, named, untilLive, untilSent, useSessions } from "./session-fixture.ts";

const { open } = useSessions();

test("the list is shown newest first, and changes made elsewhere arrive by themselves", async () => {
  const { service, session, names } = await open();
  await service.create(named(ids.one, "One"));
  session.start();
  await untilLive(session);
  expect([session.list.loaded, names()]).toEqual([true, ["One"]]);
  await service.create(named(ids.two, "Two"));
  await eventually(async () => expect(names()).toEqual(["Two", "One"]));
  await service.fetch("DELETE", `/api/todoitems/${ids.one}`);
  await eventually(async () => expect(names()).toEqual(["Two"]));
});

test("a list that cannot be read is reported with a way to try again", async () => {
  const { network, session } = await open();
  network.state = 500;
  session.start();
  await eventually(async () => expect(session.notices.all).toHaveLength(1));
  expect([session.list.connection, session.list.loaded]).toEqual(["lost", false]);
  expect(session.notices.all[0]?.text).toStartWith("The list cannot be read: ");
  network.state = "up";
  session.notices.act(session.notices.all[0]?.key ?? -1);
  await untilLive(session);
});

test("the message that the list cannot be read goes when the list is read again without its button", async () => {
  const { network, session } = await open();
  network.state = 500;
  session.start();
  await eventually(() => expect(session.notices.all).toHaveLength(1));
  network.state = "up";
  session.reconnect();
  await eventually(() => expect(session.notices.all).toEqual([]));
});

test("if the service answers but cannot show the list, its reason is known until the list arrives", async () => {
  const { network, session } = await open();
  network.state = 503;
  session.start();
  await eventually(() => expect(session.list.connection).toBe("lost"));
  expect(session.list.refusal).toContain("503");
  network.state = "down";
  session.reconnect();
  await eventually(() => expect(session.list.refusal).toBeUndefined());
  network.state = 503;
  session.reconnect();
  await eventually(() => expect(session.list.refusal).toContain("503"));
  network.state = "up";
  session.reconnect();
  await untilLive(session);
  expect(session.list.refusal).toBeUndefined();
});

test("edits made while the connection is lost are sent when it is back", async () => {
  const { service, network, session } = await open();
  network.state = "down";
  session.start();
  await eventually(async () => expect(session.list.connection).toBe("lost"));
  session.actions.add(entry("One"));
  session.actions.add(entry("Two"));
  expect(session.outbox.unsentCount).toBe(2);
  network.state = "up";
  session.reconnect();
  await untilSent(session);
  expect(session.list.connection).toBe("live");
  expect(JSON.parse(await service.list())).toMatchObject([{ Name: "One" }, { Name: "Two" }]);
});

test("a resting page sends its edits, but after a failure it sends nothing until it has seen the store again", async () => {
  const { service, network, outbox, session } = await open();
  session.start();
  await untilLive(session);
  session.list.rest();
  session.actions.add(entry("One"));
  await untilSent(session);
  network.state = "down";
  session.actions.add(entry("Two"));
  await eventually(() => outbox.entries.some(({ maybeStored }) => maybeStored));
  network.state = "up";
  expect([outbox.next(Date.now()), session.outbox.unsentCount]).toEqual([undefined, 1]);
  session.reconnect();
  await untilSent(session);
  expect(JSON.parse(await service.list())).toMatchObject([{ Name: "One" }, { Name: "Two" }]);
});

test("after a rest, the page receives only what has changed, and not the whole list", async () => {
  const { service, network, session, names } = await open();
  await service.create(named(ids.one, "One"));
  session.start();
  await untilLive(session);
  session.list.rest();
  await service.create(named(ids.two, "Two"));
  session.reconnect();
  await eventually(() => expect(names()).toEqual(["Two", "One"]));
  expect(network.exchanges).toEqual([
    "/changes/delta 200",
    "/changes/events?since=… 200 events",
    "/changes/events?since=… 200 events",
  ]);
});
