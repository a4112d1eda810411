// Messages about edits that the service has refused. The service is the real one, in this process.

import { expect, test } from "bun:test";
import { eventually } from "../eventually.ts";
import { ids } from "../service.ts";
import { entry, named, shown, untilLive, untilSent, useSessions } from "./session-fixture.ts";

const { open } = useSessions();

/** Opens a page on a service that refuses items without a category and items of more than 300 bytes. */
async function openStrict() {
  const opened = await open({ requiredFields: ["Category"], bodyBytesMax: 300 });
  opened.session.start();
  await untilLive(opened.session);
  const texts = () => opened.session.notices.all.map(({ text }) => text);
  const untilTexts = (...expected: string[]) => eventually(() => expect(texts()).toEqual(expected));
  const corrected = (name: string) => shown(opened.session, name).json.replace("{", '{"Category":"Food",');
  return { ...opened, texts, untilTexts, corrected };
}

const notAdded = (what: string) => expect.stringMatching(new RegExp(`^${what} not added: .*Category`));

test("the message about a refused item goes when the item is corrected and stored", async () => {
  const { session, texts, untilTexts, corrected } = await openStrict();
  session.actions.add(entry("Milk"));
  await untilTexts(notAdded("“Milk” was"));
  session.actions.save(shown(session, "Milk"), corrected("Milk"));
  await untilSent(session);
  expect(texts()).toEqual([]);
});

test("the message about a refused item goes when the change is discarded or the item is deleted", async () => {
  const { session, untilTexts } = await openStrict();
  session.actions.add(entry("Milk"));
  await untilTexts(notAdded("“Milk” was"));
  session.decisions.discardRefused(shown(session, "Milk").id);
  await untilTexts("Discarded 1 change");
  session.actions.add(entry("Bread"));
  await untilTexts("Discarded 1 change", notAdded("“Bread” was"));
  session.actions.remove(shown(session, "Bread"));
  session.notices.close(session.notices.all.at(-1)?.key ?? -1);
  await untilTexts("Discarded 1 change");
});

test("if all of several new items are refused, no message says that they were added", async () => {
  const { session, texts, untilTexts } = await openStrict();
  session.actions.add(entry("Milk"), entry("Bread"));
  expect(texts()).toEqual(["Added 2 items"]);
  await untilTexts(notAdded("2 items were"));
});

test("an item that is edited and refused again has one message", async () => {
  const { session, untilTexts } = await openStrict();
  session.actions.add(entry("Milk"));
  await untilTexts(notAdded("“Milk” was"));
  const milk = shown(session, "Milk");
  session.actions.save(milk, milk.json.replace("Milk", "Oat milk"));
  await untilTexts(notAdded("“Oat milk” was"));
});

test("items that are refused for the same reason share a message, which goes with the last of them", async () => {
  const { session, texts, untilTexts, corrected } = await openStrict();
  session.actions.add(entry("One"), entry("Two"), entry("Three"));
  await untilTexts(notAdded("3 items were"));
  session.actions.save(shown(session, "One"), corrected("One"));
  await eventually(() => shown(session, "One").pending === false);
  expect(texts()).toHaveLength(1);
  for (const name of ["Two", "Three"]) session.actions.save(shown(session, name), corrected(name));
  await untilSent(session);
  expect(texts()).toEqual([]);
});

test("items that are refused for different reasons have different messages", async () => {
  const { session, untilTexts } = await openStrict();
  session.actions.add(entry("Milk"));
  await untilTexts(notAdded("“Milk” was"));
  session.actions.add(entry("x".repeat(300)));
  await untilTexts(notAdded("“Milk” was"), expect.stringContaining("300 bytes"));
});

test("the message about a refused deletion goes when the item is deleted elsewhere or edited again", async () => {
  const { service, network, session } = await open();
  await service.create(named(ids.one, "One"));
  await service.create(named(ids.two, "Two"));
  session.start();
  await untilLive(session);
  const refuse = async (name: string) => {
    network.state = 403;
    session.actions.remove(shown(session, name));
    session.notices.close(session.notices.all[0]?.key ?? -1);
    await eventually(() => session.notices.all[0]?.text.startsWith("The item was not deleted: ") === true);
    network.state = "up";
  };
  await refuse("One");
  session.actions.save(shown(session, "One"), named(ids.one, "One, edited"));
  await eventually(() => session.notices.all.length === 0);
  await refuse("Two");
  await service.fetch("DELETE", `/api/todoitems/${ids.two}`);
  await eventually(() => session.notices.all.length === 0);
});
