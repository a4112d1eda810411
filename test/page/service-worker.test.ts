// The page at a name of its own over HTTPS opens without the service. On this machine's own names it has no worker.

import { afterEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { developmentCertificate } from "../../src/credentials/development-certificate.ts";
import { eventually } from "../eventually.ts";
import { ids } from "../service.ts";
import type { PageDriver } from "./page-driver.ts";
import { named, usePages } from "./page-fixture.ts";

const pages = usePages();
let proxy: Bun.Server<undefined> | undefined;
afterEach(async () => {
  await proxy?.stop(true);
  proxy = undefined;
});

const atTodoTest = ["--allow-host", "todo.test", "--lists", "many"];

/** The addresses that the page's worker keeps. */
const kept = (page: PageDriver) =>
  page.evaluate<string[]>(`(async () => {
    const found = await Promise.all((await caches.keys()).map(async (name) => (await caches.open(name)).keys()));
    return found.flat().map(({ url }) => new URL(url).pathname.replace(/-[0-9a-f]{16}/, "")).sort();
  })()`);

const workers = (page: PageDriver) =>
  page.evaluate<number>("navigator.serviceWorker.getRegistrations().then((found) => found.length)");

const assets = ["icon.svg", "samples.js", "script.js", "style.css"].map((name) => `/assets/${name}`);

/** Waits until the pages are kept, and until the worker gets the requests of the next page. */
async function untilReady(page: PageDriver): Promise<void> {
  await eventually(async () => expect(await kept(page)).toEqual(["/", ...assets, "/lists/a", "/lists/a/"]));
  await page.until("navigator.serviceWorker.ready.then(({ active }) => active.state === 'activated')");
}

/** The address of a service over HTTPS, under a name of its own. */
const atName = (port: number | string | undefined) => `https://todo.test:${port}`;

test("without the service, the page opens, is used, is closed, and everything arrives once", async () => {
  await pages.start("--https-port", "0", ...atTodoTest);
  await pages.create(named(ids.one, "One"), named(ids.two, "Two"));
  const { port } = new URL(pages.program.origins[1] ?? "");
  const page = await pages.openPage(atName(port));
  await page.untilNames("One", "Two");
  await page.untilKept("Two");
  await untilReady(page);
  const args = ["--https-port", port, ...atTodoTest];
  await pages.restart(
    async () => {
      await page.reload();
      await page.untilNames("One", "Two");
      await page.add("New");
      await page.clickItem("One", "tick");
      await page.clickItem("Two", "text");
      await page.fill('[data-field="Name"]', "Zwei");
      await page.clickButton("Save");
      await page.untilText("3 edits waiting for the service");
      for (const address of ["/lists/other", "/lists/other/"]) {
        await page.view.navigate(atName(port) + address);
        await page.untilText("The service cannot be reached");
        expect(await page.evaluate<string>("document.title")).toBe("other – todoitems");
      }
      page.close();
    },
    ...args,
  );
  const again = await pages.openPage(atName(port));
  await pages.untilStored(
    ([one, two, , ...more]) => one?.["Done"] === true && two?.["Name"] === "Zwei" && more.length === 0,
  );
  expect((await pages.listed()).map(({ Name }) => Name)).toEqual(["One", "Zwei", "New"]);
  await again.until("!document.querySelector('.status-line')");
  // Only the page and its files were kept.
  await again.view.navigate(`${atName(port)}/docs`);
  await again.until("document.querySelector('#errors')");
  await again.view.navigate(`${atName(port)}/health/live`);
  await untilReady(again);
});

test("a new version is there at the next load, and an answer of somebody else ends the worker", async () => {
  await pages.start(...atTodoTest);
  const { cert, key } = await developmentCertificate(pages.path);
  const { origin } = pages.program;
  let answer: ((response: Response) => Response | Promise<Response>) | undefined;
  proxy = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    tls: { cert: readFileSync(cert), key: readFileSync(key) },
    async fetch({ url, method, headers, body, signal }) {
      const { pathname, search } = new URL(url);
      const response = await fetch(origin + pathname + search, { method, headers, body, signal });
      const { status, headers: sent } = response;
      if (answer && /^\/(lists\/\w+\/?)?$/.test(pathname)) return answer(response);
      const all = new Headers(sent);
      all.delete("content-encoding");
      return new Response(response.body, { status, headers: all });
    },
  });
  const address = atName(proxy.port);
  const page = await pages.openPage(address);
  await untilReady(page);

  answer = async (response) => {
    const headers = new Headers({ "Content-Type": "text/html", ETag: '"new"', "Todoitems-Page": "1" });
    return new Response((await response.text()).replace("<body>", "<body><!-- new -->"), { headers });
  };
  const isNew =
    "document.body.firstChild.nextSibling?.data === ' new ' || document.body.innerHTML.includes('<!-- new -->')";
  await page.reload();
  await page.until(isNew);
  // The worker keeps this page last.
  const keptHtml = `caches.match("${address}/lists/a/").then((found) => found.text()).then((text) => text.includes("<!-- new -->"))`;
  await page.until(keptHtml);

  // A service that cannot answer now, and a proxy whose service is away.
  for (const status of [429, 500, 502, 503]) {
    answer = () => new Response("The service is away.", { status });
    await page.view.navigate(`${address}/lists/other/`);
    await page.until(isNew);
  }
  // A service that hangs.
  answer = () => new Promise<Response>(() => {});
  await page.view.navigate(`${address}/lists/other/`);
  await page.until(isNew);
  // A service that is slow, and nothing is kept.
  await page.evaluate(`caches.keys().then((names) => Promise.all(names.map((name) => caches.delete(name))))`);
  answer = async (response) => {
    await Bun.sleep(6_000);
    const headers = new Headers(response.headers);
    headers.delete("Content-Encoding");
    return new Response(await response.text(), { headers });
  };
  await page.view.navigate(`${address}/lists/late/`);
  await page.untilText("No items yet");
  const foreign = [
    () => new Response("<p>Another project</p>", { headers: { "Content-Type": "text/html" } }),
    () => new Response("Not this name.", { status: 421 }),
    () => new Response("Who are you?", { status: 401 }),
  ];
  for (const other of foreign) {
    answer = undefined;
    await page.view.navigate(`${address}/`);
    await untilReady(page);
    expect(await workers(page)).toBe(1);
    answer = other;
    await page.view.navigate(`${address}/`);
    const text = await other().text();
    await page.untilText(text.replace(/<\/?p>/g, ""));
    await eventually(async () => expect([await workers(page), await kept(page)]).toEqual([0, []]));
  }
});

test("there is no worker on localhost, over HTTP or HTTPS, nor at an address without a name", async () => {
  await pages.start("--https-port", "0", "--host", "127.0.0.1");
  const [http = "", https = ""] = pages.program.origins;
  for (const origin of [http, https])
    for (const host of ["localhost", "127.0.0.1"]) {
      const page = await pages.openPage(origin.replace(/localhost|127\.0\.0\.1/, host));
      await page.untilText("No items yet");
      expect([await workers(page), await kept(page)]).toEqual([0, []]);
    }
});
