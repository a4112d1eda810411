// What the user sees of the session: items, messages and the state of the service. The service is the real one, in this
// process, with its change feed.

import { expect, test } from "bun:test";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { eventually } from "../eventually.ts";
import { ids, Service } from "../service.ts";
import { entry, named, shown, untilLive, untilSent, useSessions } from "./session-fixture.ts";

const { open } = useSessions();

test("an edit is shown at once and stays visible while it is sent, stored and reported by the change feed", async () => {
  const { service, session, names } = await open();
  session.start();
  await untilLive(session);
  const seen = new Set<string>();
  session.subscribe(() => seen.add(names().join()));
  session.actions.add(entry("One"));
  expect(shown(session, "One").pending).toBe(true);
  await eventually(async () => expect(session.list.version).toBe(1));
  expect(shown(session, "One")).toMatchObject({ pending: false, conflict: undefined });
  expect([...seen]).toEqual(["One"]);
  expect(await service.list()).toBe(`[${shown(session, "One").json}]`);
});

test("an edit that the change feed reports before its answer arrives leaves the outbox with the answer", async () => {
  const { network, outbox, session, names } = await open();
  session.start();
  await untilLive(session);
  const answer = Promise.withResolvers<void>();
  network.answersAfter = answer.promise;
  session.actions.add(entry("One"));
  await eventually(async () => expect(session.list.version).toBe(1));
  expect([names(), session.outbox.unsentCount]).toEqual([["One"], 1]);
  answer.resolve();
  await eventually(async () => expect(outbox.entries).toEqual([]));
  expect(names()).toEqual(["One"]);
});

test("new items that a read-only service does not keep disappear, with one message for all of them", async () => {
  const { session, names } = await open({ readOnly: true });
  session.start();
  await untilLive(session);
  expect(session.list.readOnly).toBe(true);
  session.actions.add(entry("One"));
  await untilSent(session);
  session.actions.add(entry("Two"), entry("Three"));
  await untilSent(session);
  expect([names(), session.notices.all]).toMatchObject([[], [{ text: "Not kept: this service is read-only." }]]);
});

test("edits that were made before the service became read-only wait until it is writable again, and a deletion offers no Undo", async () => {
  const engine = new MemoryEngine();
  const writable = await Service.on(engine);
  await writable.create(named(ids.one, "One"));
  const { network, session, names } = await open();
  const readOnly = await Service.on(engine, { readOnly: true });
  network.service = writable;
  session.start();
  await untilLive(session);
  network.state = "down";
  network.breakFeeds();
  await eventually(() => session.list.connection === "lost");
  session.actions.save(shown(session, "One"), named(ids.one, "Typed"));
  network.state = "up";
  network.service = readOnly;
  session.reconnect();
  await untilLive(session);
  // The service is read-only now: it answers the user's next edits, but stores nothing. These edits must not change
  // the edit that still waits to be sent.
  session.actions.add(entry("Two"));
  session.actions.remove(shown(session, "Typed"));
  expect(session.notices.all.filter(({ action }) => action !== undefined)).toEqual([]);
  await eventually(async () => expect(names()).toEqual(["Typed"]));
  expect([session.list.readOnly, session.outbox.pausedCount, session.outbox.unsentCount]).toEqual([true, 1, 1]);
  network.service = writable;
  session.reconnect();
  await untilSent(session);
  expect(await writable.list()).toBe(`[${named(ids.one, "Typed")}]`);
  for (const { collection } of [writable, readOnly]) await collection.close();
});

test("leaving the page sends the deletions that could be undone, and gives up every unsent edit", async () => {
  const { service, network, outbox, session } = await open();
  await service.create(named(ids.one, "One"));
  await service.create(named(ids.two, "Two"));
  session.start();
  await untilLive(session);
  network.answersAfter = new Promise(() => {});
  session.actions.remove(shown(session, "One"));
  session.actions.remove(shown(session, "Two"));
  session.leave();
  expect(outbox.entries).toEqual([]);
  await eventually(async () => expect(await service.list()).toBe("[]"));
});

test("only the last three messages are kept, and none twice", async () => {
  const { session } = await open();
  for (const text of ["1", "2", "3", "4", "4"]) session.notices.add("done", text);
  expect(session.notices.all.map(({ text }) => text)).toEqual(["2", "3", "4"]);
  session.notices.close(session.notices.all[1]?.key ?? -1);
  expect(session.notices.all.map(({ text }) => text)).toEqual(["2", "4"]);
});
