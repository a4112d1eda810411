// The reference at /docs, in a real Chromium: it explains every problem, sends requests to this instance, and shows the
// answers exactly.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { problemStatus } from "../../src/http/problem-table.ts";
import { TestProvider } from "../credentials/test-provider.ts";
import { ids } from "../service.ts";
import { barriers } from "./axe.ts";
import type { PageDriver } from "./page-driver.ts";
import { PageFixture } from "./page-fixture.ts";

const pages = new PageFixture(undefined);
let page: PageDriver;

beforeAll(async () => {
  pages.open();
  await pages.start("--auth", "writes", "--users", await pages.users("ann"));
  page = await pages.openReference();
});
afterAll(() => pages.close());

const authorization = { Authorization: `Basic ${btoa("ann:long enough")}` };

async function signIn(password = "long enough", name = "ann"): Promise<void> {
  await page.fill("[data-control=username]", name);
  await page.fill("[data-control=password]", password);
}

/** A selector for a control in the form that sends an operation's request. */
const inForm = (operationId: string, control: string) => `section[aria-labelledby=${operationId}] .try ${control}`;

async function send(operationId: string): Promise<void> {
  await page.click(inForm(operationId, "[data-control=send]"));
}

/** Waits for an answer with this status, and returns the body as the reference shows it. */
async function answered(operationId: string, status: number): Promise<string> {
  const answer = `document.querySelector("${inForm(operationId, ".answer[data-complete=true]")}")`;
  await page.until(`${answer}?.querySelector("strong").textContent === "${status}"`);
  return page.evaluate(`${answer}.querySelector("code").textContent.replace(/^[^]*?\\n\\n/, "")`);
}

test("every operation has a part of its own, and errors of every request are in the table only", async () => {
  const { paths } = JSON.parse((await pages.send("GET", "/openapi.json")).text) as {
    paths: Record<string, Record<string, { operationId: string }>>;
  };
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const shown = await page.evaluate<string[]>("[...document.querySelectorAll('.operation h3')].map(({ id }) => id)");
  expect(shown.toSorted()).toEqual(operations.map(({ operationId }) => operationId).toSorted());
  const statuses = await page.evaluate<string[]>(
    "[...document.querySelectorAll('section[aria-labelledby=readItem] > table:last-child th')].map((cell) => cell.textContent)",
  );
  expect(statuses).toEqual(["200", "304", "400", "404", "412"]);
});

test("an operation can be tried with the keyboard alone, and the answer is shown byte for byte", async () => {
  const exact = `{"ID":"${ids.one}","Price":1.50,"Count":12345678901234567890,"Odd":"\\ud800"}`;
  await pages.send("POST", "/api/todoitems", exact, authorization);
  await page.evaluate(`document.querySelector("${inForm("listItems", "input")}").focus()`);
  // The field of a second parameter comes before the button.
  for (let count = 0; count < 2; count++) await page.view.press("Tab");
  expect(await page.focused()).toBe("send");
  await page.view.press("Enter");
  expect(await answered("listItems", 200)).toBe(`[${exact}]`);
  await pages.send("DELETE", `/api/todoitems/${ids.one}`, undefined, authorization);
  expect(await page.evaluate<string>("document.querySelector('.answer code').textContent")).toContain("etag:");
});

test("operations that need credentials get those that were typed in, and others do not", async () => {
  await send("createItem");
  expect(await answered("createItem", 401)).toContain('"code":"CredentialsRequired"');
  await signIn("wrong password");
  await send("createItem");
  await answered("createItem", 401);
  await send("listItems");
  expect(await answered("listItems", 200)).toStartWith("[");
  await signIn("long enough", "a:b");
  await send("createItem");
  await page.untilText("A user name with a colon cannot be sent");
  await signIn();
  await send("createItem");
  const { ID: id } = JSON.parse(await answered("createItem", 201)) as { ID: string };
  // The example has an ID, so it can be created once.
  await send("createItem");
  expect(await answered("createItem", 409)).toContain('"code":"TodoItemIDInUse"');
  await pages.send("DELETE", `/api/todoitems/${id}`, undefined, authorization);
});

test("an item can be created, changed under a condition and deleted", async () => {
  await signIn();
  await send("createItem");
  const created = await answered("createItem", 201);
  const { ID: id } = JSON.parse(created) as { ID: string };
  const etag = await page.evaluate<string>(
    "/etag: (.*)/.exec(document.querySelector('section[aria-labelledby=createItem] .answer code').textContent)[1]",
  );
  await page.fill(inForm("updateItem", "[name=If-Match]"), etag);
  await page.fill(inForm("updateItem", "[name=body]"), `{"ID":"${id}","Price":2.50}`);
  await send("updateItem");
  expect(await answered("updateItem", 204)).toBe("");
  expect(await pages.list()).toContain(`{"ID":"${id}","Price":2.50}`);
  // The condition of the update no longer holds, so the answer is 412 and contains the current item.
  await send("updateItem");
  expect(await answered("updateItem", 412)).toContain(`"current":{"ID":"${id}","Price":2.50}`);
  // The forms for reading and deleting already contain the ID of the item in the example.
  await send("readItem");
  expect(await answered("readItem", 200)).toBe(`{"ID":"${id}","Price":2.50}`);
  await send("deleteItem");
  await answered("deleteItem", 204);
  expect(await pages.list()).not.toContain(id);
});

test("the type of a problem leads to its explanation, and every code has one", async () => {
  const { status, text } = await pages.send("GET", `/api/todoitems/${ids.three}`);
  const { type } = JSON.parse(text) as { type: string };
  expect([status, type]).toEqual([404, "/docs#RecordNotFound"]);
  await page.view.navigate("about:blank");
  await page.view.navigate(`${pages.program.origin}${type}`);
  await page.until(`(() => {
    const { top, bottom } = document.querySelector("tr:target")?.getBoundingClientRect() ?? {};
    return top >= 0 && bottom <= innerHeight;
  })()`);
  expect(await page.evaluate<string>("document.querySelector('tr:target').innerText")).toContain(
    "There is no item with this ID.",
  );
  const missing = await page.evaluate<string[]>(
    `${JSON.stringify(Object.keys(problemStatus))}.filter((code) => !document.getElementById(code)?.matches("tr"))`,
  );
  expect(missing).toEqual([]);
  const broken = await page.evaluate<string[]>(
    "[...document.querySelectorAll('a[href^=\"#\"]')].map((link) => link.hash.slice(1)).filter((id) => !document.getElementById(id))",
  );
  expect(broken).toEqual([]);
});

test("the feed shows events as they come, until it is stopped", async () => {
  await send("followChanges");
  // The page also shows an example with the same text, so look only at the response.
  const untilShown = (text: string) =>
    page.until(
      `document.querySelector("${inForm("followChanges", ".answer code")}")?.textContent.includes(${JSON.stringify(text)})`,
    );
  await untilShown("event: ready");
  await pages.send("POST", "/api/todoitems", `{"ID":"${ids.one}","Price":1.50}`, authorization);
  await untilShown(`"item":{"ID":"${ids.one}","Price":1.50}`);
  await page.click(inForm("followChanges", "[data-control=stop]"));
  expect(await answered("followChanges", 200)).toStartWith("event: ready");
});

test("axe-core finds no barrier, light and dark, wide and narrow, and nothing is wider than the window", async () => {
  await send("listItems");
  await answered("listItems", 200);
  // Skip all but the first operations, schemas and errors. The same code draws the rest, and axe-core would need
  // seconds for all of them.
  const repeated = [
    ".operation:nth-of-type(n+3)",
    ".schema:nth-of-type(n+3)",
    "main > section:last-child tr:nth-child(n+3)",
  ];
  for (const { colours, width } of [
    { colours: "light", width: 1280 },
    { colours: "dark", width: 390 },
  ] as const) {
    await page.show({ width, height: 760, colours });
    expect({ width, barriers: await barriers(page, repeated) }).toEqual({ width, barriers: [] });
    expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
  }
  // A window of 1280 × 1024 pixels has this size at 400 % zoom.
  await page.show({ width: 320, height: 256, isPhone: true });
  expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBeLessThanOrEqual(320);
  const small = await page.evaluate<string[]>(`[...document.querySelectorAll("button, input, textarea")]
    .filter((control) => control.checkVisibility() && control.getBoundingClientRect().height < 44)
    .map((control) => control.outerHTML.slice(0, 80))`);
  expect(small).toEqual([]);
});

test("without a service there is a message instead of an answer", async () => {
  await pages.program.stop();
  await send("isLive");
  await page.untilText("There was no complete response");
});

test("an instance that takes tokens only asks for a token, and for nothing else", async () => {
  const provider = await TestProvider.start();
  const tokens = ["--token-issuer", provider.issuer, "--token-audience", provider.audience];
  await pages.restart(async () => {}, "--auth", "all", ...tokens);
  page = await pages.openReference();
  expect(
    await page.evaluate<string>(
      "[...document.querySelectorAll('#credentials input')].map(({ dataset }) => dataset.control).join()",
    ),
  ).toBe("token");
  await send("listItems");
  await answered("listItems", 401);
  await page.fill("[data-control=token]", await provider.sign("ann"));
  await send("listItems");
  expect(await answered("listItems", 200)).toStartWith("[");
  await provider.stop();
});
