// Checks the recipes in operate/proxies/ with real proxies. These checks are separate from the other tests, because not
// every developer has the three proxies. Proxies that are not installed are skipped.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually } from "../eventually.ts";
import { FeedReader } from "../http/feed-reader.ts";
import { PageDriver } from "../page/page-driver.ts";
import { isInstalled, ProxiedService, type ProxyKind, proxyKinds } from "./proxies.ts";

for (const kind of proxyKinds) {
  if (isInstalled(kind)) describe(kind.name, () => checkRecipe(kind));
  else console.error(`${kind.name} is not installed, so its recipe is not checked.`);
}

function checkRecipe(kind: ProxyKind): void {
  let service: ProxiedService;
  beforeAll(async () => {
    service = await ProxiedService.start(kind, "--log-requests", "--log", "json");
  });
  afterAll(() => service.stop());

  test("items are created, listed, changed and deleted below the path, and Location leads to the item", async () => {
    const created = await service.create('{"Name":"Buy milk","amount":1.50}');
    expect(created.status).toBe(201);
    const item = await created.text();
    const location = created.headers.get("location") ?? "";
    expect(location).toStartWith("/todo/api/todoitems/");
    const path = location.slice("/todo".length);
    expect(await (await service.fetch(path)).text()).toBe(item);
    expect(await (await service.fetch("/api/todoitems/")).text()).toContain(item);
    const headers = { "Content-Type": "application/json", "If-Match": created.headers.get("etag") ?? "" };
    expect((await service.fetch(path, { method: "PUT", body: '{"Name":"Done"}', headers })).status).toBe(204);
    expect((await service.fetch(path, { method: "PUT", body: '{"Name":"Late"}', headers })).status).toBe(412);
    expect((await service.fetch(path, { method: "DELETE" })).status).toBe(204);
  });

  test("each event of the change feed arrives before the next write is sent", async () => {
    const feed = new FeedReader(await service.fetch("/changes/events"));
    for (const name of ["one", "two", "three"]) {
      const item = await (await service.create(`{"Name":"${name}"}`)).text();
      let event = await feed.next();
      while (event && !event.data.includes(item)) event = await feed.next();
      expect(event?.data).toContain(item);
    }
    await feed.close();
  });

  test("the page works below the path, over HTTPS, and sees the changes of others", async () => {
    const page = await PageDriver.open(service.origin);
    await page.untilText("Live");
    await page.add("From the page");
    await eventually(async () => expect(await service.program.list()).toContain("From the page"));
    await service.create('{"Name":"From elsewhere"}');
    await page.untilText("From elsewhere");
    expect(await page.evaluate<string>("performance.getEntriesByType('navigation')[0].nextHopProtocol")).toBe("h2");
    page.close();
  });

  test("the path without its slash leads to the page", async () => {
    const redirect = await service.fetch("", { redirect: "manual" });
    expect(redirect.status).toBe(308);
    expect(new URL(redirect.headers.get("location") ?? "", service.origin).href).toBe(`${service.origin}/`);
  });

  test("errors of the service arrive as the service sent them", async () => {
    const missing = await service.fetch("/api/todoitems/6f9619ff-8b86-d011-b42d-00cf4fc964ff");
    expect(missing.headers.get("content-type")).toStartWith("application/problem+json");
    expect(await missing.json()).toMatchObject({ status: 404, code: "RecordNotFound" });
    const large = await service.create(JSON.stringify({ Name: "x".repeat(1_500_000) }));
    expect(await large.json()).toMatchObject({ status: 413, code: "BodyTooLarge" });
  });

  test("a list that has not changed is 304, compressed or not", async () => {
    for (const encoding of ["identity", "gzip"]) {
      const headers = { "Accept-Encoding": encoding };
      const list = await service.fetch("/api/todoitems/", { headers });
      const etag = list.headers.get("etag") ?? "";
      await list.text();
      expect((await service.fetch("/api/todoitems/", { headers: { ...headers, "If-None-Match": etag } })).status).toBe(
        304,
      );
    }
  });

  test("the log of requests has the address of the client, even if the client forges another", async () => {
    const url = `${service.origin}/api/todoitems/?looked-for`;
    await service.curl("127.0.0.2", "--header", "X-Forwarded-For: 203.0.113.9", url);
    let line = "";
    while (!line.includes("looked-for")) line = await service.program.stderrLine();
    expect(JSON.parse(line)).toMatchObject({ address: "127.0.0.2", status: 200 });
  });

  test("the rate limit counts each client for itself, even if it forges another address", async () => {
    const limited = await ProxiedService.start(kind, "--rate-limit", "1");
    try {
      const url = `${limited.origin}/api/todoitems/`;
      const statusOnly = ["--output", "/dev/null", "--write-out", "%{http_code} "];
      const forged = ["--header", "X-Forwarded-For: 203.0.113.9"];
      const statuses = await limited.curl("127.0.0.2", ...statusOnly, ...forged, `${url}?[1-30]`);
      expect(statuses).toContain("429");
      expect(await limited.curl("127.0.0.3", ...statusOnly, ...forged, url)).toBe("200 ");
    } finally {
      await limited.stop();
    }
  });
}
