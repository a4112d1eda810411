// The message at the bottom of the page: it is about one item, and it can be used with the keyboard and at 400 %.

import { expect, test } from "bun:test";
import { ids } from "../service.ts";
import { refuse } from "./device.ts";
import type { PageDriver } from "./page-driver.ts";
import { named, numbered, usePages } from "./page-fixture.ts";

const pages = usePages();

const notice = (page: PageDriver) =>
  page.evaluate<string>("document.querySelector('.notice span')?.textContent ?? 'none'");

test("a message about an item goes when its editor opens or saves, and stays when another editor does", async () => {
  await pages.start();
  await pages.create(named(ids.one, "One"), named(ids.two, "Two"));
  const page = await pages.openPage();
  await page.clickItem("One", "text");
  await page.fill('[data-field="Notes"]', "draft");
  await page.view.press("Escape");
  await page.untilText("Your changes are not saved");
  await page.clickItem("Two", "text");
  await page.fill('[data-field="Notes"]', "two");
  await page.clickButton("Save");
  await pages.untilStored((items) => items[1]?.["Notes"] === "two");
  expect(await notice(page)).toBe("Your changes are not saved");
  await page.clickItem("One", "text");
  await page.until("document.querySelector('dialog')");
  expect(await notice(page)).toBe("none");
  await page.fill('[data-field="Notes"]', "saved");
  await page.clickButton("Save");
  await pages.untilStored((items) => items[0]?.["Notes"] === "saved");
  expect(await notice(page)).toBe("none");
});

/** Opens a page with 50 items, and deletes the thirtieth with the keyboard. */
async function withDeletion(): Promise<PageDriver> {
  await pages.start();
  await pages.create(...Array.from({ length: 50 }, (_, index) => named(numbered(index), `Item ${index}`)));
  const page = await pages.openPage();
  await page.show({ width: 320, height: 256 });
  await page.evaluate("document.querySelectorAll('.text')[29].focus()");
  await page.view.press("Delete");
  await page.untilText("Deleted “Item 29”");
  return page;
}

test("Ctrl+Z takes back a deletion once, but not in a text field or a dialog", async () => {
  const page = await withDeletion();
  const undo = () => page.view.press("z", { modifiers: ["Control"] });
  await page.evaluate("document.querySelector('[data-control=composer]').focus()");
  await undo();
  await page.clickItem("Item 1", "text");
  await page.until("document.activeElement.dataset.field === 'Name'");
  await page.evaluate("document.querySelector('dialog .buttons .primary').focus()");
  await undo();
  await page.view.press("Escape");
  await page.until("!document.querySelector('dialog')");
  await page.untilDrawn();
  expect(await page.items()).toHaveLength(49);
  await page.click('[data-control="dismiss"]');
  await page.evaluate("document.querySelector('.text').focus()");
  await undo();
  await undo();
  await pages.untilStored((items) => items.length === 50);
  await page.until("document.querySelectorAll('li.row').length === 50 && !document.querySelector('.unsent, .notice')");
});

test("the message comes before the list in the order of Tab, and at 400 % it covers no row", async () => {
  const page = await withDeletion();
  const rowsBelow = await page.evaluate<number>(`(() => {
    const { left, right, top, bottom } = document.querySelector(".notice").getBoundingClientRect();
    const points = [top, (top + bottom) / 2, bottom - 1].flatMap((y) => [left + 16, (left + right) / 2].map((x) => [x, y]));
    return points.flatMap(([x, y]) => document.elementsFromPoint(x, y)).filter((found) => found.closest("li.row")).length;
  })()`);
  expect(rowsBelow).toBe(0);
  // The list is still where it was: the next row is in sight.
  const { top, bottom } = await page.evaluate<{ top: number; bottom: number }>(
    "document.activeElement.getBoundingClientRect().toJSON()",
  );
  expect([top >= 0, bottom < 256]).toEqual([true, true]);
  await page.evaluate("document.querySelector('[data-control=connect]').focus()");
  await page.view.press("Tab", { modifiers: ["Shift"] });
  await page.view.press("Tab", { modifiers: ["Shift"] });
  expect(await page.focused()).toBe("notice-action");
  await page.view.press("Enter");
  await pages.untilStored((items) => items.length === 50);
});

test("what Undo could not bring back stays with its message, is asked about, and can be tried again", async () => {
  await pages.start();
  const names = ["One", "Two", "Three"];
  await pages.create(
    ...names.map((name, index) => named(numbered(index), name, '"Done":true')),
    named(ids.one, "Open"),
  );
  const page = await pages.openPage();
  await page.clickButton("Delete 3 completed");
  await page.untilNames("Open");
  await pages.untilStored((items) => items.length === 1);
  await page.block("*/api/*", "*/changes*");
  await page.add("Waits");
  await page.untilText("1 edit waiting for the service");
  await page.evaluate(refuse("Two"));
  await page.clickButton("Undo");
  await page.untilText("Brought back 2 of 3. This device cannot keep more. Full.");
  await page.untilNames("Open", "Waits", "One", "Three");
  expect(await page.mayLeave()).toBe(false);
  await page.clickItem("Open", "tick");
  await page.untilText("“Open” is done");
  await page.clickButton("Try again");
  await page.until("document.body.innerText.includes('Full.') && !document.body.innerText.includes('2 of 3')");
  await page.evaluate("accept()");
  await page.clickButton("Try again");
  await page.until("document.querySelectorAll('li.row').length === 5");
  expect(await page.mayLeave()).toBe(true);
  await page.block();
  await page.tryNow();
  await pages.untilStored((items) => items.some(({ Name, Done }) => Name === "Two" && Done === true));
});
