// Tests in a real Chromium of what happens to unsent edits when the user leaves the page: another tab sends them, or
// the next visit does, and no edit is sent twice.

import { expect, test } from "bun:test";
import { eventually } from "../eventually.ts";
import { ids } from "../service.ts";
import type { PageDriver } from "./page-driver.ts";
import { named, usePages } from "./page-fixture.ts";

const pages = usePages();

/** Does what Chromium does when it keeps a page in memory, and when the user comes back to that page. */
const dispatch = (page: PageDriver, event: "pagehide" | "pageshow") =>
  page.evaluate(`dispatchEvent(new PageTransitionEvent("${event}", { persisted: true }))`);

/** Stops the service while `between` runs. After that, the service logs its requests. */
async function whileStopped(between: () => Promise<void>): Promise<void> {
  const { port } = new URL(pages.program.origin);
  await pages.program.stop();
  await between();
  await pages.start("--port", port, "--log-requests");
}

test("leaving the page ends the time for Undo: all deletions are sent at once", async () => {
  await pages.start();
  await pages.create(named(ids.one, "One"), named(ids.two, "Two"), named(ids.three, "Three"));
  const page = await pages.openPage();
  await page.clickItem("One", "delete");
  await page.clickItem("Two", "delete");
  await pages.untilKept(page, 2);
  await page.view.navigate(`${pages.program.origin}/docs`);
  await pages.untilStored((items) => items.length === 1);
  // The user comes back by a link. The old page never got the answers to its deletions, so the new page takes the
  // deletions over. Both items are already gone, so the new page then drops the deletions.
  await page.view.navigate(`${pages.program.origin}/`);
  await page.untilNames("Three");
  await pages.untilKept(page, 0);
});

test("a deletion is sent when its tab is closed or reloaded", async () => {
  await pages.start();
  await pages.create(named(ids.one, "One"), named(ids.two, "Two"), named(ids.three, "Three"));
  const [page, other] = [await pages.openPage(), await pages.openPage()];
  await page.clickItem("One", "delete");
  await pages.untilKept(page, 1);
  await page.view.reload();
  await other.untilNames("Three", "Two");
  await page.clickItem("Two", "delete");
  await pages.untilKept(other, 1);
  pages.closePage(page);
  await other.untilNames("Three");
  await pages.untilStored((items) => items.length === 1);
  await pages.untilKept(other, 0);
});

test("a reloaded tab keeps its unsent edits, even if another tab is open", async () => {
  await pages.start("--auth", "writes", "--users", await pages.oneUser());
  const [page, other] = [await pages.openPage(), await pages.openPage()];
  await page.add("One");
  await page.untilText("1 change is not sent.");
  await pages.untilKept(page, 1);
  for (let count = 1; count <= 2; count++) {
    await page.view.reload();
    await page.untilNames("One");
    await pages.untilKept(page, 1);
  }
  await other.untilNames();
  // A closed tab cannot take its edits back, so the other one takes them.
  pages.closePage(page);
  await other.untilNames("One");
});

test("what a closed tab could not send is sent once, by one of the other tabs", async () => {
  await pages.start();
  await pages.create(named(ids.one, "One"));
  const [page, other, third] = [await pages.openPage(), await pages.openPage(), await pages.openPage()];
  await whileStopped(async () => {
    await page.untilText("The service cannot be reached");
    await page.add("Two");
    await pages.untilKept(page, 1);
    // A tab does not take over the edits of a tab that is open.
    await other.untilNames("One");
    await third.untilNames("One");
    pages.closePage(page);
    const rowCount = async (one: PageDriver) => (await one.items()).length;
    await eventually(async () => expect((await rowCount(other)) + (await rowCount(third))).toBe(3));
  });
  for (const one of [other, third]) {
    await one.evaluate("dispatchEvent(new Event('online'))");
    await one.untilNames("Two", "One");
    await pages.untilKept(one, 0);
  }
  const { stderr } = await pages.program.stop();
  expect(stderr.match(/POST /g)).toHaveLength(1);
});

test("if all tabs are closed at once, the next visit sends what they could not send, once", async () => {
  await pages.start();
  await pages.create(named(ids.one, "One"));
  const tabs = [await pages.openPage(), await pages.openPage()];
  await whileStopped(async () => {
    for (const [index, tab] of tabs.entries()) {
      await tab.untilText("The service cannot be reached");
      await tab.add(`Tab ${index}`);
      await pages.untilKept(tab, index + 1);
    }
    for (const tab of tabs) pages.closePage(tab);
  });
  const page = await pages.openPage();
  await pages.untilStored((items) => items.length === 3);
  await pages.untilKept(page, 0);
  const { stderr } = await pages.program.stop();
  expect(stderr.match(/POST /g)).toHaveLength(2);
});

test("a page that the browser keeps in memory gives up its edits, and takes back what is left", async () => {
  await pages.start();
  await pages.create(named(ids.one, "One"));
  const [page, other] = [await pages.openPage(), await pages.openPage()];
  await whileStopped(async () => {
    await page.untilText("The service cannot be reached");
    await page.add("Two");
    await page.untilNames("Two", "One");
    await dispatch(page, "pagehide");
    await page.untilNames("One");
    await other.untilNames("Two", "One");
    // The other tab has the edit now.
    await dispatch(page, "pageshow");
    await pages.untilKept(page, 1);
    await page.untilNames("One");
    await dispatch(other, "pagehide");
    await page.untilNames("Two", "One");
    await dispatch(other, "pageshow");
  });
  for (const one of [page, other]) {
    await one.evaluate("dispatchEvent(new Event('online'))");
    await one.untilNames("Two", "One");
  }
  await pages.untilKept(page, 0);
  const { stderr } = await pages.program.stop();
  expect(stderr.match(/POST /g)).toHaveLength(1);
});
