// Where the focus is after the element that had it is gone: on the row that takes its place, or in the composer.

import { expect, test } from "bun:test";
import { join } from "node:path";
import type { PageDriver } from "./page-driver.ts";
import { named, numbered, usePages } from "./page-fixture.ts";

const pages = usePages();
const focusedName = "document.activeElement.closest('li')?.querySelector('.name').textContent";

async function openWith(names: readonly string[], rest?: string): Promise<PageDriver> {
  await pages.start();
  await pages.create(...names.map((name, index) => named(numbered(index), name, rest)));
  const page = await pages.openPage();
  await page.untilNames(...names);
  return page;
}

/** Focuses a control and presses Enter. */
async function press(page: PageDriver, control: string): Promise<void> {
  await page.until(`document.querySelector('[data-control="${control}"]')`);
  await page.evaluate(`document.querySelector('[data-control="${control}"]').focus()`);
  await page.view.press("Enter");
}

test("after Undo and after closing a message, the focus is on the row where it was before", async () => {
  const page = await openWith(["One", "Two", "Three"]);
  await page.evaluate("document.querySelectorAll('.text')[1].focus()");
  await page.view.press("Delete");
  await page.untilNames("One", "Three");
  await press(page, "notice-action");
  await page.until(`${focusedName} === "Three"`);
  await page.untilNames("One", "Three", "Two");
  await page.view.press("Delete");
  await page.untilNames("One", "Two");
  await press(page, "dismiss");
  await page.until(`${focusedName} === "Two"`);
});

test("after deleting the completed items, the focus is on the last row, or in the composer", async () => {
  const page = await openWith(["One", "Two", "Three"]);
  await page.clickItem("One", "tick");
  await press(page, "delete-done");
  await page.untilNames("Two", "Three");
  await page.until(`${focusedName} === "Three"`);
  for (const name of ["Two", "Three"]) await page.clickItem(name, "tick");
  await page.click("[data-value=done]");
  await page.untilText("Delete 2 completed");
  await press(page, "delete-done");
  await page.until("document.activeElement.dataset.control === 'composer'");
});

test("if somebody else deletes the row that has the focus, the next row has it, and if they tick it, too", async () => {
  const page = await openWith(["One", "Two", "Three", "Four"]);
  await page.evaluate("document.querySelectorAll('[data-control=delete]')[1].focus()");
  await pages.send("DELETE", `/api/todoitems/${numbered(1)}`);
  await page.untilNames("One", "Three", "Four");
  await page.until(`${focusedName} === "Three"`);
  expect(await page.focused()).toBe("delete");
  await pages.send("PUT", "/api/todoitems/", named(numbered(2), "Three", '"Notes":"","Done":true'));
  await page.untilNames("One", "Four", "Three");
  await page.until(`${focusedName} === "Four"`);
  await pages.send("DELETE", `/api/todoitems/${numbered(0)}`);
  await page.untilNames("Four", "Three");
  expect(await page.evaluate<string>(focusedName)).toBe("Four");
  await pages.send("DELETE", `/api/todoitems/${numbered(2)}`);
  await pages.send("DELETE", `/api/todoitems/${numbered(3)}`);
  await page.until("document.activeElement.dataset.control === 'composer'");
});

test("on a phone, an empty list does not give the focus to the composer, which would open a keyboard", async () => {
  const page = await openWith(["One"]);
  await page.show({ width: 390, height: 800, isPhone: true });
  await page.until("matchMedia('(pointer: coarse)').matches");
  await page.clickItem("One", "delete");
  await pages.untilStored((items) => items.length === 0);
  await page.until("document.querySelector('.empty')");
  await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn(0))))");
  expect(await page.evaluate<string>("document.activeElement.tagName")).toBe("BODY");
});

test("after the last conflict is decided, the focus is on the row that was asked about first", async () => {
  const page = await openWith(["One", "Two", "Three"]);
  await pages.restart(
    async () => {
      await page.untilText("The service cannot be reached");
      for (const [index, name] of ["Two", "Three"].entries()) {
        await page.clickItem(name, "text");
        await page.fill('[data-field="Name"]', `Mine ${index}`);
        await page.view.press("Enter");
        await page.untilText(`${index + 1} edit`);
      }
      await pages.start();
      for (const index of [1, 2]) await pages.send("PUT", "/api/todoitems/", named(numbered(index), `Theirs ${index}`));
      await pages.program.stop();
    },
    "--lists",
    "many",
  );
  await page.untilText("2 items were changed elsewhere, too");
  await press(page, "conflict");
  for (const dialog of ["Mine 0", "Mine 1"]) {
    await page.until(`document.querySelector('dialog.conflict')?.innerText.includes("${dialog}")`);
    await press(page, "keep-theirs");
  }
  await page.untilNames("One", "Theirs 1", "Theirs 2");
  await page.until(`${focusedName} === "Theirs 1"`);
});

test("after a change is discarded, the focus is in the list", async () => {
  const page = await openWith(["One"]);
  await pages.restart(async () => {}, "--body-limit", "500");
  await page.add("too long ".repeat(60));
  await press(page, "line-discard");
  await page.untilNames("One");
  await page.until(`${focusedName} === "One"`);
});

test("the arrow keys also leave a control that the next row does not have", async () => {
  const page = await openWith(["One"]);
  await pages.restart(async () => {}, "--body-limit", "500");
  await page.add("too long ".repeat(60));
  await page.until("document.querySelector('[data-control=refused]')");
  await page.evaluate("document.querySelector('[data-control=refused]').focus()");
  await page.view.press("ArrowUp");
  expect(await page.evaluate<string>(focusedName)).toBe("One");
});

test("after all rows are shown, the focus is on the last one of those that were there before", async () => {
  const seed = join(pages.path, "seed.json");
  await Bun.write(seed, `[${Array.from({ length: 310 }, (_, index) => named(numbered(index), `Item ${index}`))}]`);
  await pages.start("--seed", seed);
  const page = await pages.openPage();
  await press(page, "show-all");
  await page.until("document.querySelectorAll('li.row').length === 310");
  await page.until(`${focusedName} === "Item 299"`);
});
