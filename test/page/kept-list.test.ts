// What the page keeps on the device: the list and unsent edits, in a real Chromium with its IndexedDB and its locks.

import { expect, test } from "bun:test";
import { eventually } from "../eventually.ts";
import { ids } from "../service.ts";
import { refuse } from "./device.ts";
import type { PageDriver } from "./page-driver.ts";
import { named, usePages } from "./page-fixture.ts";

const pages = usePages();
const api = ["*/api/*", "*/changes*"];

async function storedNames(): Promise<unknown[]> {
  return (await pages.listed()).map(({ Name }) => Name);
}

test("unsent edits and the list survive a reload, nobody is asked before it, and every edit arrives once", async () => {
  await pages.start();
  await pages.create(named(ids.one, "One"), named(ids.two, "Two"), named(ids.three, "Three"));
  const page = await pages.openPage();
  await page.untilNames("One", "Two", "Three");
  await page.untilKept("Three");
  await page.block(...api);
  await page.add("New");
  await page.clickItem("One", "tick");
  await page.clickItem("Two", "delete");
  await page.untilText("3 edits waiting for the service");
  expect(await page.mayLeave()).toBe(true);
  await page.reload();
  await page.untilNames("Three", "New", "One");
  await page.untilText("3 edits waiting for the service");
  expect(await storedNames()).toEqual(["One", "Two", "Three"]);
  await page.block();
  await page.tryNow();
  await pages.untilStored((items) => items.length === 3 && items[0]?.["Done"] === true);
  expect(await storedNames()).toEqual(["One", "Three", "New"]);
  await page.until("!document.querySelector('.status-line')");
});

test("of two tabs one keeps, the other says that its edits are in this tab, and takes over if the first is killed", async () => {
  await pages.start();
  await pages.create(named(ids.one, "One"));
  const [first, second] = [await pages.openPage(), await pages.openPage()];
  await pages.restart(async () => {
    for (const page of [first, second]) await page.untilText("The service cannot be reached");
    await first.add("First");
    await first.untilText("1 edit waiting for the service");
    await second.add("Second");
    await second.untilText("1 edit waiting in this tab");
    expect([await first.mayLeave(), await second.mayLeave()]).toEqual([true, false]);
    await kill(first);
    await second.untilNames("One", "First", "Second");
    await second.untilText("2 edits waiting for the service");
    expect(await second.mayLeave()).toBe(true);
  });
  await eventually(async () => expect(await storedNames()).toEqual(["One", "First", "Second"]));
});

test("on a device that is full, edits wait in this tab, and are sent", async () => {
  await pages.start();
  await pages.create(named(ids.one, "One"));
  // The reference keeps nothing. Chromium remembers for a while how much room there was at the last write.
  const page = await pages.openReference();
  await page.view.cdp("Storage.overrideQuotaForOrigin", { origin: pages.program.origin, quotaSize: 1 });
  await page.view.navigate(`${pages.program.origin}/`);
  await page.untilNames("One");
  await page.block(...api);
  await page.add("New");
  await page.untilText("1 edit waiting in this tab");
  await page.untilNames("One", "New");
  expect(await page.mayLeave()).toBe(false);
  await page.block();
  await page.tryNow();
  await eventually(async () => expect(await storedNames()).toEqual(["One", "New"]));
});

test("if a device that keeps edits refuses more, the page says so, and those that are kept are sent once", async () => {
  await pages.start();
  const page = await pages.openPage();
  await page.untilText("Live");
  await page.block(...api);
  await page.add("Kept");
  await page.untilText("1 edit waiting for the service");
  await page.evaluate(refuse("Refused"));
  await page.add("Refused");
  await page.untilText("This device cannot keep more. Full.");
  await page.untilNames("Kept");
  // Otherwise the browser asks.
  await page.click('[data-control="dismiss"]');
  await page.reload();
  await page.untilNames("Kept");
  await page.block();
  await page.tryNow();
  await eventually(async () => expect(await storedNames()).toEqual(["Kept"]));
});

test("if the browser clears its data while the page is open, edits that wait are kept again, and sent", async () => {
  await pages.start();
  await pages.create(named(ids.one, "One"));
  const page = await pages.openPage();
  await page.untilKept("One");
  await page.block(...api);
  await page.add("Two");
  await page.untilText("1 edit waiting for the service");
  await page.view.cdp("Storage.clearDataForOrigin", { origin: pages.program.origin, storageTypes: "indexeddb" });
  await page.add("Three");
  await page.untilText("2 edits waiting for the service");
  await page.reload();
  await page.untilText("2 edits waiting for the service");
  await page.block();
  await page.tryNow();
  await eventually(async () => expect(await storedNames()).toEqual(["One", "Two", "Three"]));
});

test("a sign-out in another tab, just when the page looks for kept lists, leaves a database that works the next time", async () => {
  await pages.start();
  const page = await pages.openPage();
  await page.prepare(`const { databases } = IDBFactory.prototype;
    IDBFactory.prototype.databases = async () => {
      const found = await databases.call(indexedDB);
      if (!sessionStorage.isDeleted && found.length > 0) {
        sessionStorage.isDeleted = true;
        await new Promise((resolve) => { indexedDB.deleteDatabase(found[0].name).onsuccess = resolve; });
      }
      return found;
    };`);
  await page.reload();
  await page.until("sessionStorage.isDeleted");
  await page.untilText("Live");
  await page.reload();
  await page.untilText("Live");
  await page.block(...api);
  await page.add("One");
  await page.untilText("1 edit waiting for the service");
});

/** Ends the process that draws a page, as a browser that has run out of memory does. */
async function kill(page: PageDriver): Promise<void> {
  // A page that has crashed answers no more.
  void page.view.cdp("Page.crash").catch(() => {});
  await Bun.sleep(0);
}

for (const [where, host, script] of [
  ["on a page over plain HTTP from another machine", "machine.test", ""],
  [
    "where the browser forbids storage",
    "127.0.0.1",
    "IDBFactory.prototype.open = () => { throw new DOMException('no', 'SecurityError'); }",
  ],
] as const)
  test(`${where}, edits wait in this tab, and are sent`, async () => {
    await pages.start("--allow-host", "machine.test");
    await pages.create(named(ids.one, "One"));
    const page = await pages.openPage();
    await page.prepare(script);
    await page.view.navigate(`${pages.program.origin.replace("127.0.0.1", host)}/`);
    await page.untilNames("One");
    await page.block(...api);
    await page.clickItem("One", "tick");
    await page.untilText("1 edit waiting in this tab");
    expect(await page.mayLeave()).toBe(false);
    await page.block();
    await page.tryNow();
    await pages.untilStored(([item]) => item?.["Done"] === true);
  });
