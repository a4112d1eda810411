// The page of a named list, with and without the slash at the end of its address, also behind a proxy that serves it
// under a path.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { eventually } from "../eventually.ts";
import { Program } from "../program.ts";
import { expectProblem } from "../service.ts";
import { PageDriver } from "./page-driver.ts";

const folder = temporaryFolder();
/** The paths that were requested from the proxy. */
const requested = new Set<string>();
let program: Program;
let proxy: Bun.Server<undefined>;

beforeAll(async () => {
  program = await Program.start({
    environment: { XDG_DATA_HOME: folder.path, HOME: folder.path },
    args: ["--store", "memory:", "--port", "0", "--https-port", "0", "--lists", "many"],
  });
  proxy = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch({ url, method, headers, body, signal }) {
      const { pathname, search } = new URL(url);
      requested.add(pathname);
      if (!pathname.startsWith("/todo/")) return new Response("outside the path", { status: 404 });
      const target = `${program.origin}${pathname.slice("/todo".length)}${search}`;
      return fetch(target, { method, headers, body, signal, decompress: false });
    },
  });
});
afterAll(async () => {
  await proxy.stop(true);
  await program.stop();
  folder.dispose();
});

const listed = async (list: string) => (await program.fetch(`${list}/api/todoitems/`)).text();

for (const [where, base] of [
  ["the service", () => program.origin],
  ["a proxy that serves it under a path", () => `http://127.0.0.1:${proxy.port}/todo`],
] as const)
  for (const end of ["/", ""])
    test(`the page at ${where}/lists/NAME${end} shows and changes that list, and its links lead to it`, async () => {
      const name = `N-${Bun.hash(where + end).toString(36)}`;
      const list = `${base()}/lists/${name}`;
      requested.clear();
      const page = await PageDriver.openList(list + end);
      try {
        await page.untilText("Live");
        await page.add(`Buy ${name}`);
        await eventually(async () => expect(await listed(`/lists/${name}`)).toContain(`Buy ${name}`));
        expect(await listed("")).toBe("[]");
        await page.click('[data-control="connect"]');
        await page.until("document.querySelector('dialog.panel .samples code')");
        const links = await page.evaluate<string[]>("[...document.querySelectorAll('a')].map(({ href }) => href)");
        expect(links).toEqual(["certificate-authority.crt", "docs", "openapi.yaml"].map((path) => `${base()}/${path}`));
        const code = await page.evaluate<string>("document.querySelector('.samples code').textContent");
        expect(code).toContain(`${list}/api/todoitems`);
        expect([...requested].filter((path) => !path.startsWith("/todo/"))).toEqual([]);
      } finally {
        page.close();
      }
    });

test("two pages of one list are the same bytes, and a name that is none has no page", async () => {
  const [one, other] = [await program.fetch("/lists/a/"), await program.fetch("/LISTS/B/")];
  expect([one.status, other.status]).toEqual([200, 200]);
  expect(one.headers.get("etag")).toBe(other.headers.get("etag") ?? "");
  expect(one.headers.get("content-security-policy")).toContain("base-uri 'none'");
  for (const path of ["/lists/api/", "/lists/-/", "/lists/a%2fb/", `/lists/${"x".repeat(65)}/`])
    await expectProblem(await program.fetch(path), 404, "RouteNotFound");
  const posted = await program.fetch("/lists/a/", { method: "POST" });
  expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET"]);
});

for (const access of [
  ["--lists", "user"],
  ["--auth", "writes"],
])
  test(`the page of a service with tokens only says that it cannot sign in, with ${access.join(" ")}`, async () => {
    const tokens = ["--token-issuer", "http://127.0.0.1:1", "--token-audience", "todo"];
    const service = await Program.start({ args: ["--store", "memory:", "--port", "0", ...access, ...tokens] });
    try {
      const page = await PageDriver.openList(`${service.origin}/`);
      if (access.includes("writes")) {
        await page.add("One");
        await page.click('[data-control="line-sign-in"]');
        await page.until("document.querySelector('dialog')");
      }
      await page.untilText("takes tokens of an identity provider only");
      expect(await page.evaluate<boolean>("document.querySelector('[type=password]') === null")).toBe(true);
      page.close();
    } finally {
      await service.stop("SIGKILL");
    }
  });
