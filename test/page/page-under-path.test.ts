// The page behind a proxy that serves it under a path, as in https://host/todo/: every address that the page
// requests, links to or shows must stay below that path.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { eventually } from "../eventually.ts";
import { Program } from "../program.ts";
import { PageDriver } from "./page-driver.ts";

/** A path for the proxy. It ends in /api like an address of the API, but must not be taken for one. */
const path = "/apps/api";

const folder = temporaryFolder();
/** The paths that the browser, curl and the test itself requested from the proxy. */
const requested = new Set<string>();
let program: Program;
let proxy: Bun.Server<undefined>;
let page: PageDriver;

beforeAll(async () => {
  program = await Program.start({
    environment: { XDG_DATA_HOME: folder.path, HOME: folder.path },
    // The page offers the certificate authority only if the service has HTTPS. The proxy uses the plain HTTP port.
    args: ["--store", "memory:", "--port", "0", "--https-port", "0"],
  });
  proxy = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch(request) {
      const { pathname, search } = new URL(request.url);
      requested.add(pathname);
      if (!pathname.startsWith(`${path}/`)) return new Response("outside the path", { status: 404 });
      return fetch(`${program.origin}${pathname.slice(path.length)}${search}`, {
        method: request.method,
        headers: request.headers,
        body: request.body,
        signal: request.signal,
        decompress: false,
      });
    },
  });
  page = await PageDriver.open(`http://127.0.0.1:${proxy.port}${path}`);
});
afterAll(async () => {
  page.close();
  await proxy.stop(true);
  await program.stop();
  folder.dispose();
});

test("if a proxy serves the page under a path, every address that it requests, links to or shows stays below that path", async () => {
  const base = `http://127.0.0.1:${proxy.port}${path}/`;
  await page.untilText("Live");
  await page.add("Buy milk");
  await eventually(async () => expect(await program.list()).toContain("Buy milk"));

  await page.click('[data-control="connect"]');
  await page.until("document.querySelector('dialog.panel .samples code')");
  const links = await page.evaluate<string[]>("[...document.querySelectorAll('a')].map(({ href }) => href)");
  expect(links).toEqual(["certificate-authority.crt", "docs", "openapi.yaml"].map((relative) => base + relative));
  for (const link of links) {
    const response = await fetch(link);
    expect([link, response.status]).toEqual([link, 200]);
    await response.body?.cancel();
  }

  const shown = await page.evaluate<string[]>(
    "[...document.querySelectorAll('.copyable')].map(({ innerText }) => innerText)",
  );
  const addresses = shown.map((text) => /https?:\/\/\S+/.exec(text)?.[0] ?? "");
  expect(addresses.map((address) => new URL(address).pathname).filter((name) => !name.startsWith(`${path}/`))).toEqual(
    [],
  );
  // The page does not know at which address the proxy offers HTTPS, so it shows none.
  expect(addresses.filter((address) => address.startsWith("https:"))).toEqual([]);
  const commands = await page.evaluate<string[]>(
    "[...document.querySelectorAll('.samples code')].map((code) => code.textContent)",
  );
  const statuses: string[] = [];
  for (const command of commands) {
    const statusOnly = command.replace(
      "curl",
      `curl -s --max-time 1 -o ${join(folder.path, "body")} -w '%{http_code}'`,
    );
    const shell = Bun.spawn(["bash", "-c", statusOnly], { stdout: "pipe" });
    statuses.push(await new Response(shell.stdout).text());
  }
  expect(statuses).toEqual(["200", "201", "200", "204", "204", "200"]);

  expect([...requested].filter((name) => !name.startsWith(`${path}/`))).toEqual([]);
});

test("so does the reference: what it links to, what it requests, and the addresses in its code", async () => {
  const base = `http://127.0.0.1:${proxy.port}${path}/`;
  const reference = await PageDriver.openReference(base.slice(0, -1));
  requested.clear();
  await reference.click("section[aria-labelledby=listItems] [data-control=send]");
  await reference.until("document.querySelector('.answer[data-complete=true]')?.innerText.startsWith('200')");
  expect([...requested]).toEqual([`${path}/api/todoitems`]);
  const links = await reference.evaluate<string[]>(
    "[...document.querySelectorAll('a')].map(({ href }) => href).filter((href) => !href.includes('#'))",
  );
  expect(links).toEqual(
    ["", "openapi.json", "openapi.yaml", "openapi-3.0.json", ""].map((relative) => base + relative),
  );
  const codes = await reference.evaluate<string[]>(
    "[...document.querySelectorAll('section[aria-labelledby] .samples code')].map((code) => code.textContent)",
  );
  for (const code of codes) expect(code).toContain(base);
  reference.close();
});
