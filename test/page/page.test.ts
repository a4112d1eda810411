// The page in a real Chromium, over plain HTTP and over HTTPS: editing, working offline, signing in, and connecting an
// app.

import { afterAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { eventually } from "../eventually.ts";
import { ids } from "../service.ts";
import { named, usePages } from "./page-fixture.ts";

/** All tests share this folder, because creating a development certificate takes a second. */
const certificates = temporaryFolder();
afterAll(() => certificates.dispose());

for (const scheme of ["http", "https"] as const) {
  describe(`the page over ${scheme}`, () => {
    const pages = usePages(scheme, certificates.path);

    test("items can be added, ticked, edited in place, deleted and restored", async () => {
      await pages.start();
      const page = await pages.openPage();
      await page.untilText("Nothing to do");
      await page.add("Buy milk");
      await page.add("Call Ann");
      await page.untilNames("Call Ann", "Buy milk");
      await pages.untilStored((items) => items.length === 2);

      await page.clickItem("Buy milk", "tick");
      await pages.untilStored((items) => items[0]?.["Done"] === true);

      await page.clickItem("Call Ann", "text");
      await page.fill('[data-control="name"]', "Call Ann at noon");
      await page.fill('[data-control="notes"]', "about the <b>trip</b>\n& back");
      await page.clickButton("Save");
      await page.untilNames("Call Ann at noon", "Buy milk");
      await pages.untilStored((items) => items[1]?.["Notes"] === "about the <b>trip</b>\n& back");

      const [{ ID: deleted } = {}] = await pages.listed();
      await page.clickItem("Buy milk", "delete");
      await page.untilNames("Call Ann at noon");
      await page.clickButton("Undo");
      await page.untilNames("Call Ann at noon", "Buy milk");
      await page.clickItem("Call Ann at noon", "delete");
      await page.untilNames("Buy milk");
      // Once the message is closed, the deletion can no longer be undone, so it is sent.
      await page.click('[data-control="dismiss"]');
      await pages.untilStored((items) => items.length === 1);
      expect(await pages.listed()).toMatchObject([{ ID: deleted, Name: "Buy milk", Done: true }]);
    });

    test("edits made without a connection are sent in order when it is back, and conflicts wait for a decision", async () => {
      await pages.start();
      await pages.create(named(ids.one, "One"), named(ids.two, "Two"), named(ids.three, "Three"));
      const page = await pages.openPage();
      await page.untilNames("Three", "Two", "One");
      const port = new URL(pages.program.origin).port;
      await pages.program.stop();
      await page.untilText("The service cannot be reached");
      await page.add("First");
      await page.add("Second");
      await page.clickItem("One", "tick");
      await page.clickItem("Two", "delete");
      await page.clickItem("Three", "tick");
      await page.untilText("5 changes are kept in this browser");
      await page.untilNames("Second", "First", "Three", "One");
      // If a deletion is undone before it was sent, the item stays in its place.
      await page.clickButton("Undo");
      await page.untilNames("Second", "First", "Three", "Two", "One");
      // Meanwhile somebody else changes an item through another instance of the service.
      await pages.start();
      await pages.send("PUT", "/api/todoitems/", named(ids.three, "Three elsewhere", '"Notes":"","Done":null'));
      await pages.program.stop();
      await pages.start(pages.scheme === "http" ? "--port" : "--https-port", port);
      await page.clickButton("Decide");
      await page.until("document.querySelector('dialog.conflict-dialog')");
      // Only the field that both people have changed is a conflict.
      const cells = "[...document.querySelectorAll('.differences tbody *')].map((cell) => cell.textContent)";
      expect((await page.evaluate<string[]>(cells)).slice(1)).toEqual(["Done", "Yes", "null"]);
      await page.click('[data-control="theirs"]');
      await page.untilNames("Second", "First", "Three elsewhere", "Two", "One");
      await pages.untilStored((items) => items.length === 5);
      expect((await pages.listed()).map(({ Name, Done }) => [Name, Done])).toEqual([
        ["One", true],
        ["Two", false],
        ["Three elsewhere", null],
        ["First", false],
        ["Second", false],
      ]);
      await page.until("!document.querySelector('[data-banner=offline]')");
    });

    test("the page asks for credentials, reports wrong ones, keeps them in memory only, and forgets them at sign-out", async () => {
      await pages.start("--auth", "all", "--users", await pages.oneUser());
      const page = await pages.openPage();
      await page.until("document.querySelector('dialog.sign-in')");
      const signIn = async (password: string) => {
        await page.fill('[data-control="username"]', "ann");
        await page.fill('[data-control="password"]', password);
        await page.view.press("Enter");
      };
      await signIn("wrong");
      await page.untilText("The name or the password is wrong");
      const name = () => page.evaluate("document.querySelector('[data-control=username]').value");
      expect(await name()).toBe("ann");
      await signIn("long enough");
      await page.untilText("Nothing to do");
      await page.add("Secret");
      await page.untilNames("Secret");
      await page.until("document.querySelector('.row').dataset.pending === 'false'");
      const kept = await page.evaluate<string>("JSON.stringify([localStorage, sessionStorage, document.cookie])");
      expect(kept).not.toContain("long enough");
      expect(kept).not.toContain(btoa("ann:long enough"));
      await page.click('[data-control="sign-out"]');
      await page.until("document.querySelector('dialog.sign-in')");
      // The next user may be somebody else, so the page shows neither the items nor the name.
      expect([await page.items(), await name()]).toEqual([[], ""]);
    });

    test("the commands in the connect panel work, with the certificate authority that it offers", async () => {
      await pages.start();
      const page = await pages.openPage();
      await page.click('[data-control="connect"]');
      await page.until("document.querySelector('dialog.panel')");
      expect(await page.evaluate<string>("document.querySelector('.panel').innerText")).toContain(
        `${pages.scheme}://10.0.2.2:${new URL(pages.program.origin).port}/api/todoitems/`,
      );
      if (pages.scheme === "https") {
        const { text } = await pages.send(
          "GET",
          await page.evaluate("new URL(document.querySelector('a[download]')).pathname"),
        );
        expect(text).toBe(readFileSync(join(certificates.path, "todoitems/https/authority.pem"), "utf8"));
        await Bun.write(join(pages.path, "todoitems-authority.crt"), text);
      }
      const commands = await page.evaluate<string[]>(
        "[...document.querySelectorAll('.copyable[data-long=true] code')].map((code) => code.textContent)",
      );
      const outputs: string[] = [];
      for (const command of commands) {
        const withStatus = command.replace("curl", "curl -s --max-time 1 -w ' %{http_code}'");
        const shell = Bun.spawn(["bash", "-c", withStatus], { cwd: pages.path, stdout: "pipe" });
        outputs.push(await new Response(shell.stdout).text());
      }
      const milk = (done: boolean) =>
        `{"ID":"54b4c1f2-0f8e-4a6b-9d3c-2f1a7e5b8c90","Name":"Buy milk","Notes":"two litres","Done":${done}}`;
      expect(outputs.slice(0, 5)).toEqual(["[] 200", `${milk(false)} 201`, `${milk(false)} 200`, " 204", " 204"]);
      expect(outputs[5]).toStartWith("event: ready\n");
      await page.click('[aria-label="Close"]');
      await page.until("!document.querySelector('dialog')");
    });

    test("the page sends requests to this service only, and reads the list again only if it has changed", async () => {
      await pages.start("--log-requests");
      await pages.create(named(ids.one, "One"));
      const page = await pages.openPage();
      const asked: string[] = [];
      await page.view.cdp("Network.enable");
      page.view.addEventListener("Network.requestWillBeSent", (event) => {
        asked.push(String((event as unknown as { data: { request: { url: string } } }).data.request.url));
      });
      await page.view.reload();
      await page.untilNames("One");
      expect(asked.length).toBeGreaterThan(1);
      expect(asked.filter((url) => !url.startsWith(`${pages.program.origin}/`))).toEqual([]);
      // Over plain HTTP, the second request finds the list in the browser's cache. Over HTTPS the cache is empty,
      // because the browser caches nothing from a server whose certificate it does not trust.
      const lists: string[] = [];
      while (lists.length < 2) {
        const [, status] = /GET \S+\/changes\/delta (\d+)/.exec(await pages.program.stderrLine()) ?? [];
        if (status !== undefined) lists.push(status);
      }
      expect(lists).toEqual(["200", pages.scheme === "http" ? "304" : "200"]);
      // When the network is back, the page asks only for what has changed.
      asked.length = 0;
      await page.evaluate("dispatchEvent(new Event('online'))");
      await eventually(() => asked.some((url) => url.includes("/changes/events?since=")));
      expect(asked.filter((url) => !url.includes("/changes/events?since="))).toEqual([]);
    });
  });
}

describe("the connect panel", () => {
  const pages = usePages("http", certificates.path);

  test("it shows the ports that the system has chosen, for HTTP and for HTTPS", async () => {
    await pages.start("--https-port", "0");
    const [http = "", https = ""] = pages.program.origins.map((origin) => new URL(origin).port);
    const page = await pages.openPage();
    await page.click('[data-control="connect"]');
    await page.until("document.querySelector('dialog.panel')");
    const shown = await page.evaluate<string[]>(
      "[...document.querySelectorAll('.copyable[data-long=false] code')].map((code) => code.textContent)",
    );
    expect(shown).toEqual([
      `http://127.0.0.1:${http}/api/todoitems/`,
      `http://10.0.2.2:${http}/api/todoitems/`,
      `http://localhost:${http}/api/todoitems/`,
      `https://localhost:${https}/api/todoitems/`,
      `https://10.0.2.2:${https}/api/todoitems/`,
    ]);
  });

  for (const [host, hint] of [
    ["localhost", "needs the service started with --host 0.0.0.0"],
    ["0.0.0.0", "needs this machine’s address in place of 127.0.0.1"],
  ] as const)
    test(`with --host ${host}, it says what a phone needs`, async () => {
      await pages.start("--host", host);
      const page = await pages.openPage();
      await page.click('[data-control="connect"]');
      await page.untilText(hint);
    });

  test("while the list is not shown without a sign-in, no figures are made up for it", async () => {
    await pages.start("--auth", "all", "--users", await pages.oneUser());
    const page = await pages.openPage();
    await page.until("document.querySelector('dialog.sign-in')");
    await page.view.press("Escape");
    await page.until("!document.querySelector('dialog')");
    await page.click('[data-control="connect"]');
    await page.untilText("Version unknown");
    expect(await page.evaluate<string>("document.querySelector('.figures').innerText")).not.toContain("0 items");
  });

  test("the code for a browser says how a page of another origin may use the service", async () => {
    await pages.start();
    const page = await pages.openPage();
    await page.click('[data-control="connect"]');
    await page.click('[data-language="fetch"]');
    await page.untilText("only if it was started with --cors ORIGIN");
  });

  test("a page from another machine over plain HTTP, which has no clipboard, copies an address too", async () => {
    await pages.start();
    const page = await pages.openPage();
    await page.view.cdp("Browser.setPermission", { permission: { name: "clipboard-read" }, setting: "granted" });
    await page.evaluate(`(() => {
      globalThis.clipboard = navigator.clipboard;
      Object.defineProperty(navigator, "clipboard", { value: undefined });
    })()`);
    await page.click('[data-control="connect"]');
    await page.click('[aria-label="Copy: This machine"]');
    await page.until(`clipboard.readText().then((text) => text === "${pages.program.origin}/api/todoitems/")`);
    await page.until("document.querySelector('[aria-label=\"Copy: This machine\"]').textContent === '✓'");
    await page.view.cdp("Browser.resetPermissions", {});
  });

  test("if the browser does not let the page copy an address, its Copy button selects the address and says so", async () => {
    await pages.start();
    const page = await pages.openPage();
    await page.view.cdp("Browser.setPermission", { permission: { name: "clipboard-write" }, setting: "denied" });
    await page.click('[data-control="connect"]');
    await page.click('[aria-label="Copy: This machine"]');
    await page.until(`getSelection().toString() === "${pages.program.origin}/api/todoitems/"`);
    await page.untilText("Selected, but not copied");
    await page.view.cdp("Browser.resetPermissions", {});
  });
});
