// Tests in a real Chromium that a slip of the hand does no harm: Ctrl+Z undoes, and a double-click hits one item only.

import { expect, test } from "bun:test";
import { ids } from "../service.ts";
import type { PageDriver } from "./page-driver.ts";
import { named, usePages } from "./page-fixture.ts";

const pages = usePages();

test("Ctrl+Z undoes clearing, an edit and a tick, even with Caps Lock on, but not while the user is typing", async () => {
  await pages.start();
  await pages.create(named(ids.one, "One"), named(ids.two, "Two"));
  const page = await pages.openPage();
  const pressUndo = () => page.view.press("z", { modifiers: ["Control"] });
  await page.clickItem("One", "tick");
  await page.clickItem("Two", "text");
  await page.fill('[data-control="name"]', "Two, edited");
  await page.view.press("Enter");
  await page.click('[data-control="clear-done"]');
  await page.untilNames("Two, edited");
  await page.click('[data-control="dismiss"]');
  await pages.untilStored((items) => items.length === 1);
  await page.click('[data-control="composer"]');
  await pressUndo();
  await page.untilNames("Two, edited");
  await page.evaluate("document.activeElement.blur()");
  // The service has deleted the item, so it is created again and becomes the newest.
  await pressUndo();
  await page.untilNames("One", "Two, edited");
  // With Shift, the shortcut usually means the opposite, so it undoes nothing.
  await page.view.press("z", { modifiers: ["Control", "Shift"] });
  await page.untilNames("One", "Two, edited");
  await page.evaluate("dispatchEvent(new KeyboardEvent('keydown', { key: 'Z', ctrlKey: true }))");
  await page.untilNames("One", "Two");
  await pressUndo();
  await pages.untilStored((items) => JSON.stringify(items.map(({ Name, Done }) => [Name, Done])) === expected);
  await pressUndo();
  await page.untilText("There is nothing to undo.");
});
const expected = JSON.stringify([
  ["Two", false],
  ["One", false],
]);

/** Double-clicks an element. `between` is an expression in the page that must be true before the second click. */
async function doubleClick(page: PageDriver, selector: string, between: (pointed: string) => string): Promise<void> {
  const { x, y } = await page.evaluate<{ x: number; y: number }>(`(() => {
    const { x, y, width, height } = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect();
    return { x: x + width / 2, y: y + height / 2 };
  })()`);
  for (const clickCount of [1, 2]) {
    if (clickCount === 2) await page.until(between(`document.elementFromPoint(${x}, ${y})`));
    for (const type of ["mousePressed", "mouseReleased"])
      await page.view.cdp("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount });
  }
  // Wait until the page is drawn again.
  await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(0))))");
}

test("a double-click never acts on an item that has moved under the pointer", async () => {
  await pages.start();
  const done = '"Notes":"","Done":true';
  await pages.create(named(ids.one, "One", done), named(ids.two, "Two"), named(ids.three, "Three"));
  const page = await pages.openPage();
  await page.show({ width: 400, height: 800 });
  const row = (id: string, control: string) => `[data-id="${id}"] [data-control="${control}"]`;
  // If both clicks hit the same row, both act: the first ticks the item, and the second unticks it.
  const isTicked = `document.querySelector('${row(ids.two, "tick")}').checked`;
  await doubleClick(page, row(ids.two, "tick"), () => isTicked);
  await page.until(`!${isTicked}`);
  await doubleClick(
    page,
    row(ids.three, "delete"),
    (pointed) => `${pointed}.closest("li")?.dataset.id === "${ids.two}"`,
  );
  await page.untilNames("Two", "One");
  // The first click on the button that clears done items removes the button. So the second click hits the list.
  await doubleClick(page, '[data-control="clear-done"]', (pointed) => `${pointed}.closest("li, .list")`);
  await page.untilNames("Two");
  expect(await page.evaluate("document.querySelectorAll('.editor').length")).toBe(0);
  // Single clicks still work as usual.
  await page.clickItem("Two", "delete");
  await page.untilNames();
});

test("an item that is unticked while done items are last moves up, and is no longer struck through", async () => {
  await pages.start();
  const done = (id: string, name: string) => JSON.stringify({ ID: id, Name: name, Done: true });
  await pages.create(named(ids.one, "One"), done(ids.two, "Two"), done(ids.three, "Three"));
  const page = await pages.openPage();
  await page.click('[data-control="done-last"]');
  await page.clickItem("Two", "tick");
  await pages.untilStored((items) => items.every(({ Name, Done }) => Name !== "Two" || Done === false));
  await page.until(
    "[...document.querySelectorAll('.name')].every((name) => (getComputedStyle(name).textDecorationLine === 'none') === (name.textContent !== 'Three'))",
  );
});
