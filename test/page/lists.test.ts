// Several lists on the page: from one to another and to a new one, each at an address of its own.

import { expect, test } from "bun:test";
import { eventually } from "../eventually.ts";
import { ids } from "../service.ts";
import { barriers } from "./axe.ts";
import type { PageDriver } from "./page-driver.ts";
import { named, numbered, usePages } from "./page-fixture.ts";

const pages = usePages();
const api = ["*/api/*", "*/changes*"];
const links = (page: PageDriver) =>
  page.evaluate<string[]>("[...document.querySelectorAll('dialog.lists .links a')].map((link) => link.textContent)");
const path = (page: PageDriver) => page.evaluate<string>("location.pathname");

async function openLists(page: PageDriver): Promise<void> {
  await page.click('[data-control="lists"]');
  await page.until("document.querySelector('dialog.lists')");
}

async function newList(page: PageDriver, name: string): Promise<void> {
  await openLists(page);
  await page.fill('[data-control="list-name"]', name);
  await page.clickButton("New list");
}

test("a person goes to a new list, back to the others, and to a bookmarked one, and the page can be installed at each", async () => {
  await pages.start("--lists", "many");
  await pages.create(named(ids.one, "One"));
  const page = await pages.openPage();
  await page.untilNames("One");
  await openLists(page);
  await page.until("document.activeElement.dataset.control === 'list-name'");
  await page.untilText("New list");
  for (const name of ["api", "-a", "a b", "x".repeat(65)]) {
    await page.fill('[data-control="list-name"]', name);
    expect(await page.evaluate<boolean>("document.querySelector('dialog form').checkValidity()")).toBe(false);
  }
  expect(await barriers(page)).toEqual([]);
  await page.fill('[data-control="list-name"]', "Work.2");
  await page.clickButton("New list");
  await page.untilText("No items yet");
  expect([await path(page), await page.evaluate<string>("document.title")]).toEqual([
    "/lists/Work.2/",
    "Work.2 – todoitems",
  ]);
  await page.add("Plan");
  await pages.untilStoredIn("/lists/Work.2", "Plan");
  await openLists(page);
  await page.until("document.querySelectorAll('dialog.lists .links a').length === 2");
  expect(await links(page)).toEqual(["todoitems", "Work.2"]);
  expect(await barriers(page)).toEqual([]);
  const entries = await page.evaluate<number>("history.length");
  await page.click("[aria-current=page]");
  await openLists(page);
  expect(await page.evaluate<number>("history.length")).toBe(entries);
  await page.click(".links li:first-child a");
  await page.untilNames("One");
  expect(await path(page)).toBe("/");
  await page.evaluate("history.back()");
  await page.untilNames("Plan");
  await page.evaluate("history.forward()");
  await page.untilNames("One");
  await page.view.navigate(`${pages.program.origin}/lists/Work.2`);
  await page.untilNames("Plan");
  for (const address of ["/", "/lists/Work.2", "/lists/Work.2/"]) {
    await page.view.navigate(pages.program.origin + address);
    await page.until("document.querySelector('main')");
    await eventually(async () =>
      expect(await page.view.cdp("Page.getInstallabilityErrors")).toEqual({ installabilityErrors: [] }),
    );
  }
});

test("edits of a list that was left are sent by a page that shows another list, after a reload", async () => {
  await pages.start("--lists", "many");
  const page = await pages.openPage();
  await page.view.navigate(`${pages.program.origin}/lists/Work/`);
  await page.untilText("No items yet");
  await page.block(...api);
  await page.add("Left");
  await page.untilText("1 edit waiting for the service");
  await page.block();
  await page.view.navigate(`${pages.program.origin}/`);
  await page.untilText("No items yet");
  await pages.untilStoredIn("/lists/Work", "Left");
});

test("edits of a list that was left are sent, and wait for the service with it", async () => {
  await pages.start("--lists", "many");
  const page = await pages.openPage();
  await page.untilText("No items yet");
  await page.block(...api);
  await page.add("Here");
  await newList(page, "work");
  await page.until("location.pathname === '/lists/work/' && !document.querySelector('li.row')");
  // This line moves the composer.
  await page.untilText("The service cannot be reached");
  await page.add("There");
  await openLists(page);
  await page.click(".links li:first-child a");
  await page.untilNames("Here");
  await page.block();
  await pages.untilStoredIn("", "Here");
  await pages.untilStoredIn("/lists/work", "There");
});

test("without storage, leaving the page asks about unsent edits of every list", async () => {
  await pages.start("--lists", "many");
  const page = await pages.openPage();
  await page.prepare("IDBFactory.prototype.open = () => { throw new DOMException('no', 'SecurityError'); }");
  await page.reload();
  await page.untilText("No items yet");
  await page.block(...api);
  await page.add("Here");
  await newList(page, "work");
  await page.until("!document.querySelector('li.row')");
  expect(await page.mayLeave()).toBe(false);
  await page.block();
  await pages.untilStoredIn("", "Here");
  await eventually(async () => expect(await page.mayLeave()).toBe(true));
});

test("100 names are shown, and typing a part of a name finds the others", async () => {
  await pages.start("--lists", "many");
  for (let index = 100; index < 205; index++)
    await pages.send("POST", `/lists/n${index}/api/todoitems/`, named(numbered(index), "One"));
  const page = await pages.openPage();
  await openLists(page);
  await page.untilText("6 more");
  expect(await links(page)).toHaveLength(100);
  await page.fill('[data-control="list-name"]', "N204");
  await page.until("document.querySelectorAll('dialog.lists .links a').length === 1");
  await page.click(".links a");
  await page.untilNames("One");
  expect(await path(page)).toBe("/lists/n204/");
  await page.untilKept("One");
  await page.block("*/lists");
  await openLists(page);
  await page.untilText("The names of other lists cannot be loaded");
  // Those that this device keeps are there without the service.
  await page.until("document.querySelectorAll('dialog.lists .links a').length === 2");
  expect(await links(page)).toEqual(["todoitems", "n204"]);
  await page.fill('[data-control="list-name"]', "n100");
  await page.view.press("Enter");
  await page.until("location.pathname === '/lists/n100/'");
});

test("if the service hangs, the lists that the device keeps are offered within the time in which somebody waits", async () => {
  await pages.start("--lists", "many");
  await pages.send("POST", "/lists/work/api/todoitems/", named(ids.one, "One"));
  const page = await pages.openPage();
  await openLists(page);
  await page.click(".links li:nth-child(2) a");
  await page.untilNames("One");
  await page.untilKept("One");
  process.kill(pages.program.pid, "SIGSTOP");
  await openLists(page);
  await page.untilText("The names of other lists cannot be loaded");
  await page.until("document.querySelectorAll('dialog.lists .links a').length === 2");
  process.kill(pages.program.pid, "SIGCONT");
});

test("who has signed in sees only their own lists, stays signed in in all of them, and leaves nothing of any list", async () => {
  const users = await pages.users("ann", "bob");
  await pages.start("--lists", "user", "--auth", "all", "--users", users);
  const page = await pages.openPage();
  await page.signIn("ann");
  await page.add("Secret");
  await page.untilKept("Secret");
  await newList(page, "private");
  await page.add("Plan");
  await page.untilKept("Plan");
  await openLists(page);
  await page.until("document.querySelectorAll('dialog.lists .links a').length === 2");
  await page.click(".links li:first-child a");
  await page.untilNames("Secret");
  await page.block(...api);
  await page.add("Unsent");
  await newList(page, "other");
  await page.answer(true);
  await page.click('[data-control="sign-out"]');
  await page.until("document.querySelector('.sign-in')");
  expect(await page.evaluate<string>("asked.join()")).toContain("edits that the service does not have yet are deleted");
  await eventually(async () => expect(await page.kept()).toEqual([]));
  await page.block();
  await page.signIn("bob");
  await page.untilText("No items yet");
  await openLists(page);
  await page.untilText("New list");
  expect(await links(page)).toEqual(["todoitems"]);
});

test("going back or to another list asks about what is typed, and stays where it was with it if the answer is no", async () => {
  await pages.start("--lists", "many");
  await pages.send("POST", "/lists/work/api/todoitems/", named(ids.one, "One"));
  const page = await pages.openPage();
  await page.untilText("No items yet");
  await openLists(page);
  await page.click(".links li:nth-child(2) a");
  await page.untilNames("One");
  await page.answer(false);
  const asked = () => page.evaluate<number>("asked.length");
  const composer = "document.querySelector('[data-control=composer]').value";
  await page.evaluate("document.querySelector('[data-control=composer]').focus()");
  await page.view.type("half");
  await openLists(page);
  await page.click(".links li:first-child a");
  await page.until("asked.length === 1");
  expect([await path(page), await page.evaluate<string>(composer)]).toEqual(["/lists/work/", "half"]);
  await page.clickItem("One", "text");
  await page.fill('[data-field="Name"]', "Uno");
  for (const count of [2, 3]) {
    await page.evaluate("history.back()");
    await page.until(`asked.length === ${count}`);
    expect([await path(page), await page.evaluate<string>("document.title")]).toEqual([
      "/lists/work/",
      "work – todoitems",
    ]);
  }
  expect(await page.evaluate<string>("document.querySelector('[data-field=Name]').value")).toBe("Uno");
  await page.answer(true);
  await page.evaluate("history.back()");
  await page.untilText("No items yet");
  expect([await path(page), await page.evaluate<string>(composer), await asked()]).toEqual(["/", "", 4]);
  await openLists(page);
  await page.click(".links li:nth-child(2) a");
  await page.untilNames("One");
  expect(await asked()).toBe(4);
});

test("the icons of the page keep their addresses in another list", async () => {
  await pages.start("--lists", "many");
  const page = await pages.openPage();
  const links = () =>
    page.evaluate<string[]>("[...document.querySelectorAll('link:not([rel=stylesheet])')].map(({ href }) => href)");
  const before = await links();
  expect(before).toHaveLength(3);
  await newList(page, "work");
  await page.until("location.pathname === '/lists/work/'");
  expect(await links()).toEqual(before);
  for (const address of before) expect((await pages.send("GET", new URL(address).pathname)).status).toBe(200);
});
