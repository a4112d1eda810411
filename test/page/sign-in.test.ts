// Signing in and out on the page, and what the browser keeps for whom.

import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { eventually } from "../eventually.ts";
import { runProgram } from "../program.ts";
import { barriers } from "./axe.ts";
import { usePages } from "./page-fixture.ts";

const pages = usePages();
const api = ["*/api/*", "*/changes*"];

test("the page asks for credentials, reports wrong ones, keeps them in memory only, and forgets them and the list at sign-out", async () => {
  await pages.start("--auth", "all", "--users", await pages.users("ann"));
  const page = await pages.openPage();
  await page.signIn("ann", { password: "wrong" });
  await page.untilText("The name or the password is wrong");
  expect(await barriers(page)).toEqual([]);
  await page.signIn("ann");
  await page.untilText("No items yet");
  await page.add("Secret");
  await page.untilNames("Secret");
  await page.until("!document.querySelector('.unsent')");
  await page.untilKept("Secret");
  expect((await page.kept()).join()).not.toContain("long enough");
  expect(await page.evaluate<string>("JSON.stringify([localStorage, sessionStorage, document.cookie])")).toBe(
    '[{},{},""]',
  );
  await page.click('[data-control="sign-out"]');
  await page.until("document.querySelector('.sign-in')");
  expect(await page.items()).toEqual([]);
  await eventually(async () => expect(await page.kept()).toEqual([]));
  // As a password manager does it: both fields at once.
  await page.evaluate(`(() => {
    for (const [field, value] of [["username", "ann"], ["password", "long enough"]]) {
      const input = document.querySelector('[data-control="' + field + '"]');
      input.value = value;
      input.dispatchEvent(new Event("input", { bubbles: true }));
    }
  })()`);
  await page.clickButton("Sign in");
  await page.untilNames("Secret");
});

test("before the service has answered, there is one place to sign in, and no lists to choose from", async () => {
  await pages.start("--lists", "user", "--users", await pages.users("ann"));
  const page = await pages.openPage();
  await page.block(...api);
  await page.reload();
  await page.until("document.querySelector('.sign-in')");
  expect(
    await page.evaluate<string[]>("[...document.querySelectorAll('button')].map(({ textContent }) => textContent)"),
  ).toEqual(["Connect your app", "Sign in"]);
});

test("if only writes need credentials, an edit waits, and is sent after the sign-in", async () => {
  await pages.start("--auth", "writes", "--users", await pages.users("ann"));
  const page = await pages.openPage();
  await page.add("Buy milk");
  await page.untilText("Sign in to send 1 edit");
  await page.click('[data-control="line-sign-in"]');
  await page.signIn("ann");
  await pages.untilStored(([item]) => item?.["Name"] === "Buy milk");
  await page.until("!document.querySelector('dialog, .status-line')");
  // From here on, the list is Ann's, and is kept.
  await page.untilKept("Buy milk");
});

test("whom the service no longer accepts is asked for the password only", async () => {
  const users = await pages.users("ann");
  const access = ["--auth", "all", "--users", users];
  await pages.start(...access);
  const page = await pages.openPage();
  await page.signIn("ann");
  await page.untilText("No items yet");
  await pages.restart(
    async () => {
      rmSync(users);
      await runProgram("user", { args: ["add", "ann", "--users", users], input: "another one\n" });
    },
    ...access,
  );
  await page.click('[data-control="line-sign-in"]');
  await page.until("document.querySelector('dialog')");
  expect(await page.focused()).toBe("password");
  await page.view.type("another one");
  await page.view.press("Enter");
  await page.until("!document.querySelector('dialog, .status-line')");
});

test("who stays signed in in this tab sees the kept list after a reload, without the service, and nobody else does", async () => {
  await pages.start("--auth", "all", "--users", await pages.users("ann"));
  const page = await pages.openPage();
  await page.signIn("ann", { stays: true });
  await page.add("Secret");
  await page.until("!document.querySelector('.unsent')");
  await page.untilKept("Secret");
  await page.block(...api);
  await page.add("Unsent");
  await page.untilText("1 edit waiting for the service");
  await page.reload();
  await page.untilNames("Secret", "Unsent");
  const passwords = (await page.kept()).filter((entry) => entry.includes("long enough"));
  expect(passwords).toHaveLength(1);
  expect(await page.evaluate<string>("JSON.stringify(sessionStorage)")).toContain("long enough");

  const other = await pages.openPage();
  await other.until("document.querySelector('.sign-in')");
  await other.block(...api);
  await other.signIn("ann");
  await other.untilText("The service cannot be reached");
  await other.reload();
  await other.until("document.querySelector('.sign-in')");
  expect(await other.evaluate<string>("document.body.textContent")).not.toContain("Secret");
  await other.block();
  await other.signIn("ann");
  await other.untilNames("Secret");
  await page.block();
  await page.tryNow();
  await other.untilNames("Secret", "Unsent");
});

test("if the browser cannot open its databases, who stays signed in sees the list after a reload", async () => {
  await pages.start("--auth", "all", "--users", await pages.users("ann"));
  const page = await pages.openPage();
  await page.signIn("ann", { stays: true });
  await page.add("One");
  await page.untilKept("One");
  await page.prepare(`const fail = () => { throw new DOMException("no", "UnknownError"); };
    Object.assign(IDBFactory.prototype, { open: fail, databases: async () => fail() });
    addEventListener("unhandledrejection", ({ reason }) => { globalThis.unhandled = String(reason); });`);
  await page.reload();
  await page.untilNames("One");
  expect(await page.evaluate<string>("String(globalThis.unhandled)")).toBe("undefined");
});

test("without the tick, a reload signs out, and unsent edits wait until the same user has signed in again", async () => {
  await pages.start("--auth", "all", "--users", await pages.users("ann"));
  const page = await pages.openPage();
  await page.signIn("ann");
  await page.untilText("No items yet");
  await page.block(...api);
  await page.add("Unsent");
  await page.untilText("1 edit waiting for the service");
  expect(await page.mayLeave()).toBe(true);
  await page.block();
  await page.reload();
  await page.until("document.querySelector('.sign-in')");
  expect(await page.items()).toEqual([]);
  await page.signIn("ann");
  await page.untilNames("Unsent");
  await page.until("!document.querySelector('.unsent, .status-line')");
});

test("on a shared computer, signing out asks about unsent edits of all lists, and leaves nothing for the next person", async () => {
  const users = await pages.users("ann", "bob");
  const args = ["--lists", "user", "--auth", "all", "--users", users];
  await pages.start(...args);
  const page = await pages.openPage();
  const work = await pages.openPage(`${pages.program.origin}/lists/work`);
  for (const tab of [page, work]) await tab.signIn("ann", { stays: true });
  await page.add("Secret");
  await page.untilKept("Secret");
  await work.untilText("No items yet");
  await pages.restart(
    async () => {
      await work.untilText("The service cannot be reached");
      await work.add("Plan");
      await work.untilText("1 edit waiting for the service");
      await page.answer(false);
      await page.click('[data-control="sign-out"]');
      await page.until("asked.join().includes('edits that the service does not have yet are deleted')");
      await page.untilNames("Secret");
      await page.answer(true);
      await page.click('[data-control="sign-out"]');
      for (const tab of [page, work]) {
        await tab.until("document.querySelector('.sign-in')");
        expect(await tab.evaluate<string>("document.body.textContent")).not.toMatch(/Secret|Plan|ann/);
        await eventually(async () => expect(await tab.kept()).toEqual([]));
      }
    },
    ...args,
  );
  for (const tab of [page, work]) {
    await tab.signIn("bob");
    await tab.untilText("No items yet");
    await tab.add("Mine");
    await tab.until("!document.querySelector('.unsent')");
    await tab.untilKept("Mine");
    await tab.reload();
    await tab.until("document.querySelector('.sign-in')");
    expect((await tab.kept()).join()).not.toMatch(/Secret|Plan|ann/);
  }
  // What is Bob's stays when Ann comes back and signs out again, also in a tab that is asleep meanwhile.
  const asleep = await pages.openPage();
  for (const tab of [page, asleep]) await tab.signIn("ann", { stays: true });
  await asleep.untilNames("Secret");
  await asleep.view.navigate(`${pages.program.origin}/health/live`);
  await page.click('[data-control="sign-out"]');
  await eventually(async () => expect((await page.kept()).join()).not.toContain("ann"));
  await page.untilKept("Mine");
  await asleep.view.navigate(`${pages.program.origin}/`);
  await asleep.until("document.querySelector('.sign-in')");
});

test("signing out asks about what is typed", async () => {
  await pages.start("--auth", "all", "--users", await pages.users("ann"));
  const page = await pages.openPage();
  await page.signIn("ann");
  await page.click('[data-control="composer"]');
  await page.view.type("half");
  await page.answer(false);
  await page.click('[data-control="sign-out"]');
  await page.until("asked.length === 1");
  expect(await page.evaluate<string>("document.querySelector('[data-control=composer]').value")).toBe("half");
  await page.answer(true);
  await page.click('[data-control="sign-out"]');
  await page.until("document.querySelector('.sign-in')");
});
