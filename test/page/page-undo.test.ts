// Tests in a real Chromium that a slip of the hand does no harm: Ctrl+Z undoes, a double-click hits one item only, keys
// pressed outside an open editor lose nothing, and a tick can be taken back.

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
  await page.view.type("Milk");
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

/** Presses Ctrl+Z. A headless browser does not know that this key means "undo", unless the event says so. */
async function pressUndoKey(page: PageDriver): Promise<void> {
  const key = { key: "z", code: "KeyZ", windowsVirtualKeyCode: 90, modifiers: 2 };
  await page.view.cdp("Input.dispatchKeyEvent", { ...key, type: "rawKeyDown", commands: ["undo"] });
  await page.view.cdp("Input.dispatchKeyEvent", { ...key, type: "keyUp" });
}

test("Ctrl+Z in the empty composer or the empty search undoes the last action, unless the browser can undo typing there", async () => {
  await pages.start();
  const page = await pages.openPage();
  const pressUndo = () => pressUndoKey(page);
  const paste = (text: string) =>
    page.evaluate(`(() => {
      const clipboardData = new DataTransfer();
      clipboardData.setData("text", ${JSON.stringify(text)});
      document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
    })()`);
  const untilComposed = (text: string) =>
    page.until(`document.querySelector('[data-control=composer]').value === ${JSON.stringify(text)}`);
  await page.add("One");
  await page.untilNames("One");
  await paste("Two\nThree");
  await page.untilNames("Two", "Three", "One");
  // The browser can undo typing here: the first Ctrl+Z brings the erased text back, and the second removes it again.
  await page.view.type("M");
  await page.view.press("Backspace");
  await pressUndo();
  await untilComposed("M");
  await pressUndo();
  await untilComposed("");
  await page.untilNames("Two", "Three", "One");
  await pressUndo();
  await page.untilNames("One");
  expect(await page.focused()).toBe("composer");
  await page.fill('[data-control="search"]', "One");
  await page.view.press("Escape");
  await pressUndo();
  await page.untilNames();
  await pages.untilStored((items) => items.length === 0);
  // In a field of an editor, Ctrl+Z means the text of that field only, even if it is empty.
  await page.add("Four");
  await page.clickItem("Four", "text");
  await page.click('[data-control="notes"]');
  await page.view.press("z", { modifiers: ["Control"] });
  await page.view.press("Escape");
  await page.untilNames("Four");
});

/**
 * Double-clicks an element. `between` gets an expression for the element under the pointer, and returns an expression
 * that must be true in the page before the second click.
 */
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
  await page.untilDrawn();
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

test("a second click or key acts on the result of the first, even if no frame was drawn in between", async () => {
  await pages.start();
  await pages.create(named(ids.one, "One"), named(ids.two, "Two"));
  const page = await pages.openPage();
  // No frame can be drawn while a script waits for settled promises only.
  await page.evaluate(`(async () => {
    const control = (id, name) => document.querySelector(\`[data-id="\${id}"] [data-control="\${name}"]\`);
    for (const count of [1, 2]) {
      control("${ids.one}", "tick").click();
      await null;
      control("${ids.two}", "text").dispatchEvent(new KeyboardEvent("keydown", { key: " ", bubbles: true }));
      await null;
    }
  })()`);
  // The tick of "Three" is stored after all edits before it.
  await page.add("Three");
  await page.clickItem("Three", "tick");
  await pages.untilStored((items) => items.some(({ Name, Done }) => Name === "Three" && Done === true));
  await page.until('!document.querySelector(".saving")');
  const isDone = Object.fromEntries((await pages.listed()).map(({ Name, Done }) => [Name, Done]));
  expect(isDone).toEqual({ One: false, Two: false, Three: true });
});

test("a double-click that opens an editor or closes it leaves the focus where a single click does", async () => {
  await pages.start();
  const notes = "Line\\n".repeat(6);
  await pages.create(named(ids.one, "One"), named(ids.two, "Two", `"Notes":"${notes}","Done":false`));
  const page = await pages.openPage();
  // The dialog opens under the pointer. This comes first: a row that has just got the focus is kept in sight, so the
  // button could move away from the pointer.
  await page.show({ width: 1000, height: 200 });
  await doubleClick(page, '[data-control="connect"]', () => "document.querySelector('dialog')");
  expect(await page.evaluate("document.activeElement.ariaLabel")).toBe("Close");
  await page.view.press("Escape");
  await page.until("!document.querySelector('dialog')");
  await page.show({ width: 1000, height: 800 });
  const row = (id: string, part: string) => `[data-id="${id}"] ${part}`;
  const untilEditor = (id: string, count: number) => () =>
    `document.querySelectorAll('${row(id, ".editor")}').length === ${count}`;
  for (const [id, part] of [
    [ids.one, ".name"],
    [ids.two, ".name"],
    [ids.two, ".notes"],
  ] as const) {
    await doubleClick(page, row(id, part), untilEditor(id, 1));
    expect(await page.focused()).toBe("name");
    await doubleClick(page, row(id, ".buttons [type=reset]"), untilEditor(id, 0));
    expect([await page.focused(), await page.evaluate("document.querySelectorAll('.editor').length")]).toEqual([
      "text",
      0,
    ]);
  }
});

test("if an editor is open but has lost the focus, letters are no shortcuts, and Escape closes the newest editor", async () => {
  await pages.start();
  await pages.create(named(ids.one, "One"), named(ids.two, "Two"));
  const page = await pages.openPage();
  await page.clickItem("Two", "text");
  await page.fill('[data-control="name"]', "Two, edited");
  await page.clickItem("One", "text");
  await page.evaluate("document.activeElement.blur()");
  await page.view.press("n");
  await page.view.press("/");
  await page.view.press("?");
  expect([await page.focused(), await page.evaluate("document.querySelector('dialog')")]).toEqual(["BODY", null]);
  await page.view.press("Escape");
  await page.untilNames("One");
  await page.until("document.activeElement.dataset.control === 'text'");
  // The focus is on a row now, so letters are shortcuts again, although the other editor is open.
  await page.view.press("n");
  expect(await page.focused()).toBe("composer");
  await page.evaluate("document.activeElement.blur()");
  await page.view.press("Escape");
  await page.untilNames("Two", "One");
  await page.untilText("Your change of “Two” was not saved.");
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

test("ticking an item that the filter then hides shows a message with Undo, one at a time", async () => {
  await pages.start();
  await pages.create(named(ids.one, "One"), named(ids.two, "Two"));
  const page = await pages.openPage();
  await page.untilNames("Two", "One");
  await page.clickItem("Two", "tick");
  await page.clickItem("Two", "tick");
  expect(await page.evaluate<string>("document.body.innerText")).not.toContain("Marked");
  await page.click('[data-filter="open"]');
  await page.clickItem("Two", "tick");
  await page.untilText("Marked “Two” as done");
  await page.clickItem("One", "tick");
  await page.untilText("Marked “One” as done");
  expect(await page.evaluate<string>("document.body.innerText")).not.toContain("Marked “Two”");
  await page.clickButton("Undo");
  await page.untilNames("One");
  await page.view.press("z", { modifiers: ["Control"] });
  await page.untilNames("Two", "One");
});

test("an item that Ctrl+Z brings back is shown and has the focus, even if the filter or the search hides such items", async () => {
  await pages.start();
  await pages.create(named(ids.one, "One"), named(ids.two, "Two"));
  const page = await pages.openPage();
  await page.clickItem("One", "tick");
  await page.clickItem("Two", "delete");
  await page.fill('[data-control="search"]', "one");
  await page.click('[data-filter="done"]');
  await page.untilNames("One");
  for (const { id, names } of [
    { id: ids.two, names: ["Two", "One"] },
    { id: ids.one, names: ["Two", "One"] },
  ]) {
    await page.view.press("z", { modifiers: ["Control"] });
    await page.untilNames(...names);
    await page.until(`document.activeElement.closest("li")?.dataset.id === "${id}"`);
  }
  await pages.untilStored((items) => items.length === 2 && items[0]?.["Done"] === false);
});

test("Ctrl+Z in an editor undoes what was typed there, and then nothing: the focus stays, and no item is removed", async () => {
  await pages.start();
  const page = await pages.openPage();
  for (const name of ["Salt", "Pepper"]) {
    await page.click('[data-control="composer"]');
    await page.view.type(name);
    await page.view.press("Enter");
  }
  await page.untilNames("Pepper", "Salt");
  await page.clickItem("Salt", "text");
  const undo = () => pressUndoKey(page);
  // Nothing was typed in this editor yet.
  await undo();
  expect(await page.focused()).toBe("name");
  await page.view.press("End");
  await page.view.type(" fine");
  await undo();
  await page.until("document.activeElement.value === 'Salt'");
  for (let times = 0; times < 3; times++) await undo();
  expect([await page.focused(), await page.evaluate<string>("document.activeElement.value")]).toEqual(["name", "Salt"]);
  await page.view.press("Escape");
  await page.untilNames("Pepper", "Salt");
  // Outside an editor, Ctrl+Z undoes the last addition and says so.
  await undo();
  await page.untilText("Removed “Pepper”");
  await page.clickButton("Undo");
  await page.untilNames("Pepper", "Salt");
});
