// The page in a real Chromium, on a real service: editing, working offline, conflicts, long lists, the
// keyboard, small screens, and connecting an app.

import { afterAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { eventually } from "../eventually.ts";
import { ids } from "../service.ts";
import { barriers } from "./axe.ts";
import { holdDevice } from "./device.ts";
import type { PageDriver } from "./page-driver.ts";
import { named, numbered, usePages } from "./page-fixture.ts";

const certificates = temporaryFolder();
afterAll(() => certificates.dispose());

const pages = usePages(certificates.path);

/** Starts a service with these items, and opens its page. */
async function openWith(...items: readonly string[]): Promise<PageDriver> {
  await pages.start();
  await pages.create(...items);
  return pages.openPage();
}

/** In the page: from now on, no request is sent before `goOn()` is called. `held` counts them. */
const holdAnswers = `() => {
  const { fetch: send } = globalThis;
  const isOver = new Promise((resolve) => Object.assign(globalThis, { goOn: resolve, held: 0 }));
  const hold = async (url, init) => {
    globalThis.held++;
    await isOver;
    return send(url, init);
  };
  Object.assign(globalThis, { fetch: hold });
}`;

const focusedName = "document.activeElement.closest('li')?.querySelector('.name').textContent";

test("items can be added, ticked, edited, deleted and brought back, and other fields keep every digit", async () => {
  const page = await openWith();
  await page.untilText("No items yet");
  await page.add("Buy milk");
  await page.add("Call Ann");
  await page.untilNames("Buy milk", "Call Ann");
  await pages.untilStored((items) => items.length === 2);
  await page.clickItem("Buy milk", "tick");
  await page.untilNames("Call Ann", "Buy milk");
  await pages.untilStored((items) => items[0]?.["Done"] === true);

  await pages.create(`{"ID":"${ids.one}","Name":"Sell","Serial":12345678901234567890,"Price":1.50,"Done":false}`);
  await page.untilText("Price 1.50");
  await page.clickItem("Sell", "text");
  await page.fill('[data-field="Name"]', "Sell the <b>car</b>");
  await page.fill('[data-field="Notes"]', "soon\n& fast");
  await page.fill('[data-field="Price"]', "many");
  await page.clickButton("Save");
  await page.untilText("This is not a number");
  await page.fill('[data-field="Price"]', "850.00");
  await page.click('[data-field="Done"]');
  await page.clickButton("Save");
  await page.untilNames("Call Ann", "Buy milk", "Sell the <b>car</b>");
  const stored = `{"ID":"${ids.one}","Name":"Sell the <b>car</b>","Serial":12345678901234567890,"Price":850.00,"Done":true,"Notes":"soon\\n& fast"}`;
  await eventually(async () => expect(await pages.list()).toContain(stored));

  const [{ ID: deleted } = {}] = await pages.listed();
  await page.clickItem("Buy milk", "delete");
  await pages.untilStored((items) => items.length === 2);
  await page.clickButton("Undo");
  await page.untilNames("Call Ann", "Sell the <b>car</b>", "Buy milk");
  await pages.untilStored((items) => items.at(-1)?.["ID"] === deleted);
});

test("several pasted lines become items, and the completed ones are deleted together and brought back", async () => {
  const page = await openWith();
  await page.until("document.activeElement.dataset.control === 'composer'");
  await page.evaluate(`(() => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text", "- Milk\\n- [x] Bread\\n- [x] Tea");
    document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  })()`);
  await page.untilNames("Milk", "Bread", "Tea");
  await page.clickButton("Delete 2 completed");
  await page.untilNames("Milk");
  await pages.untilStored((items) => items.length === 1);
  await page.clickButton("Undo");
  await page.untilNames("Milk", "Bread", "Tea");
  await pages.untilStored((items) => items.length === 3);
});

test("edits made without a connection wait, are sent in order, and a conflict waits for a decision", async () => {
  const page = await openWith(named(ids.one, "One"), named(ids.two, "Two"), named(ids.three, "Three"));
  await page.untilNames("One", "Two", "Three");
  await pages.restart(async () => {
    await page.untilText("The service cannot be reached");
    await page.add("First");
    await page.clickItem("One", "tick");
    await page.clickItem("Two", "delete");
    await page.clickItem("Three", "text");
    await page.fill('[data-field="Notes"]', "mine");
    await page.clickButton("Save");
    await page.untilText("4 edits waiting");
    await page.untilText("Offline");
    await page.untilNames("Three", "First", "One");
    // Meanwhile somebody else changes an item through another instance of the service.
    await pages.start();
    await pages.send("PUT", "/api/todoitems/", named(ids.three, "Three", '"Notes":"theirs","Done":false'));
    await pages.program.stop();
  });
  await page.clickItem("Three", "conflict");
  const cells = "[...document.querySelectorAll('.versions dd')].map((cell) => cell.textContent)";
  await page.until("document.querySelector('dialog.conflict')");
  expect(await page.evaluate<string[]>(cells)).toEqual(["empty", "mine", "theirs"]);
  expect(await barriers(page)).toEqual([]);
  await pages.send("PUT", "/api/todoitems/", named(ids.three, "Three", '"Notes":"theirs by now","Done":false'));
  await page.until(`${cells}.at(-1) === "theirs by now"`);
  await page.clickButton("Keep mine");
  await pages.untilStored((items) => items.length === 3 && items[1]?.["Notes"] === "mine");
  expect((await pages.listed()).map(({ Name, Done }) => [Name, Done])).toEqual([
    ["One", true],
    ["Three", false],
    ["First", false],
  ]);
  await page.until("!document.querySelector('.status-line')");
});

/** The user renames One to Uno without a connection. Before it is back, somebody does this at the service. */
async function renameOffline(page: PageDriver, meanwhile: () => Promise<void>): Promise<void> {
  await pages.restart(async () => {
    await page.untilText("The service cannot be reached");
    await page.clickItem("One", "text");
    await page.fill('[data-field="Name"]', "Uno");
    await page.clickButton("Save");
    await page.untilText("1 edit waiting");
    await pages.start();
    await meanwhile();
    await pages.program.stop();
  });
}

test("the dialog of a conflict is closed if somebody else comes to want the same", async () => {
  const page = await openWith(named(ids.one, "One"), named(ids.two, "Two"));
  await renameOffline(page, async () => {
    await pages.send("PUT", "/api/todoitems/", named(ids.one, "Eins"));
  });
  await page.clickItem("Uno", "conflict");
  await page.until("document.querySelector('dialog.conflict')");
  await pages.send("PUT", "/api/todoitems/", named(ids.one, "Uno"));
  await page.until("!document.querySelector('dialog') && !document.querySelector('.status-line')");
  // Nothing is open that would keep the key from its work.
  await page.clickItem("Uno", "delete");
  await page.untilNames("Two");
  await page.view.press("z", { modifiers: ["Control"] });
  await page.untilNames("Two", "Uno");
});

test("a conflict names the item as the user saw it, whatever others call it by now", async () => {
  const page = await openWith(named(ids.one, "One"), named(ids.two, "Two"));
  await page.untilNames("One", "Two");
  const theirs = [named(ids.one, "Eins"), named(ids.two, "Zwei")];
  await renameOffline(page, async () => {
    for (const json of theirs) await pages.send("PUT", "/api/todoitems/", json);
    await page.clickItem("Two", "delete");
  });
  await page.untilText("2 items were changed elsewhere, too");
  await page.clickItem("Uno", "conflict");
  await page.untilText("You have changed “One”, and meanwhile somebody else has, too.");
  await page.clickButton("Keep theirs");
  await page.untilText("You have deleted “Two”, and meanwhile somebody has changed it.");
  await page.clickButton("Delete it");
  await pages.untilStored((items) => items.length === 1 && items[0]?.["Name"] === "Eins");
});

test("the badge says what a check has found, right after the network is gone and after it is back", async () => {
  const page = await openWith(named(ids.one, "One"));
  const badgeIs = (text: string) => page.until(`document.querySelector('.badge').textContent === "${text}"`);
  const network = (offline: boolean) =>
    page.view.cdp("Network.emulateNetworkConditions", {
      offline,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: -1,
    });
  await badgeIs("Live");
  await page.view.cdp("Network.enable");
  await network(true);
  await badgeIs("Offline");
  await page.clickItem("One", "tick");
  await page.untilText("1 edit waiting");
  await network(false);
  await badgeIs("Live");
  await pages.untilStored(([item]) => item?.["Done"] === true);
});

test("if the service hangs, the page says so within the time in which somebody waits for an edit", async () => {
  const page = await openWith(named(ids.one, "One"));
  process.kill(pages.program.pid, "SIGSTOP");
  await page.clickItem("One", "tick");
  await page.untilText("1 edit waiting for the service");
  process.kill(pages.program.pid, "SIGCONT");
  await pages.untilStored(([item]) => item?.["Done"] === true);
});

test("an edit that the service refuses stays on the page with the reason, and can be corrected or discarded", async () => {
  await pages.start("--body-limit", "500");
  const page = await pages.openPage();
  await page.add("too long ".repeat(60));
  await page.untilText("was not saved");
  await page.click('[data-control="refused"]');
  await page.fill('[data-field="Name"]', "short");
  await page.clickButton("Save");
  await pages.untilStored((items) => items[0]?.["Name"] === "short");
  await page.clickItem("short", "text");
  await page.fill('[data-field="Notes"]', "too long ".repeat(60));
  await page.clickButton("Save");
  await page.click('[data-control="line-discard"]');
  await page.until("!document.querySelector('.status-line')");
  expect(await page.items()).toEqual([{ name: "short", notes: "", done: false }]);
});

test("text that was typed into the editor is not lost: not by others, not by Escape", async () => {
  const page = await openWith(named(ids.one, "One"));
  await page.clickItem("One", "text");
  await page.fill('[data-field="Name"]', "Mine");
  await pages.send("PUT", "/api/todoitems/", named(ids.one, "Theirs", '"Notes":"new","Done":false'));
  await page.untilText("Changed elsewhere to “Theirs”");
  await page.until("document.querySelector('[data-field=Notes]').value === 'new'");
  await page.view.press("Escape");
  await page.untilNames("Theirs");
  await page.clickButton("Continue");
  await pages.send("DELETE", `/api/todoitems/${ids.one}`);
  await page.untilText("Somebody has deleted this item");
  await page.clickButton("Add again");
  await page.untilNames("Mine");
  await pages.untilStored(([item]) => item?.["Name"] === "Mine" && item["Notes"] === "new");
});

test("in the editor a field can be added, with a date picker for a date, and removed, and the others stay as they are", async () => {
  const page = await openWith(named(ids.one, "One", '"Price":1.50,"Shop":"Mill","Done":false'));
  await page.clickItem("One", "text");
  await page.click('[data-control="add-field"]');
  await page.fill('[data-control="field-name"]', "price");
  await page.view.press("Enter");
  await page.untilText("The item has this field.");
  await page.fill('[data-control="field-name"]', "Due");
  expect(await barriers(page)).toEqual([]);
  await page.view.press("Enter");
  await page.until("document.activeElement.dataset.field === 'Due' && document.activeElement.type === 'date'");
  await page.evaluate(`(() => {
    document.activeElement.value = "2027-03-01";
    document.activeElement.dispatchEvent(new Event("input", { bubbles: true }));
  })()`);
  await page.click('[aria-label="Remove Shop"]');
  await page.until("!document.querySelector('[data-field=Shop]')");
  expect(await page.focused()).toBe("add-field");
  for (const [index, inputMode] of ["text", "decimal"].entries()) {
    await page.fill('[data-control="field-name"]', "Colour");
    await page.evaluate(`(() => {
      const kinds = document.querySelector('[data-control="field-kind"]');
      kinds.selectedIndex = ${index + 1};
      kinds.dispatchEvent(new Event("change", { bubbles: true }));
    })()`);
    await page.view.press("Enter");
    await page.until(
      `document.activeElement.dataset.field === 'Colour' && document.activeElement.inputMode === "${inputMode}"`,
    );
    await page.click('[aria-label="Remove Colour"]');
    await page.until("!document.querySelector('[data-field=Colour]')");
  }
  await page.view.press("Escape");
  await page.clickButton("Continue");
  await page.until("document.querySelector('[data-field=Due]').value === '2027-03-01'");
  expect(await barriers(page)).toEqual([]);
  await page.clickButton("Save");
  await page.untilText("Due 1 Mar 2027");
  await pages.untilStored(([item]) => item?.["Due"] === "2027-03-01" && !("Shop" in item));
  expect(await pages.list()).toContain('"Price":1.50,"Done":false,"Due":"2027-03-01"}');
});

test("on a small phone, the editor opens without a keyboard, shows a long name in lines, and the place to add a field where it is opened", async () => {
  const fields = Array.from({ length: 6 }, (_, count) => `"Field ${count}":"text"`).join();
  const page = await openWith(named(ids.one, "W".repeat(300), fields));
  await page.show({ width: 320, height: 568, isPhone: true });
  await page.clickItem("W".repeat(300), "text");
  await page.until("document.activeElement.ariaLabel === 'Close'");
  const rightOf = (selector: string) =>
    page.evaluate<number>(`document.querySelector('${selector}').getBoundingClientRect().right`);
  expect(await rightOf("[data-field=Name]")).toBeLessThan(320);
  await page.click('[data-control="add-field"]');
  await page.until("document.activeElement.dataset.control === 'field-name'");
  const name = "document.activeElement.getBoundingClientRect()";
  await page.until(
    `${name}.top >= 0 && ${name}.bottom <= document.querySelector("dialog .buttons").getBoundingClientRect().top`,
  );
  // The kinds of fields can be read.
  const [shown, needed] = await page.evaluate<number[]>(`[false, true].map((isFree) => {
    const select = document.querySelector('[data-control="field-kind"]');
    if (isFree) select.style.flex = "none";
    return select.offsetWidth;
  })`);
  expect(shown).toBe(needed ?? 0);
});

test("what was typed into the sign-in form stays when the connection is tried again", async () => {
  await pages.start("--auth", "all", "--users", await pages.users("ann"));
  const page = await pages.openPage();
  await page.fill('[data-control="password"]', "long enough");
  await page.evaluate(`(${holdAnswers})()`);
  await page.evaluate("dispatchEvent(new Event('online'))");
  await page.until("held > 0");
  await page.untilDrawn();
  expect(await page.evaluate<string>("document.querySelector('[data-control=password]')?.value")).toBe("long enough");
});

test("while the list is loading, no number of items is shown", async () => {
  const page = await openWith(named(ids.one, "One"));
  const counts = "[...document.querySelectorAll('.count')].map((count) => count.textContent)";
  await page.view.cdp("Page.addScriptToEvaluateOnNewDocument", {
    source: `(${holdAnswers})(); Reflect.deleteProperty(globalThis, "indexedDB");`,
  });
  await page.reload();
  await page.until("globalThis.held > 0");
  await page.untilText("Loading");
  expect(await page.evaluate<string[]>(counts)).toEqual([]);
  await page.evaluate("goOn()");
  await page.untilNames("One");
  expect(await page.evaluate<string[]>(counts)).toEqual(["1", "1", "0"]);
});

test("the page of a read-only service says so and offers no changes", async () => {
  await pages.start("--demo");
  const page = await pages.openPage();
  await page.untilText("Read-only: changes are not stored.");
  const controls = "[...document.querySelectorAll('[data-control]:enabled')].map(({ dataset }) => dataset.control)";
  expect(new Set(await page.evaluate<string[]>(controls))).toEqual(new Set(["connect", "search", "text"]));
  await page.click('[data-control="text"]');
  await page.until("document.querySelector('dialog.editor fieldset:disabled')");
});

test("of 3,000 items the first 300 are drawn, search and counts cover all, and a new item is always in sight", async () => {
  const seed = join(pages.path, "seed.json");
  await Bun.write(seed, `[${Array.from({ length: 3_000 }, (_, index) => named(numbered(index), `Item ${index}`))}]`);
  await pages.start("--seed", seed);
  const page = await pages.openPage();
  await page.until("document.querySelectorAll('li.row').length === 300");
  await page.until("document.querySelector('.count').textContent === '3,000'");
  await page.fill('[data-control="search"]', "item 2999");
  await page.untilNames("Item 2999");
  await page.add("New");
  const isInSight = `(() => {
    const box = [...document.querySelectorAll("li.row")].at(-1)?.getBoundingClientRect();
    return document.querySelectorAll("li.row").length === 301 && box.bottom < innerHeight && box.top > 0;
  })()`;
  await page.until(isInSight);
  await page.clickButton("Show all 3,001");
  await page.until("document.querySelectorAll('li.row').length === 3001");
});

test("everything can be done with the keyboard alone", async () => {
  const page = await openWith(...["One", "Two", "Three"].map((name, index) => named(numbered(index), name)));
  const press = async (...keys: readonly string[]) => {
    for (const key of keys) await page.view.press(key);
  };
  const focusIs = (text: string) => page.until(`${focusedName} === "${text}"`);
  await page.evaluate("document.querySelector('.text').focus()");
  await press("ArrowDown");
  await focusIs("Two");
  await press("End");
  await focusIs("Three");
  await press("Home", "Space");
  // The next row has taken the place of the one that was ticked.
  await page.untilNames("Two", "Three", "One");
  await focusIs("Two");
  await press("Delete");
  await page.untilNames("Three", "One");
  await focusIs("Three");
  await press("Enter");
  await page.until("document.activeElement.dataset.field === 'Name'");
  await page.selectAll();
  await page.view.type("Drei");
  await press("Enter");
  await page.untilNames("Drei", "One");
  await press("Enter");
  await page.until("document.querySelector('dialog')");
  await press("Escape");
  await page.until("!document.querySelector('dialog')");
  await focusIs("Drei");
});

test("the focus takes the place of a row also if a change of somebody else arrives before the row is gone", async () => {
  const page = await openWith(...["One", "Two", "Three"].map((name, index) => named(numbered(index), name)));
  await page.untilNames("One", "Two", "Three");
  await page.evaluate(holdDevice);
  await page.evaluate("document.querySelectorAll('.text')[1].focus()");
  await page.view.press("Delete");
  await pages.create(named(ids.one, "Four"));
  await page.untilNames("One", "Two", "Three", "Four");
  expect(await page.evaluate<string>(focusedName)).toBe("Two");
  await page.evaluate("releaseDevice()");
  await page.untilNames("One", "Three", "Four");
  await page.until(`${focusedName} === "Three"`);
});

test("on a phone the first item begins above 200 pixels, also offline, and at 400 % an item is in sight", async () => {
  const page = await openWith(named(ids.one, "One"), named(ids.two, "Two"));
  const top = "document.querySelector('li.row').getBoundingClientRect().top";
  const overflows = "document.documentElement.scrollWidth > innerWidth";
  await page.show({ width: 320, height: 256, isPhone: true });
  expect(await page.evaluate<number>(`document.querySelector('li.row').getBoundingClientRect().bottom`)).toBeLessThan(
    256,
  );
  expect(await page.evaluate<boolean>(overflows)).toBe(false);
  await page.show({ width: 360, height: 740, isPhone: true });
  expect(await page.evaluate<number>(top)).toBeLessThan(200);
  const small = `[...document.querySelectorAll("button, input")].filter((control) => control.getClientRects().length > 0)
    .map((control) => [control.dataset.control, control.offsetHeight]).filter(([, height]) => height < 44)`;
  expect(await page.evaluate<unknown[]>(small)).toEqual([]);
  await pages.program.stop();
  await page.untilText("The service cannot be reached");
  await page.clickItem("One", "tick");
  await page.untilText("1 edit waiting");
  expect(await page.evaluate<number>(top)).toBeLessThan(200);
  expect(await page.evaluate<boolean>(overflows)).toBe(false);
});

test("on a phone the header is one line, also for a user who is signed in", async () => {
  await pages.start("--auth", "all", "--users", await pages.users("ann"));
  const page = await pages.openPage();
  await page.show({ width: 360, height: 740, isPhone: true });
  await page.fill('[data-control="username"]', "ann");
  await page.fill('[data-control="password"]', "long enough");
  await page.clickButton("Sign in");
  await page.untilText("No items yet");
  const heights: number[] = [];
  for (const width of [320, 360, 375, 414]) {
    await page.show({ width, height: 740, isPhone: true });
    heights.push(await page.evaluate<number>("document.querySelector('header').offsetHeight"));
    const title = "document.querySelector('h1 .one-line')";
    expect(await page.evaluate<boolean>(`${title}.scrollWidth > ${title}.clientWidth`)).toBe(false);
    expect(await page.evaluate<boolean>("document.documentElement.scrollWidth > innerWidth")).toBe(false);
  }
  expect(heights).toEqual([46, 46, 46, 46]);
});

test("axe-core finds nothing in the list, the editor and the panel, light and dark, wide and narrow", async () => {
  const rest = '"Notes":"a","Done":true,"Price":850,"Due":"2027-03-01","tags":["a"],"Place":{"x":1},"Big":true';
  const page = await openWith(named(ids.one, "One"), named(ids.two, "Two", rest));
  for (const colours of ["light", "dark"] as const) {
    await page.show({ width: colours === "light" ? 1100 : 360, height: 740, colours });
    expect(await barriers(page)).toEqual([]);
    await page.clickItem("Two", "text");
    await page.until("document.querySelector('dialog')");
    expect(await barriers(page)).toEqual([]);
    await page.view.press("Escape");
    await page.click('[data-control="connect"]');
    await page.until("document.querySelector('dialog.panel')");
    expect(await barriers(page)).toEqual([]);
    await page.click('[aria-label="Close"]');
    await page.until("!document.querySelector('dialog')");
  }
  await pages.program.stop();
  await page.clickItem("One", "delete");
  await page.untilText("1 edit waiting");
  await page.untilText("Undo");
  expect(await barriers(page)).toEqual([]);
});

test("the page sends requests to this service only, with its strict policy, and no script of an item runs", async () => {
  const page = await openWith(named(ids.one, "<img src=x onerror=alert(1)>", '"Notes":"<script>","Done":false'));
  const asked: string[] = [];
  await page.view.cdp("Network.enable");
  page.view.addEventListener("Network.requestWillBeSent", (event) => {
    asked.push(String((event as unknown as { data: { request: { url: string } } }).data.request.url));
  });
  await page.reload();
  await page.untilNames("<img src=x onerror=alert(1)>");
  expect(asked.length).toBeGreaterThan(1);
  expect(asked.filter((url) => !url.startsWith(`${pages.program.origin}/`))).toEqual([]);
  expect(await page.evaluate<number>("document.querySelectorAll('main img, main script').length")).toBe(0);
});

test("the connect panel shows the addresses with the ports that the system has chosen, and its commands work", async () => {
  await pages.start("--https-port", "0");
  const [http = "", https = ""] = pages.program.origins.map((origin) => new URL(origin).port);
  const page = await pages.openPage();
  const secure = await pages.openPage(`https://127.0.0.1:${https}`);
  await secure.add("Over HTTPS");
  await page.untilNames("Over HTTPS");
  await secure.clickItem("Over HTTPS", "delete");
  await pages.untilStored((items) => items.length === 0);
  await page.click('[data-control="connect"]');
  await page.untilText("needs the service started with --host 0.0.0.0");
  const codes = (parent: string) =>
    page.evaluate<string[]>(
      `[...document.querySelectorAll('${parent} > .copyable code')].map((code) => code.textContent)`,
    );
  expect(await codes(".panel")).toEqual([
    `http://127.0.0.1:${http}/api/todoitems/`,
    `http://10.0.2.2:${http}/api/todoitems/`,
    `http://localhost:${http}/api/todoitems/`,
    `https://localhost:${https}/api/todoitems/`,
    `https://10.0.2.2:${https}/api/todoitems/`,
  ]);
  const { text } = await pages.send(
    "GET",
    await page.evaluate("new URL(document.querySelector('a[download]')).pathname"),
  );
  expect(text).toBe(readFileSync(join(certificates.path, "todoitems/https/authority.pem"), "utf8"));
  await page.untilText("Expo");
  const outputs: string[] = [];
  for (const command of await codes(".samples")) {
    const withStatus = command.replace("curl", "curl -s --max-time 1 -w ' %{http_code}'");
    const shell = Bun.spawn(["bash", "-c", withStatus], { cwd: pages.path, stdout: "pipe" });
    outputs.push(await new Response(shell.stdout).text());
  }
  const milk = (done: boolean) =>
    `{"ID":"54b4c1f2-0f8e-4a6b-9d3c-2f1a7e5b8c90","Name":"Buy milk","Notes":"two litres","Done":${done}}`;
  expect(outputs.slice(0, 5)).toEqual(["[] 200", `${milk(false)} 201`, `${milk(false)} 200`, " 204", " 204"]);
  expect(outputs[5]).toStartWith("event: ready\n");
  await page.click('[data-value="fetch"]');
  await page.untilText("only if it was started with --cors ORIGIN");
});

test("an address can be copied, also by a page that has no clipboard, or is at least selected, and code keeps its lines", async () => {
  await pages.start();
  const page = await pages.openPage();
  const address = `${pages.program.origin}/api/todoitems/`;
  await page.view.cdp("Browser.setPermission", { permission: { name: "clipboard-read" }, setting: "granted" });
  await page.click('[data-control="connect"]');
  await page.evaluate(`(() => {
    globalThis.clipboard = navigator.clipboard;
    Object.defineProperty(navigator, "clipboard", { value: undefined, configurable: true });
  })()`);
  await page.click('[aria-label="Copy: This machine"]');
  await page.until(`clipboard.readText().then((text) => text === "${address}")`);
  await page.click('[data-value="fetch"]');
  await page.click('[aria-label="Copy: Create an item"]');
  const code = "document.querySelector('[aria-label=\"Copy: Create an item\"] ~ code').textContent";
  await page.until(`clipboard.readText().then((text) => text.includes("\\n") && text === ${code})`);
  await page.evaluate("(() => { document.execCommand = () => false; getSelection().empty(); })()");
  await page.click('[aria-label="Copy: This machine"]');
  await page.until(`getSelection().toString() === "${address}"`);
  await page.untilText("Selected, but not copied");
  await page.view.cdp("Browser.resetPermissions", {});
});
