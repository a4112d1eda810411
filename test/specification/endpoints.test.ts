import { expect, test } from "bun:test";
import { describeBlackBox, whiteBoxTest } from "../black-box.ts";
import { expectProblem, ids, item } from "../service.ts";

const collectionPaths = ["/api", "/api/", "/api/todoitems", "/api/todoitems/"];

describeBlackBox("Endpoints: routes", (start) => {
  for (const path of [
    ...collectionPaths,
    "/API/TodoItems",
    "/Api/TODOITEMS/",
    "/api/todoitems?x=1",
    "/api/todoitems/?/y",
    "/api/%74odoitems",
  ]) {
    test(`GET ${path} returns the list`, async () => {
      const service = await start();
      await service.create(item(ids.one));
      const response = await service.fetch("GET", path);
      expect(response.status).toBe(200);
      expect(await response.text()).toBe(`[${item(ids.one)}]`);
    });
  }

  for (const path of [`/api/todoitems/${ids.one}`, `/api/todoitems/${ids.one}/`, `/API/TODOITEMS/${ids.one}?q`]) {
    test(`${path} names the item`, async () => {
      const service = await start();
      expect((await service.send("POST", path, "{}")).status).toBe(201);
      expect((await service.send("PUT", path, '{"A":1}')).status).toBe(204);
      expect(await (await service.fetch("GET", path)).text()).toBe(item(ids.one, '"A":1'));
      expect((await service.fetch("DELETE", path)).status).toBe(204);
    });
  }

  for (const path of [
    "/api//todoitems",
    "//api/todoitems",
    "/api/todoitems//",
    `/api/todoitems/${ids.one}/x`,
    `/api/todoitems/${ids.one}//`,
    "/api/todoitems2",
    "/api%2Ftodoitems",
    "/apix",
    "/api/%zz",
  ]) {
    // If a path begins with two slashes, `fetch` sends only one of them. So such a path is tested without a socket.
    (path.startsWith("//") ? whiteBoxTest : test)(`${path} matches no route, so every method gets 404`, async () => {
      const service = await start();
      for (const method of ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"]) {
        await expectProblem(await service.fetch(method, path), 404, "RouteNotFound");
      }
    });
  }

  test("a path is never redirected, with or without its trailing slash", async () => {
    const service = await start();
    for (const path of collectionPaths) {
      for (const method of ["GET", "POST", "PUT", "DELETE"]) {
        const { status } = await service.fetch(method, path);
        expect(status >= 300 && status < 400).toBe(false);
      }
    }
  });
});

describeBlackBox("Endpoints: operations", (start) => {
  test("List: GET /api/todoitems/ returns 200 and a JSON array of TodoItem", async () => {
    const service = await start();
    const empty = await service.fetch("GET", "/api/todoitems/");
    expect(empty.status).toBe(200);
    expect(await empty.text()).toBe("[]");
    expect(empty.headers.get("cache-control")).toBe("no-cache");
    expect(empty.headers.get("etag")).toMatch(/^"[^"]+"$/);
  });

  test("List: X-Total-Count is the number of items, also if the list is compressed", async () => {
    const service = await start();
    for (const json of [item(ids.one, `"Notes":"${"x".repeat(2_000)}"`), item(ids.two)]) await service.create(json);
    const counts = async () => {
      const answers = ["identity", "gzip"].map((coding) =>
        service.fetch("GET", "/api/todoitems/", { headers: { "Accept-Encoding": coding } }),
      );
      return (await Promise.all(answers)).map(({ headers }) => headers.get("x-total-count"));
    };
    expect(await counts()).toEqual(["2", "2"]);
    await service.fetch("DELETE", `/api/todoitems/${ids.two}`);
    expect(await counts()).toEqual(["1", "1"]);
  });

  for (const [form, path] of [
    ["A", `/api/todoitems/${ids.one}`],
    ["B", "/api/todoitems/"],
  ] as const) {
    test(`Create (form ${form}) returns 201 with the stored item, its location and its ETag`, async () => {
      const service = await start();
      const response = await service.send("POST", path, item(ids.one));
      expect(response.status).toBe(201);
      expect(await response.text()).toBe(item(ids.one));
      expect(response.headers.get("location")).toBe(`/api/todoitems/${ids.one}`);
      const read = await service.fetch("GET", `/api/todoitems/${ids.one}`);
      expect(response.headers.get("etag")).toBe(read.headers.get("etag"));
    });

    test(`Update (form ${form}) returns 204 with an empty body and the new ETag`, async () => {
      const service = await start();
      const created = await service.create(item(ids.one));
      const response = await service.send("PUT", path, item(ids.one, '"Name":"y"'));
      expect(response.status).toBe(204);
      expect(await response.text()).toBe("");
      expect(response.headers.has("content-type")).toBe(false);
      expect(response.headers.has("content-length")).toBe(false);
      const read = await service.fetch("GET", `/api/todoitems/${ids.one}`);
      expect(response.headers.get("etag")).toBe(read.headers.get("etag"));
      expect(response.headers.get("etag")).not.toBe(created.headers.get("etag"));
    });
  }

  test("Delete returns 204 and an empty body, whether the request has no payload or the item as payload", async () => {
    const service = await start();
    const path = `/api/todoitems/${ids.one}`;
    const requests: RequestInit[] = [
      {},
      { body: item(ids.one), headers: { "Content-Type": "application/json" } },
      { body: new TextEncoder().encode(item(ids.one)) },
      { body: '{"Name":"no ID"}', headers: { "Content-Type": "application/json" } },
      { headers: { "Content-Type": "application/x-www-form-urlencoded" } },
      { body: item(ids.one), headers: { "Content-Type": "text/plain" } },
    ];
    for (const request of requests) {
      await service.create(item(ids.one));
      const response = await service.fetch("DELETE", path, request);
      expect(response.status).toBe(204);
      expect(await response.text()).toBe("");
      expect(response.headers.has("content-type")).toBe(false);
      expect(await service.list()).toBe("[]");
    }
  });

  test("Delete refuses a payload that is not a TodoItem or that has another ID", async () => {
    const service = await start();
    await service.create(item(ids.one));
    const path = `/api/todoitems/${ids.one}`;
    await expectProblem(await service.send("DELETE", path, "{"), 400, "InvalidJson");
    await expectProblem(await service.send("DELETE", path, "[]"), 400, "InvalidJson");
    await expectProblem(await service.send("DELETE", path, item(ids.two)), 400, "TodoItemIDMismatch");
    await expectProblem(await service.send("DELETE", path, "x", { "Content-Type": "text/plain" }), 400, "InvalidJson");
    expect(await service.list()).toBe(`[${item(ids.one)}]`);
  });

  test("reading one item returns 200, or 404 if it does not exist", async () => {
    const service = await start();
    await service.create(item(ids.one));
    const response = await service.fetch("GET", `/api/todoitems/${ids.one}`);
    expect(response.status).toBe(200);
    expect(await response.text()).toBe(item(ids.one));
    await expectProblem(await service.fetch("GET", `/api/todoitems/${ids.two}`), 404, "RecordNotFound");
  });

  test("rule 1: in form A the path id is the ID of the item in the body", async () => {
    const service = await start();
    await service.create(item(ids.two));
    for (const [method, id] of [
      ["POST", ids.one],
      ["PUT", ids.one],
    ] as const) {
      await expectProblem(await service.send(method, `/api/todoitems/${id}`, item(ids.two)), 400, "TodoItemIDMismatch");
    }
    expect((await service.send("PUT", `/api/todoitems/${ids.two.toUpperCase()}`, item(ids.two, '"a":1'))).status).toBe(
      204,
    );
    expect(await service.list()).toBe(`[${item(ids.two, '"a":1')}]`);
  });

  test("rule 2: in form B the item is identified by the ID in the body", async () => {
    const service = await start();
    await service.create(item(ids.one));
    await service.create(item(ids.two));
    expect((await service.send("PUT", "/api/todoitems", item(ids.two, '"a":1'))).status).toBe(204);
    expect(await service.list()).toBe(`[${item(ids.one)},${item(ids.two, '"a":1')}]`);
  });

  test("rule 3: the list is one array of all items in order of creation, and an update keeps the item's place", async () => {
    const service = await start();
    // Create enough items for several chunks of the list.
    const created = Array.from({ length: 150 }, (_, index) =>
      item(crypto.randomUUID(), `"n":${index},"a":"${"x".repeat(100)}"`),
    );
    for (const json of created) await service.create(json);
    const expected = [...created];
    for (const index of [0, 74, 149]) {
      expected[index] = item(JSON.parse(created[index] ?? "").ID, '"updated":true');
      await service.send("PUT", "/api/todoitems/", expected[index]);
    }
    expect(await service.list()).toBe(`[${expected.join(",")}]`);
  });

  test("rule 6: PATCH, HEAD and OPTIONS are not offered and get 405 with an exact Allow", async () => {
    const service = await start();
    for (const method of ["PATCH", "HEAD", "OPTIONS"]) {
      const onCollection = await service.fetch(method, "/api/todoitems/");
      expect(onCollection.headers.get("allow")).toBe("GET, POST, PUT");
      const onItem = await service.fetch(method, `/api/todoitems/${ids.one}`);
      expect(onItem.headers.get("allow")).toBe("GET, POST, PUT, DELETE");
      for (const response of [onCollection, onItem]) {
        expect(response.status).toBe(405);
        // Over a socket, an answer to HEAD has no body.
        if (method !== "HEAD") await expectProblem(response, 405, "MethodNotAllowed");
      }
    }
    const response = await service.fetch("DELETE", "/api/todoitems/");
    expect(response.headers.get("allow")).toBe("GET, POST, PUT");
    await expectProblem(response, 405, "MethodNotAllowed");
  });

  const list = "/api/todoitems/";
  const one = `${list}${ids.one}`;
  const inPath = "/api/todoitems/{ID} with the ID in the path.";
  const inBody = "/api/todoitems/ with the ID in the body.";
  const update = "Read the item, and send all of it with your change, and its ETag in If-Match: PUT";
  for (const [forms, method, path, advice] of [
    ["both", "PATCH", one, `${update} ${inPath}`],
    ["both", "DELETE", list, `Send DELETE ${inPath}`],
    ["a", "PATCH", list, `${update} ${inPath}`],
    ["a", "POST", list, `Send POST ${inPath}`],
    ["a", "PUT", list, `Send PUT ${inPath}`],
    ["b", "PATCH", one, `${update} ${inBody}`],
    ["b", "POST", one, `Send POST ${inBody}`],
    ["b", "PUT", one, `Send PUT ${inBody}`],
    ["b", "DELETE", list, `Send DELETE ${inPath}`],
    ["b", "PURGE", one, "Offered: GET, DELETE."],
  ] as const) {
    test(`rule 6: the 405 for ${method} ${path} says what to send instead (forms: ${forms})`, async () => {
      const service = await start({ forms });
      const response = await service.send(method, path, '{"Done":true}');
      expect((await expectProblem(response, 405, "MethodNotAllowed")).detail).toEndWith(` ${advice}`);
    });
  }
});

describeBlackBox("Endpoints: deployments differ in which form they expose", (start) => {
  test("with form A only, create and update on the collection get 405", async () => {
    const service = await start({ forms: "a" });
    expect((await service.send("POST", `/api/todoitems/${ids.one}`, item(ids.one))).status).toBe(201);
    expect((await service.send("PUT", `/api/todoitems/${ids.one}`, item(ids.one))).status).toBe(204);
    for (const method of ["POST", "PUT", "DELETE"]) {
      const response = await service.send(method, "/api/todoitems/", item(ids.one));
      expect(response.headers.get("allow")).toBe("GET");
      await expectProblem(response, 405, "MethodNotAllowed");
    }
    expect((await service.fetch("PATCH", `/api/todoitems/${ids.one}`)).headers.get("allow")).toBe(
      "GET, POST, PUT, DELETE",
    );
    expect((await service.fetch("DELETE", `/api/todoitems/${ids.one}`)).status).toBe(204);
  });

  test("with form B only, create and update on an item's path get 405", async () => {
    const service = await start({ forms: "b" });
    expect((await service.send("POST", "/api/todoitems/", item(ids.one))).status).toBe(201);
    expect((await service.send("PUT", "/api/todoitems/", item(ids.one))).status).toBe(204);
    for (const method of ["POST", "PUT"]) {
      const response = await service.send(method, `/api/todoitems/${ids.one}`, item(ids.one));
      expect(response.headers.get("allow")).toBe("GET, DELETE");
      await expectProblem(response, 405, "MethodNotAllowed");
    }
    expect((await service.fetch("DELETE", `/api/todoitems/${ids.one}`)).status).toBe(204);
  });
});
