// What clients see when the file of a SQLite store is replaced: while the service runs, and after the next start.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { copyFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { SqliteEngine } from "../../../src/engines/sqlite/sqlite-engine.ts";
import { expectProblem, ids, item, Service } from "../../service.ts";
import { openWithThread, temporaryFolder } from "../engine-kinds.ts";

let folder: ReturnType<typeof temporaryFolder>;
let path: string;
let backup: string;

beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder.path, "store.db");
  backup = join(folder.path, "backup.db");
});

afterEach(() => folder.dispose());

const start = (readOnly = false) => Service.on(new SqliteEngine(path, { readOnly }));
const list = "/api/todoitems/";

test("after a backup was moved back, an old ETag, an old token and an old If-Match are of no use", async () => {
  const before = await start();
  await before.create(item(ids.one));
  await before.collection.close();
  copyFileSync(path, backup);
  const service = await start();
  const edited = await service.send("PUT", `${list}${ids.one}`, item(ids.one, '"Name":"mine"'));
  const listed = await service.fetch("GET", list);
  const [itemTag, listTag] = [edited.headers.get("etag") ?? "", listed.headers.get("etag") ?? ""];
  await service.collection.close();

  renameSync(backup, path);
  const restored = await start();
  // Somebody else's edit gets the version that the lost edit had.
  await restored.send("PUT", `${list}${ids.one}`, item(ids.one, '"Name":"theirs"'));
  const again = await restored.fetch("GET", list, { headers: { "If-None-Match": listTag } });
  expect(again.status).toBe(200);
  expect(await again.text()).toContain("theirs");
  const overwrite = await restored.send("PUT", `${list}${ids.one}`, item(ids.one), { "If-Match": itemTag });
  expect(overwrite.status).toBe(412);
  const token = encodeURIComponent(listTag.replaceAll('"', ""));
  const changes = await restored.fetch("GET", `/changes?since=${token}`, { headers: { Accept: "application/json" } });
  expect(await changes.json()).toMatchObject({ whole: true, changes: [{ item: { Name: "theirs" } }] });
  await restored.collection.close();
});

test("while the file is replaced, writes are 503, readiness is 503, and reads go on", async () => {
  const service = await start();
  await service.create(item(ids.one));
  copyFileSync(path, backup);
  renameSync(backup, path);
  await expectProblem(await service.send("POST", list, item(ids.two)), 503, "StoreUnavailable");
  const ready = await service.fetch("GET", "/health/ready");
  expect([ready.status, await ready.json()]).toEqual([503, { status: "store unavailable" }]);
  expect(await service.list()).toBe(`[${item(ids.one)}]`);
  await expect(service.collection.close()).rejects.toThrow("another file is in its place");
});

test.each([
  ["the thread that serves", async () => new SqliteEngine(path, { readOnly: false })],
  ["a thread of its own", () => openWithThread(path)],
] as const)(
  "a write that is refused because the file is gone says that only a restart helps, if commits run in %s",
  async (_, open) => {
    const service = await Service.on(await open());
    await service.create(item(ids.one));
    renameSync(path, backup);
    for (let count = 0; count < 2; count++) {
      const { detail } = await expectProblem(await service.send("POST", list, item(ids.two)), 503, "StoreUnavailable");
      expect(detail).toBe(
        "The service has lost its store, so nothing was changed. Writes fail until the operator restarts the service. Its log says what happened.",
      );
    }
    await expect(service.collection.close()).rejects.toThrow("the file is gone");
  },
);

test("readiness is 503 once the file is replaced, before any write has failed", async () => {
  const service = await start();
  expect((await service.fetch("GET", "/health/ready")).status).toBe(200);
  copyFileSync(path, backup);
  renameSync(backup, path);
  expect((await service.fetch("GET", "/health/ready")).status).toBe(503);
  expect(service.log.at(-1)?.message).toContain("another file is in its place");
  await expect(service.collection.close()).rejects.toThrow("another file is in its place");
});

test("a read-only service stays ready, because it does not write", async () => {
  await (await start()).collection.close();
  const service = await start(true);
  expect((await service.fetch("GET", "/health/ready")).status).toBe(200);
  await service.collection.close();
});

test("a read-only service is not ready once its file is replaced, serves the items it has, and stops without an error", async () => {
  const before = await start();
  await before.create(item(ids.one));
  await before.collection.close();
  copyFileSync(path, backup);
  const service = await start(true);
  renameSync(backup, path);
  expect((await service.fetch("GET", "/health/ready")).status).toBe(503);
  expect(service.log.at(-1)?.message).toContain("another file is in its place");
  expect(await service.list()).toBe(`[${item(ids.one)}]`);
  await service.collection.close();
});
