// The list of items in a real Chromium: fields, filters, other people's changes, pasted lines, done items, read-only
// instances, and the connection to the service.

import { expect, test } from "bun:test";
import { eventually } from "../eventually.ts";
import { ids } from "../service.ts";
import type { PageDriver } from "./page-driver.ts";
import { named, numbered, usePages } from "./page-fixture.ts";

const pages = usePages();

test("both spellings of field names are read and kept, and other fields can be edited as JSON with exact numbers", async () => {
  await pages.start();
  const odd = '"n":12345678901234567890,"m":1.0,"e":1e400,"deep":{"list":[1.50,{}]},"s":"\\ud800"';
  await pages.create(
    `{"ID":"${ids.one}","Name":"Pascal","Notes":"N","Done":true,${odd}}`,
    `{"id":"${ids.two}","name":"camel","notes":"n","done":false}`,
  );
  const page = await pages.openPage();
  await page.untilNames("camel", "Pascal");
  expect(await page.items()).toEqual([
    { name: "camel", notes: "n", done: false },
    { name: "Pascal", notes: "N", done: true },
  ]);
  await page.clickItem("camel", "tick");
  await page.clickItem("Pascal", "tick");
  await pages.untilStored(([one, two]) => one?.["Done"] === false && two?.["done"] === true);
  expect(await pages.list()).toBe(
    `[{"ID":"${ids.one}","Name":"Pascal","Notes":"N","Done":false,${odd}},{"id":"${ids.two}","name":"camel","notes":"n","done":true}]`,
  );

  await page.clickItem("Pascal", "text");
  await page.click('[data-control="json-view"]');
  await page.until(`document.querySelector('[data-control="json"]') !== null`);
  const json = await page.evaluate<string>(`document.querySelector('[data-control="json"]').value`);
  expect(json).toContain('\n  "n": 12345678901234567890,\n  "m": 1.0,\n  "e": 1e400,\n');
  await page.fill('[data-control="json"]', json.replace("1.50", "2.50, 00"));
  await page.clickButton("Save");
  await page.untilText("not valid JSON");
  await page.fill('[data-control="json"]', json.replace(ids.one, ids.three));
  await page.clickButton("Save");
  await page.untilText("cannot be changed");
  await page.fill('[data-control="json"]', json.replace("1.50", "2.50"));
  await page.clickButton("Save");
  await page.until("!document.querySelector('.editor')");
  const edited = `"Done":false,${odd.replace("1.50", "2.50")}}`;
  await eventually(async () => expect(await pages.list()).toContain(edited));
});

test("if only items that the filter hides contain the searched word, the page does not say that there are none", async () => {
  await pages.start();
  await pages.create(named(ids.one, "Milk", '"Done":true'));
  const page = await pages.openPage();
  await page.click('[data-filter="open"]');
  await page.fill('[data-control="search"]', "milk");
  await page.untilText("No open item contains “milk”.");
  await page.fill('[data-control="search"]', "bread");
  await page.click('[data-filter="all"]');
  await page.untilText("No item contains “bread”.");
});

test("items can be filtered and searched by every field, and each filter shows its count", async () => {
  await pages.start();
  await pages.create(
    named(ids.one, "Milk", '"Done":true'),
    named(ids.two, "Bread", '"Notes":"rye"'),
    named(ids.three, "Honey", '"Shop":"Rye Lane"'),
  );
  const page = await pages.openPage();
  await page.untilNames("Honey", "Bread", "Milk");
  const counts = () =>
    page.evaluate<string[]>("[...document.querySelectorAll('.count')].map((count) => count.textContent)");
  expect(await counts()).toEqual(["3", "2", "1"]);
  await page.click('[data-filter="done"]');
  await page.untilNames("Milk");
  await page.click('[data-filter="open"]');
  await page.untilNames("Honey", "Bread");
  await page.click('[data-filter="all"]');
  await page.fill('[data-control="search"]', "RYE");
  await page.untilNames("Honey", "Bread");
  await page.view.press("Escape");
  await page.untilNames("Honey", "Bread", "Milk");
  await page.clickItem("Bread", "tick");
  await page.until("[...document.querySelectorAll('.count')].map((count) => count.textContent).join() === '3,1,2'");
});

test("two pages see each other's changes, and the row that the user is looking at stays in place", async () => {
  await pages.start();
  await pages.create(...Array.from({ length: 60 }, (_, index) => named(numbered(index), `Item ${index}`)));
  const [one, two] = [await pages.openPage(), await pages.openPage()];
  await one.scrollTo(1500);
  const middle = `document.elementFromPoint(innerWidth / 2, innerHeight / 2 + 20).closest("li")`;
  await one.until(`${middle}?.dataset.id && scrollY > 1000`);
  const seen = () =>
    one.evaluate<[string, number]>(`[${middle}.dataset.id, Math.round(${middle}.getBoundingClientRect().top)]`);
  const seenAtRest = async () => {
    let now = await seen();
    await eventually(async () => {
      const last = now;
      await one.untilDrawn();
      now = await seen();
      expect(now).toEqual(last);
    });
    return now;
  };
  // Rows get their exact heights when they are drawn, so the page may still move by a few pixels at first.
  const before = await seenAtRest();
  for (let index = 61; index <= 70; index++) {
    await pages.create(named(numbered(index), `Item ${index}`));
    await one.until(`document.querySelector('.count').textContent === '${index}'`);
    expect(await seenAtRest()).toEqual(before);
  }
  for (let index = 70; index >= 61; index--) {
    await pages.send("DELETE", `/api/todoitems/${numbered(index)}`);
    await one.until(`document.querySelector('.count').textContent === '${index - 1}'`);
    expect(await seenAtRest()).toEqual(before);
  }
  await two.add("From the other page");
  await two.untilText("From the other page");
  await one.until("document.querySelector('.count').textContent === '61'");
  expect(await seenAtRest()).toEqual(before);
  await one.scrollTo(0);
  await one.untilText("From the other page");
  await one.clickItem("From the other page", "tick");
  await two.until("document.querySelector('.name').dataset.done === 'true'");
  await two.clickItem("From the other page", "delete");
  await two.click('[data-control="dismiss"]');
  await one.until("document.querySelector('.count').textContent === '60'");
  expect((await one.items())[0]?.name).toBe("Item 59");
});

test("several pasted lines become several items, done items can be moved to the end and cleared, and both can be undone", async () => {
  await pages.start();
  const page = await pages.openPage();
  await page.until("document.activeElement.dataset.control === 'composer'");
  await page.evaluate(`(() => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text", "- Milk\\n- [x] Bread\\n\\n- Honey");
    document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  })()`);
  await page.untilNames("Milk", "Bread", "Honey");
  await page.untilText("Added 3 items");
  expect((await page.items()).map(({ done }) => done)).toEqual([false, true, false]);
  await page.clickItem("Honey", "tick");
  await page.click('[data-control="done-last"]');
  await page.untilNames("Milk", "Bread", "Honey");
  // The choice has no effect on a list of done items, so it is not offered there.
  await page.click('[data-filter="done"]');
  await page.untilNames("Bread", "Honey");
  expect(await page.evaluate("document.querySelector('[data-control=done-last]')")).toBeNull();
  // A reload keeps both choices.
  await page.view.reload();
  await page.untilNames("Bread", "Honey");
  await page.click('[data-filter="all"]');
  await page.untilNames("Milk", "Bread", "Honey");
  // The next visit shows all items.
  await page.click('[data-filter="done"]');
  const another = await pages.openPage();
  await another.untilNames("Milk", "Bread", "Honey");
  await page.click('[data-filter="all"]');
  await page.click('[data-control="clear-done"]');
  await page.untilNames("Milk");
  await page.clickButton("Undo");
  await page.untilNames("Milk", "Bread", "Honey");
  await page.click('[data-control="clear-done"]');
  await page.click('[data-control="dismiss"]');
  await pages.untilStored((items) => items.map(({ Name }) => Name).join() === "Milk");
});

test("items of other apps have names, done marks and chips, and a new item has their field names", async () => {
  await pages.start();
  await pages.create(
    `{"id":"${ids.one}","title":"Passport","completed":false,"dueDate":"2020-02-01","priority":"high","tags":["travel"]}`,
  );
  const page = await pages.openPage();
  await page.untilNames("Passport");
  const chips = "[...document.querySelectorAll('.chip')].map((chip) => chip.textContent).join('|')";
  expect(await page.evaluate<string>(chips)).toBe("Overdue 1 Feb 2020|Priority high|travel");
  await page.clickItem("Passport", "tick");
  await page.add("Visa");
  await pages.untilStored(([one, two]) => one?.["completed"] === true && two?.["title"] === "Visa");
  expect(Object.keys((await pages.listed())[1] ?? {})).toEqual(["id", "title", "completed"]);
});

test("the page of a read-only instance says so once, and offers no Undo for what is not kept", async () => {
  await pages.start("--demo");
  const page = await pages.openPage();
  await page.untilText("keeps nothing");
  const before = await page.items();
  expect(before).toHaveLength(3);
  await page.add("For nothing");
  await page.untilText("Not kept");
  await page.until("!document.body.innerText.includes('For nothing')");
  await page.clickItem(before[0]?.name ?? "", "delete");
  // After two frames, the page has drawn the result of the click.
  await page.untilDrawn();
  expect(await page.evaluate<string>("document.querySelector('.notices').innerText")).not.toContain("Undo");
  await page.until("document.querySelectorAll('.row').length === 3");
  expect(await page.items()).toEqual(before);
  expect(await page.evaluate<number>("document.querySelectorAll('.notice').length")).toBe(1);
});

test("if the service stops answering, the page says so while it waits, and is live again by itself", async () => {
  await pages.start();
  const page = await pages.openPage();
  const untilStatus = (text: string) => page.until(`document.querySelector('.connection').innerText === '${text}'`);
  await untilStatus("Live");
  pages.program.kill("SIGSTOP");
  await page.add("Milk");
  await untilStatus("No answer yet");
  expect([await page.focused(), await page.evaluate("document.querySelector('dialog')")]).toEqual(["composer", null]);
  pages.program.kill("SIGCONT");
  await untilStatus("Live");
  await pages.untilStored((items) => items.length === 1);
});

test("seven tabs share one change feed, and when the tab that reads it is closed, another one goes on", async () => {
  await pages.start();
  const tabs = await Promise.all(Array.from({ length: 7 }, () => pages.openPage()));
  await pages.create(named(ids.one, "One"));
  for (const tab of tabs) await tab.untilNames("One");
  const [first, ...others] = tabs;
  if (first) pages.closePage(first);
  await pages.create(named(ids.two, "Two"));
  for (const tab of others) await tab.untilNames("Two", "One");
  await others[0]?.add("Three");
  for (const tab of others) await tab.untilNames("Three", "Two", "One");
});

/** Opens a page that cannot share the feed with other tabs, and so rests two seconds after it is hidden. */
async function openWithoutLocks(): Promise<PageDriver> {
  const page = await pages.openPage();
  // A browser offers no locks to a page that comes over plain HTTP from another machine. Take the locks away here, too.
  await page.view.cdp("Page.addScriptToEvaluateOnNewDocument", { source: "delete Navigator.prototype.locks" });
  await page.view.reload();
  await page.untilText("Live");
  return page;
}

function setHidden(page: PageDriver, isHidden: boolean): Promise<unknown> {
  return page.evaluate(`(Object.defineProperty(document, "hidden", { value: ${isHidden}, configurable: true }),
    dispatchEvent(new Event("visibilitychange")))`);
}

test("a hidden tab goes on until its edits are sent, even if the service was away", async () => {
  await pages.start();
  const page = await openWithoutLocks();
  await pages.restart(async () => {
    await page.add("While away");
    await page.untilText("kept in this browser");
    await setHidden(page, true);
    // Wait longer than a tab without edits goes on.
    await page.evaluate("new Promise((resolve) => setTimeout(resolve, 3_000))");
  });
  await pages.untilStored(([one]) => one?.["Name"] === "While away");
});

test("a hidden tab that cannot share the feed closes it, and shows what it missed when it is shown again", async () => {
  await pages.start();
  const page = await openWithoutLocks();
  await page.view.cdp("Network.enable");
  const closed = new Promise<void>((resolve) => page.view.addEventListener("Network.loadingFailed", () => resolve()));
  await setHidden(page, true);
  await closed;
  await pages.create(named(ids.one, "One"));
  await setHidden(page, false);
  await page.untilNames("One");
});
