import { expect, test } from "bun:test";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { describeBlackBox, whiteBoxTest } from "../black-box.ts";
import { expectProblem, ids, item, Service } from "../service.ts";

describeBlackBox("What the service does", (start) => {
  test("1. clients list, create, update and delete with GET, POST, PUT and DELETE", async () => {
    const service = await start();
    expect(await service.list()).toBe("[]");
    await service.create(item(ids.one, '"Name":"a"'));
    expect(await service.list()).toBe(`[${item(ids.one, '"Name":"a"')}]`);
    expect((await service.send("PUT", "/api/todoitems/", item(ids.one, '"Name":"b"'))).status).toBe(204);
    expect(await service.list()).toBe(`[${item(ids.one, '"Name":"b"')}]`);
    expect((await service.fetch("DELETE", `/api/todoitems/${ids.one}`)).status).toBe(204);
    expect(await service.list()).toBe("[]");
  });

  test("2. answers are JSON in UTF-8, with an unquoted charset", async () => {
    const service = await start();
    const created = await service.send("POST", "/api/todoitems/", item(ids.one, '"Name":"crème brûlée 🍮"'));
    const list = await service.fetch("GET", "/api/todoitems/");
    for (const response of [created, list]) {
      expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    }
    expect(new TextDecoder("utf-8", { fatal: true }).decode(await list.bytes())).toContain("crème brûlée 🍮");
  });

  for (const type of [
    "application/json",
    "application/json; charset=utf-8",
    'Application/JSON;charset="UTF-8"',
    "application/json; a=b; charset=utf-8",
    'application/json; x="a;charset=latin1"',
    "application/json;",
  ]) {
    test(`2. a request body of type ${type} is accepted`, async () => {
      const service = await start();
      expect((await service.send("POST", "/api/todoitems/", item(ids.one), { "Content-Type": type })).status).toBe(201);
    });
  }

  for (const type of [
    "text/plain",
    "application/jsonx",
    "application/problem+json",
    "application/json; charset=latin1",
    "application/json; charset=utf-8; charset=latin1",
    "application/json; charset = latin1",
    'application/json; charset="utf-8',
    "application/json; a=b, text/plain",
    "application/x-www-form-urlencoded",
  ]) {
    test(`2. a request body of type ${type} gets 415`, async () => {
      const service = await start();
      for (const method of ["POST", "PUT"]) {
        await expectProblem(
          await service.send(method, "/api/todoitems/", item(ids.one), { "Content-Type": type }),
          415,
          "UnsupportedMediaType",
        );
      }
      expect(await service.list()).toBe("[]");
    });
  }

  test("2. a body without a type gets 415", async () => {
    const service = await start();
    const body = new TextEncoder().encode(item(ids.one));
    await expectProblem(await service.fetch("POST", "/api/todoitems/", { body }), 415, "UnsupportedMediaType");
  });

  test("2. a compressed body gets 415", async () => {
    const service = await start();
    const init = {
      body: Bun.gzipSync(item(ids.one)),
      headers: { "Content-Type": "application/json", "Content-Encoding": "gzip" },
    };
    await expectProblem(await service.fetch("POST", "/api/todoitems/", init), 415, "UnsupportedMediaType");
  });

  test("2. a leading byte-order mark is ignored, and invalid UTF-8 gets 400", async () => {
    const service = await start();
    const text = new TextEncoder().encode(item(ids.one));
    const headers = { "Content-Type": "application/json" };
    const marked = await service.fetch("POST", "/api/todoitems/", {
      body: new Uint8Array([0xef, 0xbb, 0xbf, ...text]),
      headers,
    });
    expect(marked.status).toBe(201);
    expect(await marked.text()).toBe(item(ids.one));
    const broken = new TextEncoder().encode(item(ids.two, '"Name":"?"')).map((byte) => (byte === 0x3f ? 0xff : byte));
    await expectProblem(await service.fetch("POST", "/api/todoitems/", { body: broken, headers }), 400, "InvalidJson");
    expect(await service.list()).toBe(`[${item(ids.one)}]`);
  });

  test("3. the only resource is under /api/todoitems", async () => {
    const service = await start();
    for (const path of ["/todoitems", "/api/people", "/api/todoitem", "/apis/todoitems"]) {
      await expectProblem(await service.fetch("GET", path), 404, "RouteNotFound");
    }
  });

  test("4. on a writable instance every operation takes effect", async () => {
    const service = await start({ readOnly: false });
    await service.create(item(ids.one));
    await service.create(item(ids.two));
    await service.fetch("DELETE", `/api/todoitems/${ids.one}`);
    expect(await service.list()).toBe(`[${item(ids.two)}]`);
  });

  test("4. on a read-only instance writes are accepted but do not change the stored data", async () => {
    const service = await start({ readOnly: true, items: [item(ids.one)] });
    const before = await service.list();
    for (const _ of [1, 2]) {
      expect((await service.send("POST", "/api/todoitems/", item(ids.two))).status).toBe(201);
      expect((await service.send("PUT", "/api/todoitems/", item(ids.one, '"Name":"changed"'))).status).toBe(204);
      expect((await service.fetch("DELETE", `/api/todoitems/${ids.one}`)).status).toBe(204);
    }
    expect(await service.list()).toBe(before);
    await expectProblem(await service.fetch("GET", `/api/todoitems/${ids.two}`), 404, "RecordNotFound");
  });

  test("4. a read-only instance refuses what a writable one would refuse", async () => {
    const service = await start({ readOnly: true, items: [item(ids.one)] });
    await expectProblem(await service.send("POST", "/api/todoitems/", "{"), 400, "InvalidJson");
    await expectProblem(await service.send("POST", "/api/todoitems/", item(ids.one)), 409, "TodoItemIDInUse");
    await expectProblem(await service.send("PUT", "/api/todoitems/", item(ids.two)), 404, "RecordNotFound");
    await expectProblem(await service.fetch("DELETE", `/api/todoitems/${ids.two}`), 404, "RecordNotFound");
    const stale = { headers: { "If-Match": '"stale"' } };
    await expectProblem(await service.fetch("DELETE", `/api/todoitems/${ids.one}`, stale), 412, "PreconditionFailed");
  });

  whiteBoxTest(
    "4. on a read-only instance, the ETag of a write never matches a stored state, now or later",
    async () => {
      const engine = new MemoryEngine();
      const writable = await Service.on(engine);
      await writable.create(item(ids.one));
      const openReadOnly = () => Service.on(engine, { readOnly: true });
      const notKept =
        (await (await openReadOnly()).send("PUT", "/api/todoitems/", item(ids.one, '"n":1'))).headers.get("etag") ?? "";
      expect(notKept).toMatch(/^"[^"]+"$/);
      await writable.send("PUT", "/api/todoitems/", item(ids.one, '"n":2'));
      const headers = { "If-None-Match": notKept };
      expect((await (await openReadOnly()).fetch("GET", `/api/todoitems/${ids.one}`, { headers })).status).toBe(200);
      expect((await writable.send("PUT", "/api/todoitems/", item(ids.one), { "If-Match": notKept })).status).toBe(412);
    },
  );

  test("4. concurrent writes to a read-only instance do not see each other", async () => {
    const service = await start({ readOnly: true });
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => service.send("POST", "/api/todoitems/", item(ids.one))),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(201));
  });

  test("5. PATCH is not used by the service", async () => {
    const service = await start();
    await service.create(item(ids.one));
    for (const path of ["/api/todoitems/", `/api/todoitems/${ids.one}`]) {
      await expectProblem(await service.send("PATCH", path, '{"Name":"patched"}'), 405, "MethodNotAllowed");
    }
    expect(await service.list()).toBe(`[${item(ids.one)}]`);
  });
});
