// Undoing what the user did, with a message's button or with Ctrl+Z. The service is the real one, in this process.

import { expect, test } from "bun:test";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { eventually } from "../eventually.ts";
import { ids, item, Service } from "../service.ts";
import { entry, guarded, named, shown, signIn, untilLive, untilSent, useSessions } from "./session-fixture.ts";

const { open } = useSessions();

test("undoing a deletion leaves every item in its place, and the service never hears of it", async () => {
  const { service, network, session, names } = await open();
  await service.create(named(ids.one, "One"));
  await service.create(named(ids.two, "Two"));
  session.start();
  await untilLive(session);
  session.actions.remove(...session.items);
  expect([names(), session.notices.all[0]?.text]).toEqual([[], "Deleted 2 items"]);
  session.notices.act(session.notices.all[0]?.key ?? -1);
  expect([names(), session.outbox.unsentCount, session.notices.all]).toEqual([["Two", "One"], 0, []]);
  expect(network.requests.filter((request) => request.startsWith("DELETE"))).toEqual([]);
});

test("undoing a deletion brings the item back, even if the deletion was stored and its answer was lost", async () => {
  const { service, network, session, outbox } = await open();
  await service.create(named(ids.one, "One"));
  session.start();
  await untilLive(session);
  network.state = "lossy";
  session.actions.remove(shown(session, "One"));
  outbox.release(new Set([ids.one]));
  session.actions.add(entry("Two"));
  await eventually(async () => expect(await service.list()).toBe("[]"));
  session.notices.act(session.notices.all[0]?.key ?? -1);
  network.state = "up";
  session.reconnect();
  await untilSent(session);
  expect(JSON.parse(await service.list())).toMatchObject([{ Name: "Two" }, { Name: "One" }]);
});

test("several items that are created again have the order that they had before", async () => {
  const { service, session, names } = await open();
  session.start();
  await untilLive(session);
  session.actions.add(entry("One"), entry("Two"), entry("Three"));
  await untilSent(session);
  session.actions.remove(...session.items);
  session.notices.close(session.notices.all.at(-1)?.key ?? -1);
  await untilSent(session);
  expect(await service.list()).toBe("[]");
  session.undo.undoNewest();
  expect([names(), session.focusId]).toEqual([["One", "Two", "Three"], shown(session, "One").id]);
  await untilSent(session);
  expect(JSON.parse(await service.list())).toMatchObject([{ Name: "Three" }, { Name: "Two" }, { Name: "One" }]);
  // The additions are undone, and then brought back with the button.
  session.undo.undoNewest();
  await untilSent(session);
  session.notices.act(session.notices.all.at(-1)?.key ?? -1);
  await untilSent(session);
  expect(names()).toEqual(["One", "Two", "Three"]);
});

test("an offer to go on with what was typed ends when the item is saved or deleted", async () => {
  const { service, session } = await open();
  await service.create(named(ids.one, "One"));
  session.start();
  await untilLive(session);
  const one = shown(session, "One");
  const offer = () => {
    session.undo.offerDraft(one, () => {});
    expect(session.notices.all.map(({ text }) => text)).toEqual(["Your change of “One” was not saved."]);
  };
  offer();
  session.actions.save(one, named(ids.one, "Two"));
  expect(session.notices.all).toEqual([]);
  await untilSent(session);
  offer();
  await service.fetch("DELETE", `/api/todoitems/${ids.one}`);
  await eventually(() => session.notices.all.length === 0);
});

test("the newest deletion is undone first, and the restored item gets the focus", async () => {
  const { service, session, names } = await open();
  await service.create(named(ids.one, "One"));
  await service.create(named(ids.two, "Two"));
  session.start();
  await untilLive(session);
  session.actions.remove(shown(session, "Two"));
  session.actions.remove(shown(session, "One"));
  session.undo.undoNewest();
  expect([names(), session.focusId]).toEqual([["One"], ids.one]);
  session.hasFocused();
  session.undo.undoNewest();
  expect([names(), session.focusId, session.notices.all]).toEqual([["Two", "One"], ids.two, []]);
  session.undo.undoNewest();
  expect(session.notices.all).toMatchObject([{ text: "There is nothing to undo." }]);
});

test("deletions, ticks and other edits are undone one by one, even after the service has stored them", async () => {
  const { service, session, names } = await open();
  await service.create(item(ids.one, '"Name":"One","Done":false'));
  session.start();
  await untilLive(session);
  session.actions.setDone(shown(session, "One"), true);
  await untilSent(session);
  session.actions.save(shown(session, "One"), shown(session, "One").json.replace("One", "Two"));
  session.actions.remove(shown(session, "Two"));
  session.notices.close(session.notices.all[0]?.key ?? -1);
  await untilSent(session);
  expect(await service.list()).toBe("[]");
  session.undo.undoNewest();
  session.undo.undoNewest();
  expect([names(), shown(session, "One").fields.done]).toEqual([["One"], true]);
  await untilSent(session);
  session.undo.undoNewest();
  await untilSent(session);
  expect(await service.list()).toBe(`[${item(ids.one, '"Name":"One","Done":false')}]`);
});

test("added items are undone too: one by one if they were typed, at once if they were pasted, with or without the message", async () => {
  const { service, session, names } = await open();
  session.start();
  await untilLive(session);
  session.actions.add(entry("One"));
  session.actions.add(entry("Two"), entry("Three"));
  session.actions.add(entry("Four"));
  expect(session.notices.all.map(({ text }) => text)).toEqual(["Added 2 items"]);
  session.notices.close(session.notices.all[0]?.key ?? -1);
  await untilSent(session);
  session.undo.undoNewest();
  expect(names()).toEqual(["Two", "Three", "One"]);
  session.undo.undoNewest();
  expect(names()).toEqual(["One"]);
  expect(session.notices.all).toMatchObject([{ text: "Removed 2 items" }]);
  session.undo.undoNewest();
  await untilSent(session);
  expect([names(), await service.list()]).toEqual([[], "[]"]);
  session.undo.undoNewest();
  expect(session.notices.all).toMatchObject([{ text: "Removed “One”" }, { text: "There is nothing to undo." }]);
});

test("the message that there is nothing to undo goes when something is undone", async () => {
  const { session, names } = await open();
  session.start();
  await untilLive(session);
  session.undo.undoNewest();
  expect(session.notices.all).toMatchObject([{ text: "There is nothing to undo." }]);
  session.actions.add(entry("One"));
  session.undo.undoNewest();
  expect(names()).toEqual([]);
  expect(session.notices.all).toMatchObject([{ text: "Removed “One”" }]);
});

test("an item that was removed by undoing its addition can be brought back, and the message then goes", async () => {
  const { service, session, names } = await open();
  session.start();
  await untilLive(session);
  session.actions.add(entry("One"));
  await untilSent(session);
  session.undo.undoNewest();
  await untilSent(session);
  expect(await service.list()).toBe("[]");
  session.notices.act(session.notices.all[0]?.key ?? -1);
  await untilSent(session);
  expect([names(), session.notices.all]).toEqual([["One"], []]);
});

test("the message about a deletion goes when the deletion is discarded", async () => {
  const { session, names } = await open(await guarded("writes"));
  session.start();
  await untilLive(session);
  await signIn(session);
  session.actions.add(entry("One"));
  await untilSent(session);
  session.signIn.signOut();
  await eventually(() => expect(names()).toEqual(["One"]));
  session.actions.remove(shown(session, "One"));
  expect(session.notices.all).toMatchObject([{ text: "Deleted “One”" }]);
  session.decisions.discardUnsent();
  expect(names()).toEqual(["One"]);
  expect(session.notices.all).toMatchObject([{ text: "Discarded 1 change" }]);
});

test("an item that was added again after a deletion elsewhere can be undone", async () => {
  const { session, names } = await open();
  session.start();
  await untilLive(session);
  session.actions.addAgain(ids.one, named(ids.one, "One"));
  expect(names()).toEqual(["One"]);
  session.undo.undoNewest();
  expect(names()).toEqual([]);
});

test("undoing an added item that somebody else has changed asks, and one that is gone is passed over", async () => {
  const { service, session, names } = await open();
  session.start();
  await untilLive(session);
  const [id = ""] = session.actions.add(entry("One"));
  const [goneId = ""] = session.actions.add(entry("Two"));
  await untilSent(session);
  await service.fetch("DELETE", `/api/todoitems/${goneId}`);
  await service.send("PUT", "/api/todoitems/", named(id, "Theirs"));
  await eventually(() => expect(names()).toEqual(["Theirs"]));
  session.undo.undoNewest();
  await eventually(() => shown(session, "Theirs").conflict?.deletes === true);
});

test("pasted items are taken back with the changes that the user has made to them, without a question", async () => {
  const { service, session, names } = await open();
  session.start();
  await untilLive(session);
  session.actions.add(entry("One"), entry("Two"), entry("Three"));
  session.actions.setDone(shown(session, "Two"), true);
  await untilSent(session);
  session.actions.save(shown(session, "One"), shown(session, "One").json.replace("One", "Eins"));
  await untilSent(session);
  session.notices.act(session.notices.all[0]?.key ?? -1);
  await untilSent(session);
  expect([names(), await service.list()]).toEqual([[], "[]"]);
  expect(session.notices.all).toMatchObject([{ text: "Removed 3 items" }]);
  // The tick and the new name went with the items, so there is nothing left to undo.
  session.undo.undoNewest();
  expect(session.notices.all.at(-1)).toMatchObject({ text: "There is nothing to undo." });
  expect([names(), session.outbox.unsentCount]).toEqual([[], 0]);
  const removal = session.notices.all.find(({ text }) => text === "Removed 3 items");
  session.notices.act(removal?.key ?? -1);
  await untilSent(session);
  expect([names(), shown(session, "Two").fields.done]).toEqual([["Eins", "Two", "Three"], true]);
});

test("pasted items that somebody else has changed are not counted as removed before the user has decided", async () => {
  const { service, session, names } = await open();
  session.start();
  await untilLive(session);
  const [, id = ""] = session.actions.add(entry("One"), entry("Two"), entry("Three"));
  await untilSent(session);
  await service.send("PUT", "/api/todoitems/", named(id, "Theirs"));
  await eventually(() => names().includes("Theirs"));
  session.notices.act(session.notices.all[0]?.key ?? -1);
  expect(session.notices.all).toMatchObject([{ text: "Removed 2 items" }]);
  await eventually(() => shown(session, "Theirs").conflict?.deletes === true);
  expect(names()).toEqual(["Theirs"]);
});

test("what was added on a read-only service is not undone, because it was never kept", async () => {
  const { session } = await open({ readOnly: true });
  session.start();
  await untilLive(session);
  session.actions.add(entry("One"));
  session.undo.undoNewest();
  expect(session.notices.all).toMatchObject([{ text: "There is nothing to undo." }]);
});

test("undoing an edit keeps what somebody else has changed since, and asks if that is the same field", async () => {
  const { service, session } = await open();
  await service.create(item(ids.one, '"Name":"One","Done":false'));
  session.start();
  await untilLive(session);
  session.actions.setDone(shown(session, "One"), true);
  await untilSent(session);
  session.actions.save(shown(session, "One"), item(ids.one, '"Name":"Mine","Done":true'));
  await untilSent(session);
  await service.send("PUT", "/api/todoitems/", item(ids.one, '"Name":"Theirs","Done":true'));
  await eventually(() => shown(session, "Theirs").json);
  session.undo.undoNewest();
  await eventually(() => session.items[0]?.conflict !== undefined);
  session.decisions.decide(ids.one, "theirs");
  await eventually(() => shown(session, "Theirs").conflict === undefined);
  session.undo.undoNewest();
  await untilSent(session);
  expect(await service.list()).toBe(`[${item(ids.one, '"Name":"Theirs","Done":false')}]`);
});

test("what the user did on another store cannot be undone any more", async () => {
  const { service, network, session } = await open();
  await service.create(item(ids.one, '"Name":"One","Done":false'));
  session.start();
  await untilLive(session);
  session.actions.setDone(shown(session, "One"), true);
  await untilSent(session);
  network.service = await Service.on(new MemoryEngine());
  network.breakFeeds();
  await eventually(() => session.items.length === 0);
  session.undo.undoNewest();
  expect(session.notices.all).toMatchObject([{ text: "There is nothing to undo." }]);
  await network.service.collection.close();
});
