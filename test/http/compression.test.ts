// Tests which answers are compressed, and that compressed lists are the same lists.

import { describe, expect, test } from "bun:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { Compression } from "../../src/http/compression.ts";
import { jsonHeaders } from "../../src/http/headers.ts";
import { listen } from "../../src/wire/listen.ts";
import { Answer } from "../../src/wire/message.ts";
import { checkedFetch } from "../description/checked-answer.ts";
import { Service, type ServiceOptions } from "../service.ts";
import { listenOptions } from "./listen-options.ts";

const path = "/api/todoitems/";
const idOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const itemText = (n: number, round = 0) =>
  `{"ID":"${idOf(n)}","Name":"Item ${n}","Notes":"Notes ${Bun.hash(`${n} ${round}`)}","Done":false}`;

async function start(itemCount: number, options: ServiceOptions = {}): Promise<Service> {
  const service = await Service.on(new MemoryEngine(), options);
  for (let n = 0; n < itemCount; n++) await service.create(itemText(n));
  return service;
}

const list = (service: Service, headers: Record<string, string>) => service.fetch("GET", path, { headers });
const tagOf = (response: Response) => response.headers.get("etag") ?? "";

describe("compressed lists", () => {
  test("after thousands of random writes, the compressed list is the plain list, and at most 15 % larger than gzip -6", async () => {
    const service = await start(300);
    let random = 1;
    for (let round = 1; round <= 3_000; round++) {
      random = (random * 48_271) % 2_147_483_647;
      const n = random % 1_200;
      const isThere = (await service.fetch("GET", path + idOf(n))).status === 200;
      if (!isThere) await service.create(itemText(n, round));
      else if (random % 5 === 0) await service.fetch("DELETE", path + idOf(n));
      else await service.send("PUT", path, itemText(n, round));
      if (round % 20 !== 0) continue;
      const bytes = Buffer.from(await (await list(service, { "Accept-Encoding": "gzip" })).bytes());
      expect(gunzipSync(bytes).toString() === (await service.list())).toBe(true);
    }
    const compressed = await (await list(service, { "Accept-Encoding": "gzip" })).bytes();
    expect(compressed.length).toBeLessThan(1.15 * gzipSync(await service.list(), { level: 6 }).length);
  });

  test("the compressed list says so, and has a tag of its own; both lists vary by Accept-Encoding", async () => {
    const service = await start(20);
    const plain = await list(service, {});
    const compressed = await list(service, { "Accept-Encoding": "gzip" });
    expect([plain, compressed].map(({ headers }) => headers.get("content-encoding"))).toEqual([null, "gzip"]);
    expect([plain, compressed].map(({ headers }) => headers.get("vary"))).toEqual([
      "Accept-Encoding",
      "Accept-Encoding",
    ]);
    expect(tagOf(compressed)).toBe(tagOf(plain).replace(/"$/, '-gzip"'));
  });

  test.each([
    ["gzip", true],
    ["gzip, deflate, br", true],
    ["GZIP;q=0.5", true],
    ["*", true],
    ["br, *;q=0.1", true],
    ["identity;q=0.5, gzip;q=1.0", true],
    ["gzip;q=0", false],
    ["gzip; q=0.000", false],
    ["*, gzip;q=0", false],
    ["identity, gzip;q=0.5", false],
    ["gzip;q=none", false],
    ["gzip;q=none, *", false],
    ["br", false],
    ["", false],
  ])("with Accept-Encoding: %s, the list is compressed: %p", async (accepted, isCompressed) => {
    const { headers } = await list(await start(20), { "Accept-Encoding": accepted });
    expect(headers.get("content-encoding")).toBe(isCompressed ? "gzip" : null);
  });

  test("a short list is not compressed, nor is one for a page of another site", async () => {
    const accepting = { "Accept-Encoding": "gzip" };
    const service = await start(20);
    const answers = [
      await list(await start(2), accepting),
      await list(service, { ...accepting, "Sec-Fetch-Site": "cross-site" }),
      await list(service, { ...accepting, "Sec-Fetch-Site": "same-origin" }),
    ];
    expect(answers.map(({ headers }) => headers.get("content-encoding"))).toEqual([null, null, "gzip"]);
  });

  test("the tag of a compressed list means the same state in conditions and in the change feed", async () => {
    const service = await start(20);
    const tag = tagOf(await list(service, { "Accept-Encoding": "gzip" }));
    const withTag = async (name: string, other: Record<string, string> = {}) =>
      (await list(service, { [name]: tag, ...other })).status;
    expect([await withTag("If-None-Match"), await withTag("If-None-Match", { "Accept-Encoding": "gzip" })]).toEqual([
      304, 304,
    ]);
    expect(await withTag("If-Match")).toBe(200);
    const itemTag = tagOf(await service.fetch("GET", path + idOf(3))).replace(/"$/, '-gzip"');
    const update = () => service.send("PUT", path, itemText(3, 1), { "If-Match": itemTag });
    expect([(await update()).status, (await update()).status]).toEqual([204, 412]);
    expect([await withTag("If-None-Match"), await withTag("If-Match")]).toEqual([200, 412]);
    const token = tag.slice(1, -1);
    const asDocument = { Accept: "application/json" };
    for (const [query, headers] of [
      [`?since=${token}`, asDocument],
      ["", { ...asDocument, "Last-Event-ID": token }],
    ] as const) {
      const document = (await (await service.fetch("GET", `/changes${query}`, { headers })).json()) as {
        whole: boolean;
        changes: unknown[];
      };
      expect([document.whole, document.changes.length]).toEqual([false, 1]);
    }
  });

  test("fetch and gzip -t accept a long compressed list from a real socket", async () => {
    const service = await start(5_000);
    const server = listen(service.app, listenOptions);
    try {
      const url = `http://127.0.0.1:${server.port}${path}`;
      const response = await checkedFetch(url, { headers: { "Accept-Encoding": "gzip" } });
      expect(response.headers.get("content-encoding")).toBe("gzip");
      expect((await response.text()) === (await service.list())).toBe(true);
      const raw = await (
        await checkedFetch(url, { headers: { "Accept-Encoding": "gzip" }, decompress: false })
      ).bytes();
      const gzip = Bun.spawn(["gzip", "-t"], { stdin: raw, stderr: "pipe" });
      expect([await gzip.exited, await gzip.stderr.text()]).toEqual([0, ""]);
    } finally {
      await server.stop(0);
    }
  });
});

describe("other compressed answers", () => {
  const gzip = { "Accept-Encoding": "gzip" };
  const longText = (n: number) => `{"ID":"${idOf(n)}","Notes":"${"and bring the empty ones back, ".repeat(50)}"}`;

  test("a long item is compressed, and its tag works in conditions like the one without compression", async () => {
    const service = await start(0);
    await service.create(longText(1));
    const plain = await service.fetch("GET", path + idOf(1));
    const compressed = await service.fetch("GET", path + idOf(1), { headers: gzip });
    expect([plain, compressed].map(({ headers }) => headers.get("content-encoding"))).toEqual([null, "gzip"]);
    expect([plain, compressed].map(({ headers }) => headers.get("vary"))).toEqual(Array(2).fill("Accept-Encoding"));
    expect(gunzipSync(await compressed.bytes()).toString()).toBe(await plain.text());
    expect(tagOf(compressed)).toBe(tagOf(plain).replace(/"$/, '-gzip"'));
    const conditional = { headers: { ...gzip, "If-None-Match": tagOf(compressed) } };
    const unchanged = await service.fetch("GET", path + idOf(1), conditional);
    expect([unchanged.status, tagOf(unchanged)]).toEqual([304, tagOf(compressed)]);
    const update = { headers: { "If-Match": tagOf(compressed), "Content-Type": "application/json" }, body: "{}" };
    expect((await service.fetch("PUT", path + idOf(1), update)).status).toBe(204);
  });

  test("a short item is sent as it is", async () => {
    const service = await start(1);
    const { headers } = await service.fetch("GET", path + idOf(0), { headers: gzip });
    expect([headers.get("content-encoding"), headers.get("vary")]).toEqual([null, null]);
  });

  test("the answer to a create is compressed if it is long, and has the tag of the item", async () => {
    const service = await start(0);
    const headers = { ...gzip, "Content-Type": "application/json" };
    const created = await service.fetch("POST", path, { headers, body: longText(1) });
    expect(created.headers.get("content-encoding")).toBe("gzip");
    expect(tagOf(created)).toBe(tagOf(await service.fetch("GET", path + idOf(1))));
    expect(gunzipSync(await created.bytes()).toString()).toBe(longText(1));
  });

  test("a long problem document is compressed", async () => {
    const service = await start(0);
    await service.create(longText(1));
    const response = await service.fetch("DELETE", path + idOf(1), { headers: { ...gzip, "If-Match": '"other"' } });
    expect([response.status, response.headers.get("content-encoding")]).toEqual([412, "gzip"]);
    expect(JSON.parse(gunzipSync(await response.bytes()).toString()).current).toEqual(JSON.parse(longText(1)));
  });

  test("a long document of changes is compressed, and its tag says where to continue", async () => {
    const service = await start(20);
    const first = await service.fetch("GET", "/changes/delta", { headers: gzip });
    expect([first.headers.get("content-encoding"), first.headers.get("vary")]).toEqual([
      "gzip",
      "Accept, Last-Event-ID, Accept-Encoding",
    ]);
    expect(JSON.parse(gunzipSync(await first.bytes()).toString()).changes).toHaveLength(20);
    await service.create(itemText(20));
    const since = encodeURIComponent(tagOf(first));
    const next = await service.fetch("GET", `/changes/delta?since=${since}`, { headers: gzip });
    expect(JSON.parse(await next.text())).toMatchObject({ whole: false, changes: [{ version: 21 }] });
  });

  test("readers of the whole document of changes share its compressed form", async () => {
    const service = await start(20);
    const answer = () =>
      service.app.handle({
        method: "GET",
        path: "/changes/delta",
        query: "",
        headers: new Map([["accept-encoding", "gzip"]]),
        peer: "127.0.0.1",
        isSecure: false,
        readBody: () => new Uint8Array(),
      });
    const [first, second] = [await answer(), await answer()];
    expect(first.headers["Content-Encoding"]).toBe("gzip");
    expect(second).toBe(first);
  });

  test("a page of another site gets a long item as it is", async () => {
    const service = await start(0);
    await service.create(longText(1));
    const headers = { ...gzip, "Sec-Fetch-Site": "cross-site" };
    const response = await service.fetch("GET", path + idOf(1), { headers });
    expect(response.headers.get("content-encoding")).toBeNull();
    expect(await response.text()).toBe(longText(1));
  });

  test("while a megabyte is being compressed, other answers are sent as they are", async () => {
    const compression = new Compression();
    const compressed = (length: number) =>
      compression.apply(new Map([["accept-encoding", "gzip"]]), new Answer(200, jsonHeaders, "a".repeat(length)));
    const answers = [600_000, 400_000, 100_000].map(compressed);
    expect(answers.map((answer) => answer instanceof Promise)).toEqual([true, true, false]);
    await Promise.all(answers);
    expect(compressed(2_000_000)).toBeInstanceOf(Promise);
  });

  test("a standing answer is compressed once, and requests that come meanwhile wait for it", async () => {
    const compression = new Compression();
    const answer = new Answer(200, { ...jsonHeaders, Vary: "Accept-Encoding" }, longText(1), { isStanding: true });
    const compressed = () => compression.apply(new Map([["accept-encoding", "gzip"]]), answer);
    const [first, second] = await Promise.all([compressed(), compressed()]);
    expect(first.headers["Content-Encoding"]).toBe("gzip");
    expect(second).toBe(first);
    expect(compressed()).toBe(first);
  });
});
