// The page in a real Chromium, over plain HTTP and over HTTPS: everything a person can do with it, and what happens
// when other people, the network or the service interfere.

import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { eventually } from "../eventually.ts";
import { Program, projectFolder, runProgram } from "../program.ts";
import { ids, item } from "../service.ts";
import { PageDriver } from "./page-driver.ts";

const axe = readFileSync(join(projectFolder, "node_modules/axe-core/axe.min.js"), "utf8");
/** All tests share this folder, because creating a development certificate takes a second. */
const certificates = temporaryFolder();
afterAll(() => certificates.dispose());

for (const scheme of ["http", "https"] as const) {
  describe(`the page over ${scheme}`, () => {
    let folder: ReturnType<typeof temporaryFolder>;
    let program: Program;
    const pages: PageDriver[] = [];

    beforeEach(() => {
      folder = temporaryFolder();
    });
    afterEach(async () => {
      for (const page of pages.splice(0)) page.close();
      await program.stop("SIGKILL");
      folder.dispose();
    });

    async function start(...args: readonly string[]): Promise<void> {
      const ports = scheme === "http" ? ["--port", "0"] : ["--port", "off", "--https-port", "0"];
      program = await Program.start({
        environment: { XDG_DATA_HOME: certificates.path, HOME: certificates.path },
        args: [
          ...(args.includes("--demo") ? [] : ["--store", `sqlite:${join(folder.path, "store.db")}`]),
          ...ports,
          ...args,
        ],
      });
    }

    async function openPage(): Promise<PageDriver> {
      const page = await PageDriver.open(program.origin);
      pages.push(page);
      return page;
    }

    async function send(method: string, path: string, json?: string, headers: Record<string, string> = {}) {
      const response = await fetch(`${program.origin}${path}`, {
        method,
        ...(json === undefined ? {} : { body: json }),
        headers: { "Content-Type": "application/json", ...headers },
        tls: { rejectUnauthorized: false },
      });
      return { status: response.status, headers: response.headers, text: await response.text() };
    }

    const create = async (...jsons: readonly string[]) => {
      for (const json of jsons) expect((await send("POST", "/api/todoitems/", json)).status).toBe(201);
    };
    const list = async () => (await send("GET", "/api/todoitems/")).text;
    const listed = async () => JSON.parse(await list()) as Record<string, unknown>[];
    const named = (id: string, name: string, rest = '"Notes":"","Done":false') => item(id, `"Name":"${name}",${rest}`);

    /** Waits until the service has stored what the page sent. */
    async function untilStored(isThere: (items: Record<string, unknown>[]) => boolean): Promise<void> {
      await eventually(async () => expect(await listed()).toSatisfy(isThere));
    }

    test("items can be added, ticked, edited in place, deleted and restored", async () => {
      await start();
      const page = await openPage();
      await page.untilText("Nothing to do");
      await page.add("Buy milk");
      await page.add("Call Ann");
      await page.untilNames("Call Ann", "Buy milk");
      await untilStored((items) => items.length === 2);

      await page.clickItem("Buy milk", "tick");
      await untilStored((items) => items[0]?.["Done"] === true);

      await page.clickItem("Call Ann", "text");
      await page.fill('[data-control="name"]', "Call Ann at noon");
      await page.fill('[data-control="notes"]', "about the <b>trip</b>\n& back");
      await page.clickButton("Save");
      await page.untilNames("Call Ann at noon", "Buy milk");
      await untilStored((items) => items[1]?.["Notes"] === "about the <b>trip</b>\n& back");

      const [{ ID: deleted } = {}] = await listed();
      await page.clickItem("Buy milk", "delete");
      await page.untilNames("Call Ann at noon");
      await untilStored((items) => items.length === 1);
      await page.clickButton("Undo");
      await untilStored((items) => items.length === 2);
      // The restored item has the same ID and is still ticked.
      expect((await listed())[1]).toMatchObject({ ID: deleted, Name: "Buy milk", Done: true });
      await page.untilNames("Buy milk", "Call Ann at noon");
      expect((await page.items()).map(({ done }) => done)).toEqual([true, false]);
    });

    test("both spellings of field names are read and kept, and other fields can be edited as JSON with exact numbers", async () => {
      await start();
      const odd = '"n":12345678901234567890,"m":1.0,"e":1e400,"deep":{"list":[1.50,{}]},"s":"\\ud800"';
      await create(
        `{"ID":"${ids.one}","Name":"Pascal","Notes":"N","Done":true,${odd}}`,
        `{"id":"${ids.two}","name":"camel","notes":"n","done":false}`,
      );
      const page = await openPage();
      await page.untilNames("camel", "Pascal");
      expect(await page.items()).toEqual([
        { name: "camel", notes: "n", done: false },
        { name: "Pascal", notes: "N", done: true },
      ]);
      await page.clickItem("camel", "tick");
      await page.clickItem("Pascal", "tick");
      await untilStored(([one, two]) => one?.["Done"] === false && two?.["done"] === true);
      expect(await list()).toBe(
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
      await eventually(async () => expect(await list()).toContain(edited));
    });

    test("items can be filtered and searched by every field, and each filter shows its count", async () => {
      await start();
      await create(
        named(ids.one, "Milk", '"Done":true'),
        named(ids.two, "Bread", '"Notes":"rye"'),
        named(ids.three, "Honey", '"Shop":"Rye Lane"'),
      );
      const page = await openPage();
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
      await start();
      await create(...Array.from({ length: 60 }, (_, index) => named(numbered(index), `Item ${index}`)));
      const [one, two] = [await openPage(), await openPage()];
      await one.evaluate("document.querySelector('.list').scrollTo(0, 1500)");
      const middle = `document.elementFromPoint(innerWidth / 2, innerHeight / 2 + 20).closest("li")`;
      await one.until(`${middle}?.dataset.id && document.querySelector(".list").scrollTop > 1000`);
      const seen = () =>
        one.evaluate<[string, number]>(`[${middle}.dataset.id, Math.round(${middle}.getBoundingClientRect().top)]`);
      const before = await seen();
      await two.add("From the other page");
      await two.untilText("From the other page");
      await one.until("document.querySelector('.count').textContent === '61'");
      expect(await seen()).toEqual(before);
      await one.evaluate("document.querySelector('.list').scrollTo(0, 0)");
      await one.untilText("From the other page");
      await one.clickItem("From the other page", "tick");
      await two.until("document.querySelector('.row').dataset.done === 'true'");
      await two.clickItem("From the other page", "delete");
      await one.until("document.querySelector('.count').textContent === '60'");
      expect((await one.items())[0]?.name).toBe("Item 59");
    });

    test("an edit that the service refuses is rolled back, and a message says why", async () => {
      await start("--body-limit", "200");
      await create(named(ids.one, "Short"));
      const page = await openPage();
      await page.clickItem("Short", "text");
      await page.fill('[data-control="name"]', "x".repeat(300));
      await page.clickButton("Save");
      await page.untilText("was not saved");
      await page.untilText("200 bytes");
      await page.untilNames("Short");
      expect(await list()).toBe(`[${named(ids.one, "Short")}]`);
    });

    for (const which of ["mine", "theirs"] as const) {
      test(`a conflict shows both versions, and the user can keep ${which}`, async () => {
        await start();
        await create(named(ids.one, "Plan", '"n":1.0'));
        const page = await openPage();
        await page.clickItem("Plan", "text");
        await send("PUT", "/api/todoitems/", named(ids.one, "Their plan", '"n":2.0'));
        await page.untilText("Changed elsewhere meanwhile");
        await page.fill('[data-control="name"]', "My plan");
        await page.clickButton("Save");
        await page.until("document.querySelector('dialog.conflict-dialog')");
        const versions = await page.evaluate<string[]>(
          "[...document.querySelectorAll('.version')].map((version) => version.innerText)",
        );
        expect(versions[0]).toContain('"Name": "My plan"\n  "n": 1.0');
        expect(versions[1]).toContain('"Name": "Their plan"\n  "n": 2.0');
        await page.click(`[data-control="${which}"]`);
        await page.untilNames(which === "mine" ? "My plan" : "Their plan");
        await untilStored(([plan]) => plan?.["Name"] === (which === "mine" ? "My plan" : "Their plan"));
        expect(await list()).toBe(
          `[${which === "mine" ? named(ids.one, "My plan", '"n":1.0') : named(ids.one, "Their plan", '"n":2.0')}]`,
        );
        await page.until("!document.querySelector('dialog')");
      });
    }

    test("edits made without a connection are sent in order when it is back, and conflicts open a dialog", async () => {
      await start();
      await create(named(ids.one, "One"), named(ids.two, "Two"), named(ids.three, "Three"));
      const page = await openPage();
      await page.untilNames("Three", "Two", "One");
      const port = new URL(program.origin).port;
      await program.stop();
      await page.untilText("The service cannot be reached");
      await page.add("First");
      await page.add("Second");
      await page.clickItem("One", "tick");
      await page.clickItem("Two", "delete");
      await page.clickItem("Three", "tick");
      await page.untilText("5 changes are kept in this tab");
      await page.untilNames("Second", "First", "Three", "One");
      // A deletion that is undone before it was sent leaves the item in its place.
      await page.clickButton("Undo");
      await page.untilNames("Second", "First", "Three", "Two", "One");
      // Meanwhile somebody else changes an item through another instance of the service.
      await start();
      await send("PUT", "/api/todoitems/", named(ids.three, "Three elsewhere"));
      await program.stop();
      await start(scheme === "http" ? "--port" : "--https-port", port);
      await page.until("document.querySelector('dialog.conflict-dialog')");
      expect(await page.evaluate<string>("document.querySelector('.version:nth-child(2)').innerText")).toContain(
        "Three elsewhere",
      );
      await page.click('[data-control="theirs"]');
      await page.untilNames("Second", "First", "Three elsewhere", "Two", "One");
      await untilStored((items) => items.length === 5);
      expect((await listed()).map(({ Name, Done }) => [Name, Done])).toEqual([
        ["One", true],
        ["Two", false],
        ["Three elsewhere", false],
        ["First", false],
        ["Second", false],
      ]);
      await page.until("!document.querySelector('[data-banner=offline]')");
    });

    test("the page of a read-only instance says so, and an edit is accepted with a message but not kept", async () => {
      await start("--demo");
      const page = await openPage();
      await page.untilText("Changes are accepted but not kept");
      expect(await page.evaluate("document.querySelector('[data-figure=mode]').textContent")).toBe("Read-only");
      const before = await page.items();
      expect(before).toHaveLength(3);
      await page.add("For nothing");
      await page.untilText("Accepted, but not kept");
      await page.until("!document.body.innerText.includes('For nothing')");
      expect(await page.items()).toEqual(before);
    });

    test("the page asks for credentials, reports wrong ones, keeps them in memory only, and forgets them at sign-out", async () => {
      const users = join(folder.path, "users.txt");
      await runProgram("user", { args: ["add", "ann", "--users", users], input: "long enough\n" });
      await start("--auth", "all", "--users", users);
      const page = await openPage();
      await page.until("document.querySelector('dialog.sign-in')");
      const signIn = async (password: string) => {
        await page.fill('[data-control="username"]', "ann");
        await page.fill('[data-control="password"]', password);
        await page.view.press("Enter");
      };
      await signIn("wrong");
      await page.untilText("The name or the password is wrong");
      await signIn("long enough");
      await page.untilText("Nothing to do");
      await page.add("Secret");
      await page.untilNames("Secret");
      await page.until("document.querySelector('.row').dataset.pending === 'false'");
      const kept = await page.evaluate<string>("JSON.stringify([localStorage, sessionStorage, document.cookie])");
      expect(kept).not.toContain("long enough");
      expect(kept).not.toContain(btoa("ann:long enough"));
      await page.click("header button.quiet");
      await page.until("document.querySelector('dialog.sign-in')");
      expect(await page.items()).toEqual([]);
    });

    test("if only writes need credentials, the first edit opens the sign-in form and is sent after the sign-in", async () => {
      const users = join(folder.path, "users.txt");
      await runProgram("user", { args: ["add", "ann", "--users", users], input: "long enough\n" });
      await start("--auth", "writes", "--users", users);
      const page = await openPage();
      await page.untilText("Nothing to do");
      await page.add("Not for everybody");
      await page.until("document.querySelector('dialog.sign-in')");
      await page.clickButton("Cancel");
      await page.untilText("Nothing to do");
      await page.add("For Ann");
      await page.until("document.querySelector('dialog.sign-in')");
      await page.fill('[data-control="username"]', "ann");
      await page.fill('[data-control="password"]', "long enough");
      await page.view.press("Enter");
      await untilStored((items) => items.length === 1);
      await page.until("!document.querySelector('dialog')");
      expect(await listed()).toMatchObject([{ Name: "For Ann" }]);
    });

    test("of 10,000 items, only those in sight are drawn, all can be reached, and a new one appears at once", async () => {
      const seed = join(folder.path, "seed.json");
      await Bun.write(
        seed,
        `[${Array.from({ length: 10_000 }, (_, index) => named(numbered(index), `Item ${index}`))}]`,
      );
      await start("--seed", seed);
      const page = await openPage();
      await page.untilText("10,000 items");
      expect(await page.evaluate<number>("document.querySelectorAll('li').length")).toBeLessThan(60);
      await page.evaluate("document.querySelector('.list').scrollTo(0, 1e9)");
      await page.until("[...document.querySelectorAll('.name')].at(-1)?.textContent === 'Item 0'");
      expect(await page.evaluate<number>("document.querySelectorAll('li').length")).toBeLessThan(60);
      // End moves the focus to the last row, and the focus stays there when the list is scrolled away from it.
      await page.evaluate("document.querySelector('.list').scrollTo(0, 0)");
      await page.until("document.querySelector('.name').textContent === 'Item 9999'");
      await page.evaluate("document.querySelector('.tick').focus()");
      await page.view.press("End");
      await page.until("document.activeElement.ariaLabel === 'Done: Item 0'");
      await page.evaluate("document.querySelector('.list').scrollTo(0, 0)");
      await page.until("document.body.innerText.includes('Item 9999')");
      await page.view.press("ArrowUp");
      await page.until("document.activeElement.ariaLabel === 'Done: Item 1'");
      await page.fill('[data-control="search"]', "Item 4321");
      await page.untilNames("Item 4321");
      await page.clickItem("Item 4321", "tick");
      await page.until("document.querySelectorAll('.count')[2].textContent === '1'");
      await page.fill('[data-control="search"]', "");
      await page.view.press("Escape");
      await page.evaluate("document.querySelector('.list').scrollTo(0, 0)");
      await page.add("One more");
      await page.until("document.querySelector('.name')?.textContent === 'One more'");
      await page.untilText("10,001 items");
      // The list is far larger than what some clients read.
      await page.untilText("stops reading");
    });

    test("everything can be done with the keyboard alone", async () => {
      await start();
      const page = await openPage();
      const press = (...keys: Bun.WebView.VirtualKey[]) =>
        keys.reduce((before, key) => before.then(() => page.view.press(key)), Promise.resolve());
      await page.view.press("n", { modifiers: ["Shift"] });
      await page.evaluate("document.activeElement.blur()");
      await page.evaluate("dispatchEvent(new KeyboardEvent('keydown', { key: 'n' }))");
      expect(await page.focused()).toBe("composer");
      for (const name of ["One", "Two", "Three"]) {
        await page.view.type(name);
        await press("Enter");
      }
      await page.untilNames("Three", "Two", "One");
      // Tab goes from the composer towards the first item. The Add button is hidden while the composer is empty.
      for (let count = 0; count < 8 && (await page.focused()) !== "tick"; count++) await press("Tab");
      expect(await page.focused()).toBe("tick");
      await press("Space", "ArrowDown", "Space");
      await untilStored((items) => items[2]?.["Done"] === true && items[1]?.["Done"] === true);
      await press("Tab", "Enter");
      await page.until("document.activeElement.dataset.control === 'name'");
      await page.selectAll();
      await page.view.type("Two edited");
      await press("Enter");
      await page.untilNames("Three", "Two edited", "One");
      await page.until("document.activeElement.dataset.control === 'text'");
      await press("Delete");
      await page.untilNames("Three", "One");
      await page.until("document.activeElement.closest('li')?.innerText.includes('One')");
      await press("End", "Home");
      await page.until("document.activeElement.closest('li')?.innerText.includes('Three')");
      await press("Enter", "Escape");
      await page.until("document.activeElement.dataset.control === 'text' && !document.querySelector('.editor')");
      await untilStored((items) => items.length === 2);
      expect((await listed()).map(({ Name }) => Name)).toEqual(["One", "Three"]);
    });

    test("when the focused row disappears, because of a tick or somebody else's deletion, the next row gets the focus", async () => {
      await start();
      await create(named(ids.one, "One"), named(ids.two, "Two"), named(ids.three, "Three"));
      const page = await openPage();
      await page.click('[data-filter="open"]');
      await page.untilNames("Three", "Two", "One");
      await page.evaluate("document.querySelector('.tick').focus()");
      await page.view.press("Space");
      await page.untilNames("Two", "One");
      await page.until("document.activeElement.ariaLabel === 'Done: Two'");
      await send("DELETE", `/api/todoitems/${ids.two}`);
      await page.untilNames("One");
      await page.until("document.activeElement.ariaLabel === 'Done: One'");
      await page.view.press("Delete");
      await page.untilText("All done");
      await page.until("document.activeElement.dataset.control === 'composer'");
    });

    test("axe-core finds no violation in lists, editors and dialogs, light and dark, wide and narrow", async () => {
      await start("--auth", "writes", "--users", await oneUser());
      const headers = { Authorization: `Basic ${btoa("ann:long enough")}` };
      await send("POST", "/api/todoitems/", named(ids.one, "Milk", '"Notes":"oat","Done":true,"Price":1.50'), headers);
      await send("POST", "/api/todoitems/", named(ids.two, "Bread"), headers);
      const page = await openPage();
      await page.untilNames("Bread", "Milk");
      const check = async (what: string) => {
        await page.evaluate(`typeof axe === "undefined" ? (() => { ${axe} })() : 0`);
        const violations = await page.evaluate<unknown[]>(
          "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))",
        );
        expect({ what, violations }).toEqual({ what, violations: [] });
      };
      for (const { colours, width } of [
        { colours: "light", width: 1024 },
        { colours: "dark", width: 390 },
      ]) {
        await page.view.cdp("Emulation.setDeviceMetricsOverride", {
          width,
          height: 760,
          deviceScaleFactor: 1,
          mobile: false,
        });
        await page.view.cdp("Emulation.setEmulatedMedia", {
          features: [
            { name: "prefers-color-scheme", value: colours },
            { name: "prefers-reduced-motion", value: "reduce" },
          ],
        });
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
        await page.until("document.querySelector('dialog.sign-in')");
        await check(`the sign-in form, ${colours}`);
        await page.clickButton("Cancel");
        await page.until("!document.querySelector('dialog')");
        await check(`a message, ${colours}`);
        await page.clickItem("Bread", "text");
        await page.fill('[data-control="name"]', `Rye ${colours}`);
      }
    });

    test("the commands in the connect panel work, with the certificate authority that it offers", async () => {
      await start();
      const page = await openPage();
      await page.click('[data-control="connect"]');
      await page.until("document.querySelector('dialog.panel')");
      expect(await page.evaluate<string>("document.querySelector('.panel').innerText")).toContain(
        `${scheme}://10.0.2.2:${new URL(program.origin).port}/api/todoitems/`,
      );
      if (scheme === "https") {
        const { text } = await send(
          "GET",
          await page.evaluate("new URL(document.querySelector('a[download]')).pathname"),
        );
        expect(text).toBe(readFileSync(join(certificates.path, "todoitems/https/authority.pem"), "utf8"));
        await Bun.write(join(folder.path, "todoitems-authority.crt"), text);
      }
      const commands = await page.evaluate<string[]>(
        "[...document.querySelectorAll('.copyable[data-long=true] code')].map((code) => code.textContent)",
      );
      const outputs: string[] = [];
      for (const command of commands) {
        const withStatus = command.replace("curl", "curl -s --max-time 1 -w ' %{http_code}'");
        const shell = Bun.spawn(["bash", "-c", withStatus], { cwd: folder.path, stdout: "pipe" });
        outputs.push(await new Response(shell.stdout).text());
      }
      const milk = (done: boolean) =>
        `{"ID":"54b4c1f2-0f8e-4a6b-9d3c-2f1a7e5b8c90","Name":"Buy milk","Notes":"","Done":${done}}`;
      expect(outputs.slice(0, 5)).toEqual(["[] 200", `${milk(false)} 201`, `${milk(false)} 200`, " 204", " 204"]);
      expect(outputs[5]).toStartWith("event: ready\n");
      await page.click('[aria-label="Close"]');
      await page.until("!document.querySelector('dialog')");
    });

    test("the page sends requests to this service only, and reads the list again only if it has changed", async () => {
      await start("--log-requests");
      await create(named(ids.one, "One"));
      const page = await openPage();
      const asked: string[] = [];
      await page.view.cdp("Network.enable");
      page.view.addEventListener("Network.requestWillBeSent", (event) => {
        asked.push(String((event as unknown as { data: { request: { url: string } } }).data.request.url));
      });
      await page.view.reload();
      await page.untilNames("One");
      expect(asked.length).toBeGreaterThan(1);
      expect(asked.filter((url) => !url.startsWith(`${program.origin}/`))).toEqual([]);
      // The second time, the browser has the list in its cache. Over HTTPS the cache is empty, because the browser
      // caches nothing from a server whose certificate it does not trust.
      const lists: string[] = [];
      while (lists.length < 2) {
        const [, status] = /GET \S+\/changes (\d+)/.exec(await program.stderrLine()) ?? [];
        if (status !== undefined) lists.push(status);
      }
      expect(lists).toEqual(["200", scheme === "http" ? "304" : "200"]);
    });

    test("edits that were not sent before a reload are sent after it", async () => {
      await start();
      await create(named(ids.one, "One"));
      const page = await openPage();
      const unsent = [
        { kind: "create", id: ids.two, json: named(ids.two, "Two") },
        { kind: "delete", id: ids.one },
      ];
      await page.evaluate(`sessionStorage.setItem("todoitems-outbox", ${JSON.stringify(JSON.stringify(unsent))})`);
      await page.view.reload();
      await page.untilNames("Two");
      await untilStored(([first, second]) => first?.["Name"] === "Two" && !second);
    });

    async function oneUser(): Promise<string> {
      const users = join(folder.path, "users.txt");
      await runProgram("user", { args: ["add", "ann", "--users", users], input: "long enough\n" });
      return users;
    }
  });
}

function numbered(index: number): string {
  return `00000000-0000-4000-8000-${index.toString().padStart(12, "0")}`;
}
