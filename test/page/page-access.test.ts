// Tests in a real Chromium that everybody can use the page: with long lists, the keyboard alone, screen readers, small
// screens and large letters.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { eventually } from "../eventually.ts";
import { ids } from "../service.ts";
import { barriers } from "./axe.ts";
import { named, numbered, usePages } from "./page-fixture.ts";

const pages = usePages();

test("of 10,000 items, only those in sight are drawn, all can be reached, and a new one appears at once", async () => {
  const seed = join(pages.path, "seed.json");
  await Bun.write(seed, `[${Array.from({ length: 10_000 }, (_, index) => named(numbered(index), `Item ${index}`))}]`);
  await pages.start("--seed", seed);
  const page = await pages.openPage();
  await page.until("document.querySelector('.count').textContent === '10,000'");
  expect(await page.evaluate<number>("document.querySelectorAll('li').length")).toBeLessThan(60);
  await page.scrollTo(1e9);
  await page.until("[...document.querySelectorAll('.name')].at(-1)?.textContent === 'Item 0'");
  expect(await page.evaluate<number>("document.querySelectorAll('li').length")).toBeLessThan(60);
  // End moves the focus to the last row. The focus stays there when the list is scrolled away from that row.
  await page.scrollTo(0);
  await page.until("document.querySelector('.name').textContent === 'Item 9999'");
  await page.evaluate("document.querySelector('.tick').focus()");
  await page.view.press("End");
  await page.until("document.activeElement.ariaLabel === 'Done: Item 0'");
  await page.scrollTo(0);
  await page.until("document.body.innerText.includes('Item 9999')");
  await page.view.press("ArrowUp");
  await page.until("document.activeElement.ariaLabel === 'Done: Item 1'");
  await page.fill('[data-control="search"]', "Item 4321");
  await page.untilNames("Item 4321");
  await page.clickItem("Item 4321", "tick");
  await page.until("document.querySelectorAll('.count')[2].textContent === '1'");
  await page.fill('[data-control="search"]', "");
  await page.view.press("Escape");
  await page.scrollTo(20_000);
  // The composer, the field for new items, stays in sight. The page scrolls to the item that was added.
  await page.add("One more");
  await page.until("document.querySelector('.name')?.textContent === 'One more' && scrollY === 0");
  await page.click('[data-control="connect"]');
  await page.untilText("10,001 items");
  // The app of the Xamarin.Forms tutorial reads at most 256,000 bytes. This list is far larger, and the page says so.
  await page.untilText("Over 256,000 bytes");
});

test("everything can be done with the keyboard alone", async () => {
  await pages.start();
  const page = await pages.openPage();
  const press = (...keys: Bun.WebView.VirtualKey[]) =>
    keys.reduce((before, key) => before.then(() => page.view.press(key)), Promise.resolve());
  // An empty page focuses the composer, the field for new items. Shortcuts work only when no field has the focus, so
  // take the focus away.
  await eventually(async () => expect(await page.focused()).toBe("composer"));
  await page.evaluate("document.activeElement.blur()");
  await page.view.press("n", { modifiers: ["Shift"] });
  await page.evaluate("dispatchEvent(new KeyboardEvent('keydown', { key: 'n' }))");
  expect(await page.focused()).toBe("composer");
  for (const name of ["One", "Two", "Three"]) {
    await page.view.type(name);
    await press("Enter");
  }
  await page.untilNames("Three", "Two", "One");
  // Tab goes from the composer (the field for new items) through the controls to the first item. The Add button is
  // hidden while the composer is empty, so Tab skips it.
  for (let count = 0; count < 8 && (await page.focused()) !== "tick"; count++) await press("Tab");
  expect(await page.focused()).toBe("tick");
  await press("Space", "ArrowDown", "Space");
  await pages.untilStored((items) => items[2]?.["Done"] === true && items[1]?.["Done"] === true);
  await press("Tab", "Enter");
  await page.until("document.activeElement.dataset.control === 'name'");
  await page.selectAll();
  await page.view.type("Two edited");
  await press("Enter");
  await page.untilNames("Three", "Two edited", "One");
  await page.until("document.activeElement.dataset.control === 'text'");
  // Space also toggles the tick while the focus is on the name.
  await press("Space");
  await pages.untilStored((items) => items[1]?.["Done"] === false);
  expect([await page.focused(), await page.evaluate("document.querySelectorAll('.editor').length")]).toEqual([
    "text",
    0,
  ]);
  await press("Delete");
  await page.untilNames("Three", "One");
  await page.view.press("z", { modifiers: ["Control"] });
  await page.untilNames("Three", "Two edited", "One");
  await page.until("document.activeElement.closest('li')?.innerText.includes('Two edited')");
  await press("Backspace");
  await page.untilNames("Three", "One");
  await page.evaluate("document.querySelector('[data-control=dismiss]').click()");
  await page.until("document.activeElement.closest('li')?.innerText.includes('One')");
  await press("End", "Home");
  await page.until("document.activeElement.closest('li')?.innerText.includes('Three')");
  await press("Enter", "Escape");
  await page.until("document.activeElement.dataset.control === 'text' && !document.querySelector('.editor')");
  await pages.untilStored((items) => items.length === 2);
  expect((await pages.listed()).map(({ Name }) => Name)).toEqual(["One", "Three"]);
  for (const field of ["composer", "search"]) {
    await page.evaluate(`document.querySelector('[data-control=${field}]').focus()`);
    await press("ArrowDown");
    await page.until("document.activeElement.closest('li')?.innerText.includes('Three')");
  }
  await page.view.press("?");
  await page.until("document.querySelector('dialog.shortcuts[open]')?.innerText.includes('new item')");
  for (const keys of ["Del Backspace", "PgUp PgDn"]) await page.untilText(keys);
  await press("Escape");
  await page.until("!document.querySelector('dialog')");
});

for (const [width, height] of [
  [1366, 657],
  [360, 640],
] as const)
  test(`in a window of ${width} × ${height} pixels, Home, End and PageDown scroll to the item that gets the focus, however tall the rows are`, async () => {
    await pages.start();
    const name = (index: number) => `${index}: ring the garage about the winter tyres, and ask about the old ones`;
    await pages.create(
      ...Array.from({ length: 40 }, (_, index) => named(numbered(index), name(index), '"Notes":"soon","Done":false')),
    );
    const page = await pages.openPage();
    await page.show({ width, height });
    await page.evaluate("document.querySelector('li[data-index=\"0\"] [data-control=text]').focus()");
    for (const [key, expected] of [
      ["End", 0],
      ["Home", 39],
      ["PageDown", 29],
      ["End", 0],
    ] as const) {
      await page.view.press(key);
      await page.until(`document.activeElement.closest("li")?.innerText.includes("${expected}: ring")`);
      // Wait until the page is drawn and still.
      await page.until(`(() => {
        const place = document.activeElement.getBoundingClientRect().top + scrollY + document.body.scrollHeight;
        const isStill = place === window.placeBefore;
        window.placeBefore = place;
        return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(isStill))));
      })()`);
      const { top, bottom } = await page.evaluate<{ top: number; bottom: number }>(`(() => {
        const { top, bottom } = document.activeElement.getBoundingClientRect();
        return { top, bottom };
      })()`);
      expect([key, top >= 0, bottom <= height]).toEqual([key, true, true]);
    }
    // If the user scrolls away right after that, the page does not scroll back.
    await page.view.press("ArrowUp");
    await page.scrollTo(0);
    await page.until("document.querySelector('li[data-index=\"1\"]')");
    await page.evaluate("new Promise((resolve) => setTimeout(() => requestAnimationFrame(() => resolve(0)), 100))");
    expect(await page.evaluate<number>("scrollY")).toBe(0);
  });

test("when the focused row disappears, because of a tick or somebody else's deletion, the next row gets the focus", async () => {
  await pages.start();
  await pages.create(named(ids.one, "One"), named(ids.two, "Two"), named(ids.three, "Three"));
  const page = await pages.openPage();
  await page.click('[data-filter="open"]');
  await page.untilNames("Three", "Two", "One");
  await page.evaluate("document.querySelector('.tick').focus()");
  await page.view.press("Space");
  await page.untilNames("Two", "One");
  await page.until("document.activeElement.ariaLabel === 'Done: Two'");
  await pages.send("DELETE", `/api/todoitems/${ids.two}`);
  await page.untilNames("One");
  await page.until("document.activeElement.ariaLabel === 'Done: One'");
  await page.view.press("Delete");
  await page.untilText("All done");
  await page.until("document.activeElement.dataset.control === 'composer'");
});

for (const [place, start] of [
  ["at the top of the list", 0],
  ["in the middle of the list", 600],
] as const)
  test(`with done items last, a tick ${place} does not scroll the list, and moves the focus to the next row`, async () => {
    await pages.start();
    await pages.create(...Array.from({ length: 40 }, (_, index) => named(numbered(index), `Item ${index}`)));
    const page = await pages.openPage();
    await page.clickItem("Item 39", "tick");
    await page.click('[data-control="done-last"]');
    // When the list is drawn in its new order, it keeps the rows in sight in place. So wait for that before scrolling.
    await page.until("document.querySelector('li[data-index=\"0\"] .name')?.textContent === 'Item 38'");
    await page.scrollTo(start);
    await page.until(`scrollY === ${start}`);
    const tick = `(top) => [...document.querySelectorAll(".tick")]
      .sort((one, other) => one.getBoundingClientRect().top - other.getBoundingClientRect().top)
      .find((tick) => tick.getBoundingClientRect().top > top)`;
    // The page keeps the row at the upper edge of the window in place. If that row is ticked and goes away, the page
    // keeps the next row in place. So tick a row further down first, then one at the edge.
    for (const top of [300, 0]) {
      await page.until(`(${tick})(${top})`);
      const next = await page.evaluate<string>(`(() => {
        const target = (${tick})(${top});
        target.focus({ preventScroll: true });
        window.next = (${tick})(target.getBoundingClientRect().top + 1);
        window.topBefore = window.next.getBoundingClientRect().top;
        return window.next.ariaLabel;
      })()`);
      await page.view.press("Space");
      await page.until(`document.activeElement.ariaLabel === "${next}"`);
      // The next row stays where it was, or moves up into the place of the ticked row.
      await page.until("Math.abs(window.next.getBoundingClientRect().top - window.topBefore) < 80");
    }
    // If somebody else ticks the row above, the focus stays where it is.
    await page.view.press("ArrowDown");
    await page.until("document.activeElement.ariaLabel !== window.next.ariaLabel");
    const [focused, above] = await page.evaluate<[string, string]>(`(() => {
      const index = document.activeElement.closest("li").dataset.index - 1;
      return [document.activeElement.ariaLabel, document.querySelector(\`li[data-index="\${index}"] .name\`).textContent];
    })()`);
    const number = Number(above.slice("Item ".length));
    await pages.send("PUT", "/api/todoitems/", named(numbered(number), above, '"Notes":"","Done":true'));
    await page.until(`document.querySelector('[data-filter="done"] .count').textContent === "4"`);
    expect(await page.evaluate<string>("document.activeElement.ariaLabel")).toBe(focused);
  });

test("with done items last, the page does not scroll along with a row that is unticked and moves up", async () => {
  const done = (index: number, isDone: boolean) =>
    named(numbered(index), `Item ${index}`, `"Notes":"","Done":${isDone}`);
  await pages.start();
  await pages.create(...Array.from({ length: 60 }, (_, index) => done(index, index < 40)));
  const page = await pages.openPage();
  await page.click('[data-control="done-last"]');
  await page.until("document.querySelector('li[data-index=\"0\"] .name')?.textContent === 'Item 59'");
  // The page holds the first row whose lower edge is in the window, or the row after it.
  const rows = `[...document.querySelectorAll("li[data-index]")]
    .filter((row) => row.getBoundingClientRect().bottom > 0)
    .sort((one, other) => one.dataset.index - other.dataset.index)`;
  await page.scrollTo(2000);
  await page.until(`(${rows})[0]?.getBoundingClientRect().top <= 0 && (${rows})[0].dataset.index > 25`);
  const [first, second] = await page.evaluate<string[]>(`(() => {
    window.first = (${rows})[0];
    window.topBefore = window.first.getBoundingClientRect().top;
    return (${rows}).slice(0, 2).map((row) => row.querySelector(".name").textContent);
  })()`);
  const number = Number(second?.slice("Item ".length));
  await pages.send("PUT", "/api/todoitems/", done(number, false));
  await page.until(`document.querySelector('[data-filter="open"] .count').textContent === "21"`);
  await page.until(`(${rows})[0].querySelector(".name").textContent === "${first}"`);
  await page.until("Math.abs(window.first.getBoundingClientRect().top - window.topBefore) < 5");
});

test("axe-core finds no violation in lists, editors and dialogs, light and dark, wide and narrow", async () => {
  await pages.start("--auth", "writes", "--users", await pages.oneUser());
  const headers = { Authorization: `Basic ${btoa("ann:long enough")}` };
  await pages.send(
    "POST",
    "/api/todoitems/",
    named(ids.one, "Milk", '"Notes":"oat","Done":true,"Price":1.50'),
    headers,
  );
  await pages.send("POST", "/api/todoitems/", named(ids.two, "Bread"), headers);
  const page = await pages.openPage();
  await page.untilNames("Bread", "Milk");
  const check = async (what: string) => {
    expect({ what, barriers: await barriers(page) }).toEqual({ what, barriers: [] });
  };
  for (const { colours, width } of [
    { colours: "light", width: 1024 },
    { colours: "dark", width: 390 },
  ] as const) {
    await page.show({ width, height: 760, colours });
    await check(`the list, ${colours}`);
    await page.clickItem("Milk", "text");
    await check(`an editor, ${colours}`);
    await page.click('[data-control="json-view"]');
    await check(`an item as JSON, ${colours}`);
    await page.view.press("Escape");
    await page.click('[data-control="connect"]');
    await check(`the panel, ${colours}`);
    await page.view.press("Escape");
    await page.until("!document.querySelector('dialog')");
    await page.clickItem("Bread", "delete");
    await check(`a message, ${colours}`);
    await page.click('[data-control="dismiss"]');
    await page.until("document.querySelector('dialog.sign-in')");
    await check(`the sign-in form, ${colours}`);
    await page.clickButton("Cancel");
    await page.until("!document.querySelector('dialog')");
    await check(`a banner, ${colours}`);
    await page.clickButton("Discard");
  }
});

test("on a phone, every control is at least 44 pixels large and every field has 16-pixel text; at 400 % all controls can be reached", async () => {
  await pages.start();
  await pages.create(named(ids.one, "Milk", '"Done":true'), named(ids.two, "Bread"));
  const page = await pages.openPage();
  await page.show({ width: 390, height: 844, isPhone: true });
  await page.clickItem("Bread", "text");
  await page.until("document.querySelector('.editor')");
  const small = await page.evaluate<string[]>(`[...document.querySelectorAll("button, input, textarea")]
    .map((control) => [control.outerHTML.slice(0, 80), (control.closest("label.check") ?? control).getBoundingClientRect(), control])
    .filter(([, { height, width }]) => height > 0 && (height < 44 || width < 44))
    .map(([html]) => html)`);
  expect(small).toEqual([]);
  const texts = await page.evaluate<number[]>(
    "[...document.querySelectorAll('input:not([type=checkbox]), textarea')].map((field) => parseFloat(getComputedStyle(field).fontSize))",
  );
  expect(Math.min(...texts)).toBeGreaterThanOrEqual(16);
  await page.view.press("Escape");
  await page.show({ width: 320, height: 256, isPhone: true });
  // Nothing is wider than the window, so one direction of scrolling is enough.
  expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBeLessThanOrEqual(320);
  await page.clickItem("Milk", "tick");
  await page.clickItem("Milk", "text");
  await page.fill('[data-control="name"]', "Oat milk");
  await page.clickButton("Save");
  await pages.untilStored(([one]) => one?.["Name"] === "Oat milk" && one["Done"] === false);
});

test("with text of twice the size on a narrow phone, every filter is in sight", async () => {
  await pages.start();
  await pages.create(named(ids.one, "Milk", '"Done":true'), named(ids.two, "Bread"));
  const page = await pages.openPage();
  await page.show({ width: 360, height: 740, isPhone: true });
  await page.evaluate("document.documentElement.style.fontSize = '200%'");
  const ends = await page.evaluate<number[]>(
    "[...document.querySelectorAll('[data-filter]')].map((filter) => filter.getBoundingClientRect().right)",
  );
  expect(ends).toHaveLength(3);
  expect(Math.max(...ends)).toBeLessThanOrEqual(360);
});

test("at 400 %, a dialog opens at its top and fits beside the scroll bar of the page", async () => {
  await pages.start();
  await pages.create(...Array.from({ length: 8 }, (_, index) => named(numbered(index), `Item ${index}`)));
  const page = await pages.openPage();
  await page.show({ width: 320, height: 256 });
  await page.until("document.documentElement.clientWidth < innerWidth");
  const place = () =>
    page.evaluate<{ scrollTop: number; isInside: boolean }>(`(({ scrollTop }, { left, right }) =>
      ({ scrollTop, isInside: left >= 0 && right <= document.documentElement.clientWidth }))(
        document.querySelector("dialog"), document.querySelector("dialog").getBoundingClientRect())`);
  for (const key of ["?", "Enter"]) {
    if (key === "Enter") await page.evaluate(`document.querySelector('[data-control="connect"]').focus()`);
    await page.view.press(key);
    await page.until("document.querySelector('dialog[open]')");
    expect({ key, ...(await place()) }).toEqual({ key, scrollTop: 0, isInside: true });
    await page.view.press("Escape");
    await page.until("!document.querySelector('dialog')");
  }
});

test("at 400 %, the choices of the sign-in form and of a conflict are in sight without scrolling", async () => {
  await pages.start("--auth", "writes", "--users", await pages.oneUser());
  const headers = { Authorization: `Basic ${btoa("ann:long enough")}` };
  await pages.send("POST", "/api/todoitems/", named(ids.one, "Milk"), headers);
  const page = await pages.openPage();
  await page.show({ width: 320, height: 256 });
  /** Returns the buttons of the dialog, and whether each is in sight when the dialog is scrolled to its top. */
  const choices = () =>
    page.evaluate<[string, boolean][]>(`((dialog) => {
      dialog.scrollTo(0, 0);
      const { bottom: end } = dialog.getBoundingClientRect();
      return [...dialog.querySelectorAll(".buttons button")]
        .map((button) => [button.innerText, button.getBoundingClientRect().bottom <= end]);
    })(document.querySelector("dialog"))`);
  await page.clickItem("Milk", "text");
  await page.fill('[data-control="name"]', "Oat milk");
  await pages.send("PUT", "/api/todoitems/", named(ids.one, "Rice milk"), headers);
  await page.clickButton("Save");
  await page.until("document.querySelector('dialog.sign-in')");
  // The field that has the focus is in sight, above the buttons, which stay at the end of the dialog.
  expect(
    await page.evaluate<boolean>(`(() => {
      const [field, buttons] = [document.activeElement, document.querySelector(".buttons")].map((one) => one.getBoundingClientRect());
      return document.activeElement.dataset.control === "username" && field.top >= 0 && field.bottom <= buttons.top;
    })()`),
  ).toBe(true);
  expect(await choices()).toEqual([
    ["Sign in", true],
    ["Cancel", true],
  ]);
  await page.fill('[data-control="username"]', "ann");
  await page.fill('[data-control="password"]', "long enough");
  await page.view.press("Enter");
  await page.clickItem("Oat milk", "conflict");
  await page.until("document.querySelector('dialog.conflict-dialog')");
  expect(await choices()).toEqual([
    ["Keep mine", true],
    ["Keep theirs", true],
    ["Keep both", true],
    ["Decide later", true],
  ]);
});

for (const [width, height] of [
  [320, 256],
  [568, 320],
  [844, 390],
] as const)
  test(`in a window of ${width} × ${height} pixels, the message about a wrong password is in sight, above the buttons`, async () => {
    await pages.start("--auth", "writes", "--users", await pages.oneUser());
    const page = await pages.openPage();
    await page.show({ width, height, isPhone: true });
    await page.click('[data-control="sign-in"]');
    await page.fill('[data-control="username"]', "ann");
    await page.fill('[data-control="password"]', "wrong");
    await page.view.press("Enter");
    await page.until(`((problem) => {
      const [text, buttons, dialog] = [problem, document.querySelector("dialog .buttons"), document.querySelector("dialog")]
        .map((one) => one.getBoundingClientRect());
      return problem.innerText !== "" && text.top >= dialog.top && text.bottom <= buttons.top;
    })(document.querySelector("dialog .problem"))`);
  });

test("in landscape on a phone, a message does not cover the buttons of an editor", async () => {
  await pages.start();
  await pages.create(named(ids.one, "One"), named(ids.two, "Two"), named(ids.three, "Three"));
  const page = await pages.openPage();
  await page.show({ width: 640, height: 360, isPhone: true });
  // The message about a conflict stays until the user has decided.
  await page.clickItem("One", "text");
  await page.fill('[data-control="name"]', "One, mine");
  await pages.send("PUT", "/api/todoitems/", named(ids.one, "One, theirs"));
  await page.clickButton("Save");
  await page.untilText("needs a decision");
  await page.clickItem("Two", "text");
  await page.until(`(() => {
    const [notice, ...buttons] = [document.querySelector(".notice"), ...document.querySelectorAll(".editor .buttons button")]
      .map((one) => one.getBoundingClientRect());
    return buttons.length > 1 && buttons.every(({ top, bottom }) => bottom <= innerHeight && (bottom <= notice.top || top >= notice.bottom));
  })()`);
});

test("in a narrow window, the mark for two versions leaves room for the name", async () => {
  await pages.start();
  await pages.create(named(ids.one, "Renew the passport soon"));
  const page = await pages.openPage();
  await page.show({ width: 320, height: 568, isPhone: true });
  await page.clickItem("Renew the passport soon", "text");
  await page.fill('[data-control="name"]', "Renew the passport today");
  await pages.send("PUT", "/api/todoitems/", named(ids.one, "Renew the passport never"));
  await page.clickButton("Save");
  await page.until("document.querySelector('[data-control=conflict]')");
  await page.until("document.querySelector('.name').getBoundingClientRect().width > 160");
  expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBeLessThanOrEqual(320);
});

test("the page does not move sideways when the list becomes so long that it needs a scroll bar", async () => {
  await pages.start();
  const page = await pages.openPage();
  await page.show({ width: 1024, height: 760 });
  const place = () =>
    page.evaluate<{ left: number; hasBar: boolean }>(`({
      left: document.querySelector("header").getBoundingClientRect().left,
      hasBar: document.documentElement.clientWidth < innerWidth,
    })`);
  const before = await place();
  await pages.create(...Array.from({ length: 20 }, (_, index) => named(numbered(index), `Item ${index}`)));
  await page.until("document.documentElement.clientWidth < innerWidth");
  expect([before.hasBar, await place()]).toEqual([false, { left: before.left, hasBar: true }]);
});

test("in a window of 300 × 200 pixels, both versions of a conflict can be read", async () => {
  await pages.start();
  await pages.create(named(ids.one, "Milk"));
  const page = await pages.openPage();
  await page.clickItem("Milk", "text");
  await page.fill('[data-control="name"]', "Oat milk");
  await pages.send("PUT", "/api/todoitems/", named(ids.one, "Rice milk"));
  await page.clickButton("Save");
  await page.clickButton("Decide");
  await page.until("document.querySelector('.differences')");
  await page.show({ width: 300, height: 200 });
  // Scrolled to the middle of the window, each version is what one sees there: nothing lies above it.
  const isSeen = `[...document.querySelectorAll(".differences td")].map((cell) => {
    cell.scrollIntoView({ block: "center" });
    const { left, top, width, height } = cell.getBoundingClientRect();
    return [0.1, 0.5, 0.9].every((part) => document.elementFromPoint(left + width / 2, top + height * part) === cell);
  }).join()`;
  await page.until(`${isSeen} === "true,true"`);
});
