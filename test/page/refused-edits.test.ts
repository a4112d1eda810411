// A device that refuses edits, or keeps them slowly: nothing that the user wanted is lost, of one item or of many.

import { expect, test } from "bun:test";
import { ids } from "../service.ts";
import { holdDevice, refuse } from "./device.ts";
import type { PageDriver } from "./page-driver.ts";
import { named, numbered, usePages } from "./page-fixture.ts";

const pages = usePages();
const api = ["*/api/*", "*/changes*"];

async function paste(page: PageDriver, lines: readonly string[]): Promise<void> {
  await page.click('[data-control="composer"]');
  await page.evaluate(`(() => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text", ${JSON.stringify(lines.join("\n"))});
    document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  })()`);
}

/** Opens a page with these items on a device that has kept one edit, and refuses those with this text. */
async function openRefusing(text: string, names: readonly string[], rest?: string): Promise<PageDriver> {
  await pages.start();
  await pages.create(...names.map((name, index) => named(numbered(index), name, rest)));
  const page = await pages.openPage();
  await page.untilNames(...names);
  await page.block(...api);
  await page.add("Waits");
  await page.untilText("1 edit waiting for the service");
  await page.evaluate(refuse(text));
  return page;
}

test("of 5,000 pasted lines, those for which there is no room are not lost, and are added when there is", async () => {
  await pages.start();
  const page = await pages.openPage();
  await page.untilText("Live");
  await page.block(...api);
  await paste(
    page,
    Array.from({ length: 5_000 }, (_, index) => `Line ${index + 1}`),
  );
  await page.untilText(" of 5,000. The edits that wait would take more than");
  const added = await page.evaluate<number>(
    "parseFloat(document.querySelector('.count').textContent.replace(',', ''))",
  );
  await page.untilText(`Added ${added.toLocaleString("en")} of`);
  expect(await page.mayLeave()).toBe(false);
  // Makes room for one or two. The first line may be on its way, so it has to wait.
  await page.clickItem("Line 10", "delete");
  await page.clickItem("Line 20", "delete");
  await page.untilText("Deleted 2 items");
  await page.clickButton("Try again");
  await page.until(`/Added [12] of ${(5_000 - added).toLocaleString("en")}/.test(document.body.innerText)`);
  await page.evaluate("document.querySelector('[data-control=search]').focus()");
  await page.view.type(`${added + 1}`);
  await page.untilNames(`Line ${added + 1}`);
});

test("if the device does not keep all deletions, the page says how many, and those can be brought back", async () => {
  const page = await openRefusing("Two", ["One", "Two", "Three"], '"Done":true');
  await page.clickButton("Delete 3 completed");
  await page.untilText("Deleted 2 of 3. This device cannot keep more. Full.");
  await page.untilNames("Waits", "Two");
  await page.clickButton("Undo");
  await page.untilNames("Waits", "Two", "One", "Three");
});

test("what was typed into the editor is there again if the device refuses to keep it", async () => {
  const page = await openRefusing("Uno", ["One"]);
  await page.clickItem("One", "text");
  await page.fill('[data-field="Name"]', "Uno");
  await page.view.press("Enter");
  await page.untilText("This device cannot keep more. Full.");
  await page.until("document.querySelector('[data-field=Name]')?.value === 'Uno'");
  await page.evaluate("accept()");
  await page.clickButton("Save");
  await page.untilNames("Uno", "Waits");
});

test("until an edit is kept, leaving the page asks", async () => {
  await pages.start();
  await pages.create(named(ids.one, "One"));
  const page = await pages.openPage();
  await page.untilNames("One");
  expect(await page.mayLeave()).toBe(true);
  await page.evaluate(holdDevice);
  await page.clickItem("One", "tick");
  expect(await page.mayLeave()).toBe(false);
  await page.evaluate("releaseDevice()");
  await page.untilText("is done");
  expect(await page.mayLeave()).toBe(true);
});

test("a tick that the service refuses is taken back, and the page says why", async () => {
  await pages.start();
  await pages.create(named(ids.one, "One", `"Notes":"${"long ".repeat(200)}","Done":false`), named(ids.two, "Two"));
  await pages.restart(async () => {}, "--body-limit", "500");
  const page = await pages.openPage();
  await page.clickItem("One", "tick");
  await page.untilText("“One” was not saved");
  await page.until("!document.querySelector('.status-line, .unsent, [data-control=refused]')");
  await page.untilNames("One", "Two");
  expect(await page.evaluate<number>("document.querySelectorAll('.tick:checked').length")).toBe(0);
  expect((await pages.listed()).map(({ Done }) => Done)).toEqual([false, false]);
  await page.clickItem("Two", "tick");
  await pages.untilStored((items) => items[1]?.["Done"] === true);
});

test("a tick that the device refuses is taken back", async () => {
  const page = await openRefusing("One", ["One"]);
  await page.clickItem("One", "tick");
  await page.untilText("This device cannot keep more. Full.");
  await page.until("!document.querySelector('.tick:checked')");
});

test("text that is saved before the service refuses the tick of its item stays, to be corrected", async () => {
  await pages.start();
  await pages.create(named(ids.one, "One", `"Notes":"${"long ".repeat(200)}","Done":false`));
  await pages.restart(async () => {}, "--body-limit", "500");
  const page = await pages.openPage();
  await page.block(...api);
  await page.clickItem("One", "tick");
  await page.clickItem("One", "text");
  await page.fill('[data-field="Name"]', "Uno");
  await page.clickButton("Save");
  await page.untilNames("Uno");
  await page.block();
  await page.tryNow();
  await page.until("document.querySelector('[data-control=refused]')");
  await page.untilNames("Uno");
});

test("of several edits that the service refuses, the page says how many they are, and discards them together", async () => {
  await pages.start("--body-limit", "500");
  const page = await pages.openPage();
  await page.untilText("Live");
  await paste(page, ["Short", ...["One", "Two", "Three"].map((name) => name + " long".repeat(100))]);
  await page.untilText("and 2 more were not saved");
  await page.clickButton("Discard all");
  await page.untilNames("Short");
  await page.until("!document.querySelector('.status-line, [data-control=refused]')");
});
