import { expect, test } from "bun:test";
import { describeBlackBox } from "../black-box.ts";
import { ids, item } from "../service.ts";

describeBlackBox("Events", (start) => {
  test("the specification names no events: a client finds changes by listing, and the list's ETag tells whether there are any", async () => {
    const service = await start();
    const first = (await service.fetch("GET", "/api/todoitems/")).headers.get("etag") ?? "";
    const list = (tag: string) => service.fetch("GET", "/api/todoitems/", { headers: { "If-None-Match": tag } });
    expect((await list(first)).status).toBe(304);
    await service.create(item(ids.one));
    const changed = await list(first);
    expect(changed.status).toBe(200);
    expect((await list(changed.headers.get("etag") ?? "")).status).toBe(304);
  });
});
