// Tests in a real Chromium that typed text and unsent edits are never lost. This must hold whatever other people, the
// service or the browser do meanwhile.

import { expect, test } from "bun:test";
import { ids } from "../service.ts";
import { barriers } from "./axe.ts";
import type { PageDriver } from "./page-driver.ts";
import { named, usePages } from "./page-fixture.ts";

const pages = usePages();

/** Waits for the sign-in form, fills it in and sends it. */
async function signIn(page: PageDriver): Promise<void> {
  await page.until("document.querySelector('dialog.sign-in')");
  await page.fill('[data-control="username"]', "ann");
  await page.fill('[data-control="password"]', "long enough");
  await page.view.press("Enter");
  await page.until("!document.querySelector('dialog')");
}

const textIn = (page: PageDriver, control: string) =>
  page.evaluate<string>(`document.querySelector('[data-control="${control}"]').value`);

test("text that the service refuses stays on the page with the reason, and can be corrected or discarded", async () => {
  await pages.start("--body-limit", "200");
  await pages.create(named(ids.one, "Short"));
  const page = await pages.openPage();
  const long = "x".repeat(300);
  await page.add(long);
  await page.untilText("was not added");
  await page.untilText("200 bytes");
  await page.untilNames(long, "Short");
  await page.click('[data-control="refused"]');
  await page.untilText("Not saved:");
  expect(await page.evaluate<string>("document.querySelector('[data-control=name]').value")).toBe(long);
  await page.fill('[data-control="name"]', "Shorter");
  await page.clickButton("Save");
  await pages.untilStored((items) => items[1]?.["Name"] === "Shorter");

  await page.clickItem("Short", "text");
  await page.fill('[data-control="name"]', long);
  await page.clickButton("Save");
  await page.untilText("was not saved");
  await page.untilNames("Shorter", long);
  await page.click('[data-control="refused"]');
  await page.clickButton("Discard this change");
  await page.untilNames("Shorter", "Short");
});

test("text stays in the editor if the item is deleted elsewhere, and can be added again", async () => {
  await pages.start();
  await pages.create(named(ids.one, "One"), named(ids.two, "Two"), named(ids.three, "Three"));
  const page = await pages.openPage();
  await page.clickItem("Two", "text");
  await page.fill('[data-control="name"]', "Two, typed");
  // Opening another editor does not close the first one.
  await page.clickItem("Three", "text");
  await page.until("document.querySelectorAll('.editor').length === 2");
  await page.view.press("Escape");
  await pages.send("DELETE", `/api/todoitems/${ids.two}`);
  await page.untilText("Deleted meanwhile");
  await page.untilNames("Three", "One");
  expect(await page.evaluate<string>("document.querySelector('[data-control=name]').value")).toBe("Two, typed");
  await page.clickButton("Add again");
  await pages.untilStored((items) => items[2]?.["Name"] === "Two, typed" && items[2]?.["ID"] === ids.two);
  await page.untilNames("Two, typed", "Three", "One");
  await page.until(`document.activeElement.closest("li")?.dataset.id === "${ids.two}"`);
});

test("after starting over from another person's version, the user can go on with the typed text", async () => {
  await pages.start();
  await pages.create(named(ids.one, "One"), named(ids.two, "Two"));
  const page = await pages.openPage();
  await page.clickItem("One", "text");
  await page.fill('[data-control="notes"]', "A long text");
  await pages.send("PUT", "/api/todoitems/", named(ids.one, "Theirs"));
  await page.clickButton("Start over from theirs");
  await page.until("document.querySelector('[data-control=name]').value === 'Theirs'");
  await page.until("document.querySelector('[data-control=notes]').value === ''");
  expect(await page.focused()).toBe("name");
  await page.clickButton("Go on editing");
  await page.until("document.querySelector('[data-control=notes]').value === 'A long text'");
  await page.clickButton("Save");
  await pages.untilStored(([one]) => one?.["Name"] === "Theirs" && one["Notes"] === "A long text");
});

test("somebody who deletes an item that was changed meanwhile sees what was changed, and may keep the item", async () => {
  await pages.start();
  await pages.create(named(ids.one, "One"));
  const page = await pages.openPage();
  await page.clickItem("One", "delete");
  await pages.send("PUT", "/api/todoitems/", named(ids.one, "One", '"Notes":"important","Done":false'));
  await page.click('[data-control="dismiss"]');
  await page.untilText("Changed elsewhere");
  await page.clickButton("Decide");
  await page.until("document.querySelector('.differences')");
  expect(await page.evaluate<string>("document.querySelector('.differences').innerText.trim()")).toBe(
    "Field\tWhen you deleted it\tNow\nNotes\tempty\timportant",
  );
  await page.click('[data-control="theirs"]');
  await page.untilNames("One");
});

test("an item that is added while a filter or a search hides it is shown", async () => {
  await pages.start();
  await pages.create(named(ids.one, "Milk", '"Done":true'));
  const page = await pages.openPage();
  await page.click('[data-filter="done"]');
  await page.add("Bread");
  await page.untilNames("Bread", "Milk");
  await page.fill('[data-control="search"]', "milk");
  await page.untilNames("Milk");
  await page.add("Honey");
  await page.untilNames("Honey", "Milk");
  // The filter and the search have stayed as they were. Once the search is cleared, the filter hides the new items.
  expect(await textIn(page, "search")).toBe("milk");
  await page.click('[data-control="clear-search"]');
  await page.untilNames("Milk");
  expect([await page.focused(), await textIn(page, "search")]).toEqual(["search", ""]);
  // An item that the user saves stays in sight, too, even if it does not fit the search any more.
  await page.fill('[data-control="search"]', "milk");
  await page.untilNames("Milk");
  await page.clickItem("Milk", "text");
  await page.fill('[data-control="name"]', "Butter");
  await page.clickButton("Save");
  await page.untilNames("Butter");
  await page.click('[data-control="clear-search"]');
  // An added item that the user ticks is hidden like any other.
  await page.click('[data-filter="open"]');
  await page.add("Tea");
  await page.untilNames("Tea", "Honey", "Bread");
  await page.clickItem("Tea", "tick");
  await page.untilNames("Honey", "Bread");
  await page.untilText("Marked “Tea” as done");
});

test("if sign-in is cancelled after an add, the item stays and is sent after a later sign-in", async () => {
  await pages.start("--auth", "writes", "--users", await pages.oneUser());
  const page = await pages.openPage();
  await page.untilText("Nothing to do");
  await page.add("For Ann");
  await page.click('[data-banner="sign-in"] button');
  await page.until("document.querySelector('dialog.sign-in')");
  await page.clickButton("Cancel");
  await page.untilText("1 change is not sent.");
  await page.untilNames("For Ann");
  await page.click('[data-banner="sign-in"] button');
  await signIn(page);
  await pages.untilStored((items) => items.length === 1);
  expect(await pages.listed()).toMatchObject([{ Name: "For Ann" }]);
});

test("if the list needs a sign-in, the form can be closed and opened again, and what was typed stays", async () => {
  await pages.start("--auth", "all", "--users", await pages.oneUser());
  const page = await pages.openPage();
  await page.until("document.querySelector('dialog.sign-in')");
  await page.fill('[data-control="username"]', "ann");
  await page.view.press("Escape");
  await page.untilText("You are not signed in");
  // The page does not know the number of items before the user signs in, so it shows none.
  expect(await page.evaluate<number>("document.querySelectorAll('.count').length")).toBe(0);
  expect(await barriers(page)).toEqual([]);
  await page.click('[data-control="connect"]');
  await page.until("document.querySelector('dialog.panel[open]')");
  await page.view.press("Escape");
  await page.until("!document.querySelector('dialog')");
  await page.click('[data-control="composer"]');
  await page.view.type("For Ann");
  await page.click('[data-empty="signed-out"] button');
  await page.until("document.querySelector('dialog.sign-in')");
  expect([await textIn(page, "username"), await textIn(page, "composer")]).toEqual(["ann", "For Ann"]);
  // The name is there already, so the password comes next.
  expect(await page.focused()).toBe("password");
  await page.clickButton("Cancel");
  await page.until("!document.querySelector('dialog')");
  await page.click('[data-control="composer"]');
  await page.view.press("Enter");
  await page.untilText("1 change is not sent. Sign in to send and to see the list");
  await page.untilNames("For Ann");
  await page.click('[data-banner="sign-in"] button');
  await signIn(page);
  await page.until("document.querySelector('.row').dataset.pending === 'false'");
  await page.untilNames("For Ann");
  await page.click('[data-control="connect"]');
  await page.untilText("curl -u ann ");
});

test("the page says for whom an unsent change waits after a sign-out", async () => {
  await pages.start("--auth", "writes", "--users", await pages.oneUser());
  const page = await pages.openPage();
  await page.click('[data-control="sign-in"]');
  await signIn(page);
  await pages.restart(async () => {
    await page.untilText("The service cannot be reached.");
    await page.add("One");
    await page.click('[data-control="sign-out"]');
    await page.untilText("1 change is kept for ann, and not sent until ann signs in again or you say so: “One”.");
  });
});

test("what was typed into an editor survives a sign-out, and is saved after the next sign-in", async () => {
  await pages.start("--auth", "all", "--users", await pages.oneUser());
  const page = await pages.openPage();
  await signIn(page);
  await page.add("Milk");
  await page.until("document.querySelector('.row').dataset.pending === 'false'");
  await page.clickItem("Milk", "text");
  await page.fill('[data-control="name"]', "Oat milk");
  await page.click('[data-control="sign-out"]');
  await page.until("document.querySelector('dialog.sign-in[open]')");
  await page.view.press("Escape");
  await page.until("!document.querySelector('dialog')");
  expect(await textIn(page, "name")).toBe("Oat milk");
  await page.click('[data-control="sign-in"]');
  await signIn(page);
  await page.untilText("Live");
  expect(await textIn(page, "name")).toBe("Oat milk");
  await page.clickButton("Save");
  await page.untilNames("Oat milk");
  await page.until("document.querySelector('.row').dataset.pending === 'false'");
});

for (const which of ["mine", "theirs"] as const) {
  test(`a conflict shows both versions, and the user can keep ${which}`, async () => {
    await pages.start();
    await pages.create(named(ids.one, "Plan", '"n":1.0'));
    const page = await pages.openPage();
    await page.clickItem("Plan", "text");
    await pages.send("PUT", "/api/todoitems/", named(ids.one, "Their plan", '"n":2.0'));
    await page.untilText("Changed elsewhere meanwhile");
    await page.fill('[data-control="name"]', "My plan");
    await page.clickButton("Save");
    await page.clickButton("Decide");
    await page.until("document.querySelector('dialog.conflict-dialog')");
    const differences =
      "[...document.querySelectorAll('.differences tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))";
    expect(await page.evaluate<string[][]>(differences)).toEqual([["Name", "My plan", "Their plan"]]);
    expect(await page.evaluate<number>("document.querySelectorAll('dialog .primary').length")).toBe(1);
    await page.click(`[data-control="${which}"]`);
    await page.untilNames(which === "mine" ? "My plan" : "Their plan");
    await pages.untilStored(([plan]) => plan?.["Name"] === (which === "mine" ? "My plan" : "Their plan"));
    expect(await pages.list()).toBe(`[${named(ids.one, which === "mine" ? "My plan" : "Their plan", '"n":2.0')}]`);
    await page.until("!document.querySelector('dialog')");
  });
}

test("a conflict about a long text is shown from its beginning, and the headings stay in sight", async () => {
  await pages.start();
  await pages.create(named(ids.one, "Plan"));
  const page = await pages.openPage();
  await page.show({ width: 360, height: 640, isPhone: true });
  await page.clickItem("Plan", "text");
  await pages.send("PUT", "/api/todoitems/", named(ids.one, "their plan ".repeat(200)));
  await page.untilText("Changed elsewhere meanwhile");
  await page.fill('[data-control="name"]', "My plan");
  await page.clickButton("Save");
  await page.clickItem("My plan", "conflict");
  await page.until("document.querySelector('dialog.conflict-dialog')?.scrollHeight > 1000");
  expect(await page.evaluate<number>("document.querySelector('dialog').scrollTop")).toBe(0);
  await page.evaluate("document.querySelector('dialog').scrollTo(0, 500)");
  await page.until(`(() => {
    const [dialog, heading] = ["dialog", ".differences thead th"].map((one) => document.querySelector(one).getBoundingClientRect());
    return heading.top >= dialog.top;
  })()`);
  await page.click('[data-control="both"]');
  await page.until("document.activeElement.closest('li')?.innerText.includes('My plan')");
});

test("if the browser cannot tell whether another tab is still open, it asks before it sends that tab's edits", async () => {
  const users = await pages.oneUser();
  await pages.start("--auth", "writes", "--users", users);
  const page = await pages.openPage();
  // A browser offers no locks to a page that comes over plain HTTP from another machine. Take the locks away here, too.
  await page.view.cdp("Page.addScriptToEvaluateOnNewDocument", { source: "delete Navigator.prototype.locks" });
  await page.view.reload();
  // The item waits for a sign-in, so it is not sent before the page is reloaded.
  await page.add("One");
  await page.untilText("1 change is not sent.");
  await pages.untilKept(page, 1);
  await page.view.reload();
  await page.untilText("1 change is kept from before, and not sent until you say so: “One”.");
  await page.untilNames();
  await page.clickButton("Discard");
  await pages.untilKept(page, 0);
  await page.untilNames();
});

test("after Escape or Cancel, opening the item shows the stored text, and the message's button brings the typed text back", async () => {
  await pages.start();
  await pages.create(named(ids.one, "One"));
  const page = await pages.openPage();
  const untilName = (name: string) => page.until(`document.querySelector("[data-control=name]")?.value === "${name}"`);
  const messages = () => page.evaluate<number>("document.querySelectorAll('.notice').length");
  await page.clickItem("One", "text");
  await page.fill('[data-control="name"]', "One, typed");
  await page.view.press("Escape");
  await page.untilNames("One");
  await page.untilText("Your change of “One” was not saved.");
  await page.clickButton("Go on editing");
  await page.until("document.activeElement.dataset.control === 'name'");
  expect(await textIn(page, "name")).toBe("One, typed");
  await page.clickButton("Cancel");
  await page.untilText("Your change of “One” was not saved.");
  await page.clickItem("One", "text");
  await page.until("document.activeElement.dataset.control === 'name'");
  expect([await textIn(page, "name"), await messages()]).toEqual(["One", 1]);
  // The button replaces what is in the open editor, and that can be brought back in turn.
  await page.clickButton("Go on editing");
  await untilName("One, typed");
  expect([await page.focused(), await messages()]).toEqual(["name", 0]);
  await page.view.press("Escape");
  await page.clickItem("One", "text");
  await page.fill('[data-control="name"]', "One, retyped");
  for (const name of ["One, typed", "One, retyped"]) {
    await page.clickButton("Go on editing");
    await untilName(name);
    expect([await page.focused(), await messages()]).toEqual(["name", 1]);
  }
  // Saving ends the offer, so no second text can conflict with the saved one.
  await page.clickButton("Save");
  await page.untilNames("One, retyped");
  await page.until("document.activeElement.dataset.control === 'text' && !document.querySelector('.notice')");
  await pages.untilStored(([one]) => one?.["Name"] === "One, retyped");
  // If the item is deleted, the offer disappears.
  await page.clickItem("One, retyped", "text");
  await page.fill('[data-control="name"]', "One, again");
  await page.view.press("Escape");
  await page.untilText("Your change of “One, retyped” was not saved.");
  await pages.send("DELETE", `/api/todoitems/${ids.one}`);
  await page.until("!document.querySelector('.notice')");
});

test("text that cannot be saved as it is can be left with Escape and edited further", async () => {
  await pages.start();
  await pages.create(named(ids.one, "One"));
  const page = await pages.openPage();
  await page.clickItem("One", "text");
  await page.fill('[data-control="notes"]', "some notes");
  await page.fill('[data-control="name"]', " ");
  await page.view.press("Escape");
  await page.untilNames("One");
  await page.clickButton("Go on editing");
  await page.until("document.activeElement.dataset.control === 'name'");
  expect([await textIn(page, "name"), await textIn(page, "notes")]).toEqual([" ", "some notes"]);
  await page.click('[data-control="json-view"]');
  await page.fill('[data-control="json"]', '{"ID": broken');
  await page.clickButton("Cancel");
  await page.untilNames("One");
  // The shortcut for Undo does the same as the button.
  await page.view.press("z", { modifiers: ["Control"] });
  await page.until("document.activeElement.dataset.control === 'json'");
  expect(await textIn(page, "json")).toBe('{"ID": broken');
  await page.fill('[data-control="json"]', named(ids.one, "One, corrected"));
  await page.clickButton("Save");
  await pages.untilStored(([one]) => one?.["Name"] === "One, corrected");
});

test("the editor keeps line breaks and values that are not text, and refuses an empty name", async () => {
  await pages.start();
  const numbered = `{"ID":"${ids.two}","Name":77,"Notes":["a"],"Done":false}`;
  await pages.create(named(ids.one, "Milk\\nand bread"), numbered);
  const page = await pages.openPage();
  await page.clickItem("Milk\nand bread", "text");
  expect(await textIn(page, "name")).toBe("Milk\nand bread");
  await page.fill('[data-control="notes"]', "oat");
  await page.clickButton("Save");
  await pages.untilStored(([one]) => one?.["Notes"] === "oat" && one["Name"] === "Milk\nand bread");

  await page.clickItem("Milk\nand bread", "text");
  await page.fill('[data-control="name"]', " ");
  await page.clickButton("Save");
  await page.untilText("The item needs a name.");
  expect(await page.focused()).toBe("name");
  // What was typed in the form or in the JSON view is still there in the other one.
  await page.fill('[data-control="name"]', "Rye");
  await page.click('[data-control="json-view"]');
  await page.fill('[data-control="json"]', (await textIn(page, "json")).replace("oat", "whole grain"));
  await page.click('[data-control="json-view"]');
  await page.until("document.querySelector('[data-control=notes]')?.value === 'whole grain'");
  await page.clickButton("Save");
  await pages.untilStored(([one]) => one?.["Notes"] === "whole grain" && one["Name"] === "Rye");

  await page.clickItem("77", "text");
  await page.until("document.activeElement.dataset.control === 'json'");
  await page.click('[data-control="json-view"]');
  await page.untilText("they can only be edited here");
  await page.fill('[data-control="json"]', (await textIn(page, "json")).replace("77", "78"));
  await page.clickButton("Save");
  await page.untilNames("78", "Rye");
  await pages.untilStored(([, two]) => JSON.stringify(two) === numbered.replace("77", "78"));
});

test("a long name can be read whole on a phone, in its row and in its editor, and Enter saves it", async () => {
  await pages.start();
  const long = `Ask at the ${"station about the train to the coast ".repeat(6)}again`;
  await pages.create(named(ids.one, long));
  const page = await pages.openPage();
  await page.show({ width: 360, height: 640, isPhone: true });
  await page.untilNames(long);
  const isWhole = (selector: string) =>
    page.evaluate(`(({ scrollHeight, clientHeight, scrollWidth, clientWidth }) =>
      scrollHeight <= clientHeight && scrollWidth <= clientWidth)(document.querySelector('${selector}'))`);
  expect(await isWhole(".name")).toBe(true);
  await page.clickItem(long, "text");
  await page.until("document.activeElement.dataset.control === 'name'");
  expect(await isWhole('[data-control="name"]')).toBe(true);
  await page.click('[data-control="json-view"]');
  await page.until("document.activeElement.dataset.control === 'json'");
  expect(await isWhole('[data-control="json"]')).toBe(true);
  await page.click('[data-control="json-view"]');
  await page.until("document.activeElement.dataset.control === 'name'");

  await page.fill('[data-control="name"]', "Ask");
  await page.evaluate(`(() => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text", " at the\\r\\nstation\\n");
    const field = document.activeElement;
    field.setSelectionRange(3, 3);
    field.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  })()`);
  expect(await textIn(page, "name")).toBe("Askat the station");
  await page.view.press("Enter", { modifiers: ["Shift"] });
  await page.view.type("again");
  await page.view.press("Enter");
  await pages.untilStored(([one]) => one?.["Name"] === "Askat the station\nagain");

  await page.clickItem("Askat the station\nagain", "text");
  await page.fill('[data-control="name"]', "Saved once");
  await page.view.press("Enter", { modifiers: ["Control"] });
  await pages.untilStored(([one]) => one?.["Name"] === "Saved once");
  // Two changes were saved, so undoing twice brings the first name back.
  await page.view.press("z", { modifiers: ["Control"] });
  await pages.untilStored(([one]) => one?.["Name"] === "Askat the station\nagain");
  await page.view.press("z", { modifiers: ["Control"] });
  await pages.untilStored(([one]) => one?.["Name"] === long);
});

test("edits that were made on another store are sent only if the user says so", async () => {
  await pages.start();
  const page = await pages.openPage();
  await pages.restart(async () => {
    await page.untilText("The service cannot be reached");
    await page.add("For the first store");
    await pages.untilKept(page, 1);
    pages.open();
  });
  await page.untilText("1 change is not sent, and may be for another list: “For the first store”.");
  expect(await pages.list()).toBe("[]");
  await page.clickButton("Send to this list");
  await pages.untilStored((items) => items[0]?.["Name"] === "For the first store");
});

test("if the service answers but cannot show the list, the page says why instead of calling it unreachable", async () => {
  await pages.start();
  const page = await pages.openPage();
  await page.untilText("Live");
  const detail = "The database is being repaired.";
  await pages.restart(async () => {
    const { port } = new URL(pages.program.origin);
    const answer = () => Response.json({ title: "Not now", status: 503, detail }, { status: 503 });
    const standIn = Bun.serve({ port, hostname: "127.0.0.1", fetch: answer });
    await page.untilText(`The service cannot show the list: ${detail}`);
    await page.untilText("Not available");
    expect(await page.evaluate<string>("document.body.innerText")).not.toContain("cannot be reached");
    await standIn.stop(true);
  });
  await page.untilText("Live");
});
