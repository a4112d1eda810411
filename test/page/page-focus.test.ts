// Tests in a real Chromium that nothing takes the focus, or a key, away from somebody who types, and that the focus
// returns when a dialog closes.

import { expect, test } from "bun:test";
import { runProgram } from "../program.ts";
import { ids } from "../service.ts";
import type { PageDriver } from "./page-driver.ts";
import { named, numbered, usePages } from "./page-fixture.ts";

const pages = usePages();

const isOpen = (page: PageDriver) => page.evaluate<boolean>("document.querySelector('dialog') !== null");
const untilClosed = (page: PageDriver) => page.until("!document.querySelector('dialog')");
const untilFocused = (page: PageDriver, control: string) =>
  page.until(`document.activeElement.dataset.control === "${control}"`);
const focus = (page: PageDriver, selector: string) => page.evaluate(`document.querySelector('${selector}').focus()`);

async function fillInSignIn(page: PageDriver): Promise<void> {
  await page.until("document.querySelector('dialog.sign-in')");
  await page.fill('[data-control="username"]', "ann");
  await page.fill('[data-control="password"]', "long enough");
  await page.view.press("Enter");
  await untilClosed(page);
}

test("a conflict that is found while the user types opens no dialog, and no key decides it", async () => {
  await pages.start();
  await pages.create(named(ids.one, "Milk"));
  const page = await pages.openPage();
  await page.clickItem("Milk", "delete");
  await pages.send("PUT", "/api/todoitems/", named(ids.one, "Oat milk"));
  await page.click('[data-control="composer"]');
  await page.view.type("Bre");
  // Closing the message sends the deletion. A script closes it, because a real click would take the focus from the
  // field in which the user is typing.
  await page.evaluate("document.querySelector('[data-control=dismiss]').click()");
  await page.until("document.querySelector('[data-control=conflict]')");
  await page.view.type("ad");
  await page.view.press("Enter");
  await page.untilNames("Bread", "Oat milk");
  await pages.untilStored((items) => items.length === 2);
  expect([await isOpen(page), await page.focused()]).toEqual([false, "composer"]);
  await page.untilText("Your deletion of “Oat milk” needs a decision.");
  await page.clickButton("Decide");
  await page.until("document.querySelector('dialog.conflict-dialog')");
  // The button for deciding later has the focus, so Enter decides nothing.
  expect(await page.focused()).toBe("later");
  await page.view.press("Enter");
  await untilClosed(page);
  await page.until("document.activeElement.closest('li')?.innerText.includes('Oat milk')");
  // The mark of the conflict does not cover the frame around the focused text.
  const gap = await page.evaluate<number>(`(() => {
    const text = document.activeElement;
    const { outlineOffset, outlineWidth } = getComputedStyle(text);
    const frame = text.getBoundingClientRect().right + parseFloat(outlineOffset) + parseFloat(outlineWidth);
    return document.querySelector("[data-control=conflict]").getBoundingClientRect().left - frame;
  })()`);
  expect(gap).toBeGreaterThanOrEqual(0);
  await page.click('[data-control="conflict"]');
  await page.click('[data-control="mine"]');
  await pages.untilStored((items) => items.length === 1);
  await page.until("!document.querySelector('.notice')");
});

test("after the Add button, the focus is in the field for new items, as after Enter", async () => {
  await pages.start();
  const page = await pages.openPage();
  const untilButton = () => page.until("document.activeElement.type === 'submit'");
  const tap = async () => {
    const { x, y } = await page.evaluate<{ x: number; y: number }>(
      "(({ x, y }) => ({ x: x + 5, y: y + 5 }))(document.querySelector('.composer button').getBoundingClientRect())",
    );
    await page.view.cdp("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: [{ x, y }] });
    await page.view.cdp("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  };
  const ways: readonly (readonly [name: string, press: () => Promise<void>])[] = [
    ["click", () => page.clickButton("Add")],
    [
      "Enter",
      () =>
        page.view
          .press("Tab")
          .then(untilButton)
          .then(() => page.view.press("Enter")),
    ],
    [
      "Space",
      () =>
        page.view
          .press("Tab")
          .then(untilButton)
          .then(() => page.view.press("Space")),
    ],
    ["tap", tap],
  ];
  await page.click('[data-control="composer"]');
  for (const [name, press] of ways) {
    await page.view.type(name);
    await page.until("!document.querySelector('.composer button').disabled");
    await press();
    await page.until(`document.querySelector(".name")?.textContent === "${name}"`);
    expect([name, await page.focused()]).toEqual([name, "composer"]);
  }
  // The next text is a name, although its first letter is also a shortcut.
  await page.view.type("nuts");
  await page.view.press("Enter");
  await page.untilNames("nuts", "tap", "Space", "Enter", "click");
});

test("after a wrong password, the focus is in the field for the password, however the form was sent", async () => {
  await pages.start("--auth", "writes", "--users", await pages.oneUser());
  const page = await pages.openPage();
  await page.click('[data-control="sign-in"]');
  await page.fill('[data-control="username"]', "ann");
  await page.fill('[data-control="password"]', "wrong");
  await page.click('dialog button[type="submit"]');
  await page.untilText("The name or the password is wrong.");
  expect(await page.focused()).toBe("password");
  await page.view.type("long enough");
  await page.view.press("Enter");
  await untilClosed(page);
  await page.until("document.querySelector('[data-control=sign-out]')?.innerText.includes('ann')");
});

test("if there are several conflicts, each decision leads to the next conflict", async () => {
  await pages.start();
  await pages.create(named(ids.one, "One"), named(ids.two, "Two"));
  const page = await pages.openPage();
  for (const name of ["One", "Two"]) await page.clickItem(name, "delete");
  for (const id of [ids.one, ids.two]) await pages.send("PUT", "/api/todoitems/", named(id, "Changed"));
  await page.until("document.querySelectorAll('[data-control=dismiss]').length === 2");
  await page.evaluate("document.querySelectorAll('[data-control=dismiss]').forEach((button) => button.click())");
  await page.untilText("2 of your changes need a decision.");
  await page.clickButton("Decide");
  await page.click('dialog [data-control="theirs"]');
  await page.until("document.querySelectorAll('[data-control=conflict]').length === 1");
  await page.click('dialog [data-control="mine"]');
  await untilClosed(page);
  await pages.untilStored((items) => items.length === 1);
  await page.until("!document.querySelector('.notice')");
});

test("a sign-in that is needed while the user types is offered in a banner, and the typed text stays where it is", async () => {
  await pages.start("--auth", "writes", "--users", await pages.oneUser());
  const page = await pages.openPage();
  await page.untilText("Nothing to do");
  await page.add("Milk");
  await page.untilText("1 change is not sent.");
  await page.view.type("Eggs today");
  await page.view.press("Enter");
  await page.untilText("2 changes are not sent.");
  await page.untilNames("Eggs today", "Milk");
  await page.view.type("Bread");
  expect([await isOpen(page), await page.focused()]).toEqual([false, "composer"]);
  await page.click('[data-banner="sign-in"] button');
  await fillInSignIn(page);
  await pages.untilStored((items) => items.length === 2);
  // The button that opened the form is gone, so the composer gets the focus.
  await untilFocused(page, "composer");
  await page.view.press("Enter");
  await pages.untilStored((items) => items[2]?.["Name"] === "Bread");
});

test("a user who is removed on the server reads why, in the form or, while typing, in a banner", async () => {
  const users = await pages.oneUser();
  await runProgram("user", { args: ["add", "bob", "--users", users], input: "also long enough\n" });
  await pages.start("--auth", "all", "--users", users);
  const [reader, writer] = [await pages.openPage(), await pages.openPage()];
  for (const page of [reader, writer]) await fillInSignIn(page);
  await focus(reader, '[data-control="connect"]');
  await focus(writer, '[data-control="composer"]');
  await runProgram("user", { args: ["remove", "ann", "--users", users] });
  const reason = "You were signed out, because the service no longer accepts this name and password.";
  await reader.until(`document.querySelector('dialog.sign-in')?.innerText.includes("${reason}")`);
  await writer.until(`document.querySelector('[data-banner="sign-in"]')?.innerText.includes("${reason}")`);
  expect([await isOpen(writer), await writer.focused()]).toEqual([false, "composer"]);
  await writer.clickButton("Sign in");
  await writer.until(`document.querySelector('dialog.sign-in')?.innerText.includes("${reason}")`);
});

test("after an undone deletion, the keyboard moves on from the restored item, however far the list scrolls", async () => {
  await pages.start();
  for (let number = 20; number > 0; number--)
    await pages.send("POST", "/api/todoitems/", JSON.stringify({ Name: `Task ${number}` }));
  const page = await pages.openPage();
  await page.show({ width: 900, height: 500 });
  await page.until("document.querySelectorAll('li').length > 5");
  await focus(page, 'li[data-index="0"] [data-control="text"]');
  const untilOn = (name: string) =>
    page.until(`document.activeElement.closest("li")?.querySelector(".name")?.textContent === "${name}"`);
  await untilOn("Task 1");
  await page.view.press("End");
  await untilOn("Task 20");
  await page.view.press("Delete");
  await untilOn("Task 19");
  await page.view.press("z", { modifiers: ["Control"] });
  await untilOn("Task 20");
  await page.view.press("Home");
  await untilOn("Task 1");
  // The list has scrolled and was drawn again. The focus must stay.
  await page.untilDrawn();
  await untilOn("Task 1");
  await page.view.press("Delete");
  await untilOn("Task 2");
  await page.until("document.querySelector('.notice')?.innerText.includes('Task 1')");
});

test("if no element had the focus when a dialog opened, none has it afterwards", async () => {
  await pages.start();
  await pages.create(named(ids.one, "Milk"));
  const page = await pages.openPage();
  await page.untilNames("Milk");
  await page.evaluate("document.activeElement.blur()");
  await page.view.press("?");
  await page.until("document.querySelector('dialog.shortcuts')");
  await page.view.press("Escape");
  await untilClosed(page);
  expect(await page.focused()).toBe("BODY");
});

test("when a dialog closes, the focus returns to the row or the button that had it", async () => {
  await pages.start("--auth", "writes", "--users", await pages.oneUser());
  const headers = { Authorization: `Basic ${btoa("ann:long enough")}` };
  await pages.send("POST", "/api/todoitems/", named(ids.one, "Milk"), headers);
  const page = await pages.openPage();
  await page.untilNames("Milk");
  for (const close of [
    () => page.view.press("Escape"),
    () => page.view.press("Enter"),
    () => page.click('[aria-label="Close"]'),
  ]) {
    await focus(page, '[data-control="text"]');
    await page.view.press("?");
    await page.until("document.querySelector('dialog.shortcuts')");
    await close();
    await untilClosed(page);
    await untilFocused(page, "text");
    await focus(page, '[data-control="connect"]');
    await page.view.press("Enter");
    await page.until("document.querySelector('dialog.panel')");
    await close();
    await untilClosed(page);
    await untilFocused(page, "connect");
  }
  await focus(page, '[data-control="sign-in"]');
  await page.view.press("Enter");
  await page.until("document.querySelector('dialog.sign-in')");
  await page.view.press("Escape");
  await untilClosed(page);
  await untilFocused(page, "sign-in");
  await focus(page, '[data-control="tick"]');
  await page.view.press("Space");
  await fillInSignIn(page);
  await untilFocused(page, "tick");
});

test("on a phone, the panel can be closed wherever it is scrolled to, and the composer stays in sight and says if the page is offline", async () => {
  await pages.start();
  await pages.create(...Array.from({ length: 20 }, (_, index) => named(numbered(index), `Item ${index}`)));
  const page = await pages.openPage();
  await page.show({ width: 360, height: 640, isPhone: true });
  await page.click('[data-control="connect"]');
  await page.until("document.querySelector('dialog.panel')");
  await page.evaluate("document.querySelector('dialog').scrollTo(0, 1e6)");
  const box = "document.querySelector('[aria-label=Close]').getBoundingClientRect()";
  await page.until(`document.querySelector('dialog').scrollTop > 100 && ${box}.top >= 0`);
  expect(
    await page.evaluate<boolean>(`(({ x, y, width, height }) =>
      document.elementFromPoint(x + width / 2, y + height / 2).closest("[aria-label=Close]") !== null)(${box})`),
  ).toBe(true);
  await page.click('[aria-label="Close"]');
  await untilClosed(page);
  await page.scrollTo(500);
  await pages.program.stop();
  await page.until("document.querySelector('[data-control=composer]').placeholder.includes('offline')");
  expect(
    await page.evaluate<number>("document.querySelector('[data-control=composer]').getBoundingClientRect().top"),
  ).toBeGreaterThan(0);
});

test("on a read-only service, the empty list does not ask the user to add items", async () => {
  await pages.start("--read-only");
  const page = await pages.openPage();
  await page.untilText("The list is empty");
  expect(await page.evaluate<string>("document.querySelector('.empty').innerText")).toContain("does not keep them");
});

/** Presses a control with the keyboard, and waits until the control has disappeared. */
async function pressControl(page: PageDriver, selector: string): Promise<void> {
  await page.until(`document.querySelector('${selector}')`);
  await focus(page, selector);
  await page.view.press("Enter");
  await page.until(`!document.querySelector('${selector}')`);
}
const untilRowFocused = (page: PageDriver, name: string) =>
  page.until(`document.activeElement.closest('li')?.innerText.includes('${name}')`);

test("if a button disappears when it is pressed with the keyboard, the first row in sight gets the focus", async () => {
  await pages.start();
  await pages.create(named(ids.one, "Done", '"Done":true'), named(ids.two, "Milk"), named(ids.three, "Bread"));
  const page = await pages.openPage();
  await pressControl(page, '[data-control="clear-done"]');
  await untilRowFocused(page, "Bread");
  await pressControl(page, '[data-control="dismiss"]');
  await untilRowFocused(page, "Bread");
});

test("if the button was clicked with the mouse, no row gets the focus, because the next Space would tick it", async () => {
  await pages.start();
  await pages.create(named(ids.one, "Done", '"Done":true'), named(ids.two, "Milk"));
  const page = await pages.openPage();
  await page.click('[data-control="clear-done"]');
  await page.untilNames("Milk");
  expect(await page.focused()).toBe("BODY");
});

test("if no row is left when a button disappears, the composer gets the focus", async () => {
  await pages.start("--body-limit", "200");
  const page = await pages.openPage();
  await page.add("x".repeat(300));
  await page.click('[data-control="refused"]');
  await pressControl(page, "form.editor .problem button");
  await untilFocused(page, "composer");
  await page.untilText("Discarded 1 change");
  await pressControl(page, '[data-control="dismiss"]');
  await untilFocused(page, "composer");
});

test("if changes that wait for a sign-in are discarded with the keyboard, the focus stays on the page", async () => {
  await pages.start("--auth", "writes", "--users", await pages.oneUser());
  const headers = { Authorization: `Basic ${btoa("ann:long enough")}` };
  await pages.send("POST", "/api/todoitems/", named(ids.one, "Milk"), headers);
  const page = await pages.openPage();
  await page.add("Bread");
  await pressControl(page, '[data-banner="sign-in"] button.quiet');
  await untilRowFocused(page, "Milk");
});
