import { expect, test } from "bun:test";
import { type Engine, StoreError } from "../../src/collection/engine.ts";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { describeBlackBox, whiteBoxTest } from "../black-box.ts";
import { expectProblem, type ItemRequests, ids, item, Service } from "../service.ts";

describeBlackBox("Errors", (start) => {
  const notAnItem = [
    "",
    " ",
    "{",
    "[]",
    "null",
    '"x"',
    "1",
    "{}{}",
    "{} x",
    "{'a':1}",
    '{"a":1,}',
    '{"a":01}',
    '{"a":.5}',
    '{"a":1.}',
    '{"a":+1}',
    '{"a":NaN}',
    '{"a":"\t"}',
    '{"a":"\\x"}',
    '{"a" 1}',
    "{a:1}",
    "[{}]",
    "// c\n{}",
    '{"a":tru}',
  ];
  for (const body of notAnItem) {
    test(`Create and Update answer the body ${JSON.stringify(body)} with 400`, async () => {
      const service = await start();
      for (const method of ["POST", "PUT"]) {
        await expectProblem(await service.send(method, `/api/todoitems/${ids.one}`, body), 400, "InvalidJson");
      }
      expect(await service.list()).toBe("[]");
    });
  }

  test("the answer to invalid JSON names the line and column of the mistake", async () => {
    const service = await start();
    const problem = await expectProblem(
      await service.send("POST", "/api/todoitems/", '{\n  "a": 1\n  "b": 2\n}'),
      400,
      "InvalidJson",
    );
    expect(problem.detail).toContain("line 3, column 3");
  });

  test("Create returns 409 if the ID is taken, and leaves the existing item untouched", async () => {
    const service = await start();
    await service.create(item(ids.one, '"Name":"first"'));
    for (const path of ["/api/todoitems/", `/api/todoitems/${ids.one}`]) {
      await expectProblem(await service.send("POST", path, item(ids.one, '"Name":"second"')), 409, "TodoItemIDInUse");
    }
    expect(await service.list()).toBe(`[${item(ids.one, '"Name":"first"')}]`);
  });

  test("Create: of 64 requests for the same item at once, one gets 201 and 63 get 409", async () => {
    const service = await start();
    const answers = await Promise.all(
      Array.from({ length: 64 }, () => service.send("POST", "/api/todoitems/", item(ids.one))),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, ...Array(63).fill(409)]);
  });

  test("Update returns 404 if there is no such item, and creates none", async () => {
    const service = await start();
    for (const path of ["/api/todoitems/", `/api/todoitems/${ids.one}`]) {
      await expectProblem(await service.send("PUT", path, item(ids.one)), 404, "RecordNotFound");
    }
    expect(await service.list()).toBe("[]");
  });

  test("Delete returns 404 if there is no such item, or if it has already been deleted", async () => {
    const service = await start();
    await expectProblem(await service.fetch("DELETE", `/api/todoitems/${ids.one}`), 404, "RecordNotFound");
    await service.create(item(ids.one));
    expect((await service.fetch("DELETE", `/api/todoitems/${ids.one}`)).status).toBe(204);
    await expectProblem(await service.fetch("DELETE", `/api/todoitems/${ids.one}`), 404, "RecordNotFound");
  });

  test("every operation on an item answers a malformed ID in the path with 400", async () => {
    const service = await start();
    for (const segment of ["1", "not-a-uuid", `${ids.one}x`, "%00", "%2F", "%zz", "a%20b", `%7B${ids.one}%7D`]) {
      const path = `/api/todoitems/${segment}`;
      await expectProblem(await service.fetch("GET", path), 400, "TodoItemIDInvalid");
      await expectProblem(await service.fetch("DELETE", path), 400, "TodoItemIDInvalid");
      await expectProblem(await service.send("PUT", path, "{}"), 400, "TodoItemIDInvalid");
      await expectProblem(await service.send("POST", path, "{}"), 400, "TodoItemIDInvalid");
    }
  });

  test("errors are checked in this order: route, method, size, media type, body, existence, condition", async () => {
    const service = await start({ bodyBytesMax: 100 });
    const large = `{"a":"${"x".repeat(200)}"}`;
    const wrong = { "Content-Type": "text/plain", "If-Match": '"stale"' };
    await expectProblem(await service.send("PATCH", "/api/other", large, wrong), 404, "RouteNotFound");
    await expectProblem(await service.send("PATCH", "/api/todoitems/bad", large, wrong), 405, "MethodNotAllowed");
    await expectProblem(await service.send("PUT", "/api/todoitems/bad", large, wrong), 413, "BodyTooLarge");
    await expectProblem(await service.send("PUT", "/api/todoitems/bad", "{", wrong), 415, "UnsupportedMediaType");
    await expectProblem(
      await service.send("PUT", `/api/todoitems/${ids.one}`, "{", { "If-Match": '"stale"' }),
      400,
      "InvalidJson",
    );
    await expectProblem(
      await service.send("PUT", `/api/todoitems/${ids.one}`, "{}", { "If-Match": '"stale"' }),
      404,
      "RecordNotFound",
    );
    await service.create(item(ids.one));
    await expectProblem(
      await service.send("PUT", `/api/todoitems/${ids.one}`, "{}", { "If-Match": '"stale"' }),
      412,
      "PreconditionFailed",
    );
  });
});

describeBlackBox("Errors: conditional requests", (start) => {
  async function startWithItem() {
    const service = await start();
    const etag = (await service.create(item(ids.one))).headers.get("etag") ?? "";
    return { service, etag, path: `/api/todoitems/${ids.one}` };
  }

  test("GET with If-None-Match, of the list or an item, gets 304 with the ETag while nothing has changed", async () => {
    const { service, etag, path } = await startWithItem();
    const listTag = (await service.fetch("GET", "/api/todoitems/")).headers.get("etag") ?? "";
    for (const [target, tag] of [
      ["/api/todoitems/", listTag],
      [path, etag],
    ] as const) {
      const opaque = tag.slice(1, -1);
      for (const header of [
        tag,
        `W/${tag}`,
        `"${opaque}-gzip"`,
        `W/"${opaque}-gzip"`,
        `"${opaque}--gzip"`,
        `"${opaque};br"`,
        `"x", ${tag}`,
        `, "x",, ${tag} , `,
        "*",
      ]) {
        const response = await service.fetch("GET", target, { headers: { "If-None-Match": header } });
        expect([header, response.status]).toEqual([header, 304]);
        expect(response.headers.get("etag")).toBe(tag);
        expect(await response.text()).toBe("");
      }
      for (const header of ['"other"', opaque, `"${opaque}x"`, '""']) {
        const response = await service.fetch("GET", target, { headers: { "If-None-Match": header } });
        expect([header, response.status]).toEqual([header, 200]);
      }
    }
  });

  test("PUT and DELETE succeed if If-Match names the current state", async () => {
    const { service, etag, path } = await startWithItem();
    for (const header of ["*", `"x", ${etag}`, `"x",,${etag}`]) {
      const ok = await service.send("PUT", path, item(ids.one), {
        "If-Match": header.replace(etag, await currentTag(service, path)),
      });
      expect([header, ok.status]).toEqual([header, 204]);
    }
    const viaCollection = await service.send("PUT", "/api/todoitems/", item(ids.one), {
      "If-Match": await currentTag(service, path),
    });
    expect(viaCollection.status).toBe(204);
    const removed = await service.fetch("DELETE", path, { headers: { "If-Match": await currentTag(service, path) } });
    expect(removed.status).toBe(204);
  });

  test("a failed If-Match gets 412 with the current item, exactly as stored, and its ETag, and changes nothing", async () => {
    const { service, etag, path } = await startWithItem();
    const current = item(ids.one, '"n":1.0,"big":12345678901234567890');
    await service.send("PUT", path, current);
    const fresh = await currentTag(service, path);
    const malformed = [
      `w/${fresh}`,
      `W/ ${fresh}`,
      `garbage${fresh}`,
      `*${fresh}`,
      `${fresh} ${fresh}`,
      `${fresh}x`,
      `${fresh}, garbage`,
    ];
    for (const header of [etag, `W/${fresh}`, '"x"', ...malformed]) {
      for (const method of ["PUT", "DELETE"]) {
        const response = await service.send(method, path, item(ids.one, '"lost":true'), { "If-Match": header });
        expect(response.headers.get("etag")).toBe(fresh);
        const text = await response.clone().text();
        expect(text).toEndWith(`,"current":${current}}`);
        await expectProblem(response, 412, "PreconditionFailed");
      }
    }
    expect(await service.list()).toBe(`[${current}]`);
  });

  test("a request with If-Match for an item that does not exist gets 404", async () => {
    const { service } = await startWithItem();
    const response = await service.send("PUT", `/api/todoitems/${ids.two}`, "{}", { "If-Match": "*" });
    await expectProblem(response, 404, "RecordNotFound");
  });

  test("PUT and DELETE get 412 if If-None-Match names the current state", async () => {
    const { service, etag, path } = await startWithItem();
    for (const header of [etag, "*"]) {
      await expectProblem(
        await service.send("PUT", path, "{}", { "If-None-Match": header }),
        412,
        "PreconditionFailed",
      );
      await expectProblem(
        await service.fetch("DELETE", path, { headers: { "If-None-Match": header } }),
        412,
        "PreconditionFailed",
      );
    }
    expect(await (await service.send("PUT", path, "{}", { "If-None-Match": "*" })).text()).toContain(
      "The item is in a state that If-None-Match names, so nothing was changed.",
    );
    expect((await service.send("PUT", path, "{}", { "If-None-Match": '"x"' })).status).toBe(204);
  });

  test("GET gets 412 if If-Match does not name the current state", async () => {
    const { service, etag, path } = await startWithItem();
    expect((await service.fetch("GET", path, { headers: { "If-Match": etag } })).status).toBe(200);
    await expectProblem(
      await service.fetch("GET", path, { headers: { "If-Match": '"x"' } }),
      412,
      "PreconditionFailed",
    );
    await expectProblem(
      await service.fetch("GET", "/api/todoitems/", { headers: { "If-Match": '"x"' } }),
      412,
      "PreconditionFailed",
    );
  });

  test("an empty If-Match, or several, gets 400 and changes nothing, also if there is no such item", async () => {
    const { service, path } = await startWithItem();
    const before = await service.list();
    for (const headers of [{ "If-Match": "" }, { "If-Match": "," }, { "If-Match": ", ," }]) {
      for (const url of [path, `/api/todoitems/${ids.two}`])
        for (const answer of [
          await service.fetch("GET", url, { headers }),
          await service.send("PUT", url, "{}", headers),
          await service.fetch("DELETE", url, { headers }),
        ])
          await expectProblem(answer, 400, "InvalidRequest");
      await expectProblem(await service.fetch("GET", "/api/todoitems/", { headers }), 400, "InvalidRequest");
    }
    expect(await service.list()).toBe(before);
  });

  test("of many updates sent at once with the same If-Match, exactly one succeeds", async () => {
    const { service, etag, path } = await startWithItem();
    const answers = await Promise.all(
      Array.from({ length: 32 }, (_, index) =>
        service.send("PUT", path, item(ids.one, `"n":${index}`), { "If-Match": etag }),
      ),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([204, ...Array(31).fill(412)]);
    const winner = answers.findIndex(({ status }) => status === 204);
    expect(await service.list()).toBe(`[${item(ids.one, `"n":${winner}`)}]`);
    const loser = answers.find(({ status }) => status === 412);
    expect(await loser?.text()).toEndWith(`"current":${item(ids.one, `"n":${winner}`)}}`);
  });

  test("every write gives its item a new ETag, even if several writes share one commit", async () => {
    const { service, path } = await startWithItem();
    const answers = await Promise.all(Array.from({ length: 16 }, () => service.send("PUT", path, item(ids.one))));
    const tags = new Set(answers.map(({ headers }) => headers.get("etag")));
    expect(tags.size).toBe(16);
  });

  async function currentTag(service: ItemRequests, path: string): Promise<string> {
    return (await service.fetch("GET", path)).headers.get("etag") ?? "";
  }
});

/** An engine that fails on demand, because no client can cause these errors. */
class FailingEngine extends MemoryEngine {
  failure: Error | undefined;

  override async commit(...args: Parameters<Engine["commit"]>): Promise<boolean> {
    if (this.failure) throw this.failure;
    return super.commit(...args);
  }
}

whiteBoxTest(
  "if the store cannot save a write, it gets 503 with Retry-After and changes nothing, and later writes succeed again",
  async () => {
    const engine = new FailingEngine();
    const service = await Service.on(engine);
    await service.create(item(ids.one));
    engine.failure = new StoreError("disk /secret/path is full");
    const response = await service.send("POST", "/api/todoitems/", item(ids.two));
    expect(response.headers.get("retry-after")).toBe("1");
    const problem = await expectProblem(response, 503, "StoreUnavailable");
    expect(JSON.stringify(problem)).not.toContain("secret");
    expect(service.log).toEqual([
      { level: "error", message: "disk /secret/path is full" },
      { level: "warn", message: expect.stringContaining("returned 503 StoreUnavailable") },
    ]);
    expect(await service.list()).toBe(`[${item(ids.one)}]`);
    engine.failure = undefined;
    await service.create(item(ids.two));
    expect(await service.list()).toBe(`[${item(ids.one)},${item(ids.two)}]`);
  },
);

whiteBoxTest("a defect in the service gets 500 with a fixed text, and only the log has the error itself", async () => {
  const engine = new FailingEngine();
  const service = await Service.on(engine);
  engine.failure = new TypeError("secret is not a function");
  const problem = await expectProblem(
    await service.send("POST", "/api/todoitems/", item(ids.one)),
    500,
    "InternalError",
  );
  expect(JSON.stringify(problem)).not.toContain("secret");
  expect(service.log.at(-1)?.message).toContain("secret is not a function");
});
