import { describe, expect, test } from "bun:test";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { Access } from "../../src/http/access.ts";
import { BasicAuth } from "../../src/http/basic-auth.ts";
import type { AllowedOrigins } from "../../src/http/cors.ts";
import { describeOnEveryEngine, expectProblem, ids, item, Service } from "../service.ts";

const page = "https://app.example";
const listed = () => new Set([page, "http://localhost:8100"]);

function corsHeaders(response: Response): string[] {
  return [...response.headers.keys()].filter((name) => name.startsWith("access-control-"));
}

function preflight(
  service: Service,
  path: string,
  method: string,
  origin = page,
  asked = "content-type,if-match",
): Promise<Response> {
  const headers = {
    Origin: origin,
    "Access-Control-Request-Method": method,
    "Access-Control-Request-Headers": asked,
  };
  return service.fetch("OPTIONS", path, { headers });
}

describeOnEveryEngine("CORS switched on", (start) => {
  test("a preflight without credentials gets 204 with the allowed methods, headers and maximum age", async () => {
    const auth = new BasicAuth(new Map([["ann", Bun.password.hashSync("secret", { algorithm: "bcrypt", cost: 4 })]]));
    const service = await start({
      cors: listed(),
      access: new Access({ mode: "all", auth }),
    });
    for (const [path, methods] of [
      ["/api/todoitems/", "GET, POST, PUT"],
      [`/api/todoitems/${ids.one}`, "GET, POST, PUT, DELETE"],
    ] as const) {
      const response = await preflight(service, path, "PUT");
      expect(response.status).toBe(204);
      expect(response.headers.get("access-control-allow-origin")).toBe(page);
      expect(response.headers.get("access-control-allow-methods")).toBe(methods);
      expect(response.headers.get("access-control-allow-headers")).toBe("content-type, if-match");
      expect(response.headers.get("access-control-max-age")).toBe("600");
      expect(response.headers.get("vary")).toContain("Origin");
      expect(response.headers.has("access-control-allow-credentials")).toBe(false);
    }
  });

  test("a preflight allows every header that it asks for and whose name is valid", async () => {
    const service = await start({ cors: listed() });
    const allowed = async (asked: string) =>
      (await preflight(service, "/api/todoitems/", "PUT", page, asked)).headers.get("access-control-allow-headers");
    expect(await allowed("authorization, x-my-app,baggage")).toBe("authorization, x-my-app, baggage");
    expect(await allowed("a b,x-ok,(c),,d:e")).toBe("x-ok");
    expect(await allowed("")).toBe("");
  });

  test("the answer to a preflight lists only the methods that the forms setting offers", async () => {
    const service = await start({ cors: listed(), forms: "b" });
    const response = await preflight(service, `/api/todoitems/${ids.one}`, "DELETE");
    expect(response.headers.get("access-control-allow-methods")).toBe("GET, DELETE");
  });

  test("an allowed origin may read answers and errors, with the headers that clients use", async () => {
    const service = await start({ cors: listed() });
    const headers = { Origin: page };
    const answers = [
      await service.send("POST", "/api/todoitems/", item(ids.one), headers),
      await service.fetch("GET", "/api/todoitems/", { headers }),
      await service.send("POST", "/api/todoitems/", "{", headers),
      await service.fetch("GET", "/nowhere", { headers }),
      await service.fetch("PATCH", "/api/todoitems/", { headers }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 200, 400, 404, 405]);
    for (const answer of answers) {
      expect(answer.headers.get("access-control-allow-origin")).toBe(page);
      expect(answer.headers.get("access-control-expose-headers")).toBe(
        "ETag, Location, Preference-Applied, Retry-After, X-Request-Id, X-Total-Count",
      );
      expect(answer.headers.get("vary")).toContain("Origin");
    }
  });

  test("a request from another origin, or without an origin, gets Vary: Origin and no CORS headers", async () => {
    const service = await start({ cors: listed() });
    for (const headers of [
      { Origin: "https://evil.example" },
      { Origin: "null" },
      { Origin: `${page}.evil.example` },
      {},
    ]) {
      const response = await service.fetch("GET", "/api/todoitems/", { headers });
      expect(corsHeaders(response)).toEqual([]);
      expect(response.headers.get("vary")).toContain("Origin");
    }
    const refused = await preflight(service, "/api/todoitems/", "POST", "https://evil.example");
    expect([refused.status, corsHeaders(refused)]).toEqual([204, []]);
  });

  test("with `*`, every origin is allowed, and answers do not vary by Origin", async () => {
    const service = await start({ cors: "*" });
    const response = await service.fetch("GET", "/api/todoitems/", { headers: { Origin: "https://any.example" } });
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(response.headers.get("vary")).not.toContain("Origin");
  });

  test("an OPTIONS request that is not a preflight gets 405, and a preflight for an unknown path gets 404", async () => {
    const service = await start({ cors: listed() });
    const plain = await service.fetch("OPTIONS", "/api/todoitems/", { headers: { Origin: page } });
    expect(plain.headers.get("allow")).toBe("GET, POST, PUT");
    await expectProblem(plain, 405, "MethodNotAllowed");
    await expectProblem(await preflight(service, "/nowhere", "POST"), 404, "RouteNotFound");
  });
});

describe("pages that have no access", () => {
  const start = (cors?: AllowedOrigins) => Service.on(new MemoryEngine(), { cors });
  const get = (service: Service, headers: Record<string, string>) =>
    service.fetch("GET", "/api/todoitems/", { headers });
  const messages = (service: Service) =>
    service.log.map(({ message }) => message).filter((message) => !message.startsWith("OPTIONS"));
  const refusal = (origin: string, flag: string) =>
    `The browser keeps a web page of the origin ${origin} from using this service. To allow the page, start the service with --cors ${flag}`;

  test("are logged once per origin, with the flag that allows them", async () => {
    const service = await start();
    for (const origin of [page, page, "http://localhost:8100", page]) await get(service, { Origin: origin });
    await preflight(service, "/api/todoitems/", "POST");
    expect(messages(service)).toEqual([refusal(page, page), refusal("http://localhost:8100", "http://localhost:8100")]);
  });

  test("are logged with all allowed origins in the flag, if there are some", async () => {
    const service = await start(listed());
    for (const origin of [page, "https://other.example"]) await get(service, { Origin: origin });
    expect(messages(service)).toEqual([
      refusal("https://other.example", `${page},http://localhost:8100,https://other.example`),
    ]);
  });

  test("get the flag in the 405 that a preflight is answered with", async () => {
    const { detail } = await expectProblem(
      await preflight(await start(), "/api/todoitems/", "POST"),
      405,
      "MethodNotAllowed",
    );
    expect(detail).toBe(`OPTIONS is not offered here. Offered: GET, POST, PUT. ${refusal(page, page)}.`);
  });

  for (const origin of ["null", "capacitor://localhost"]) {
    test(`the origin ${origin} cannot be listed, so the flag is --cors "*"`, async () => {
      const service = await start();
      await get(service, { Origin: origin });
      expect(messages(service)).toEqual([refusal(origin, '"*"')]);
    });
  }

  test("are not mentioned if no browser sends such an origin, because people paste the advice into a shell", async () => {
    const service = await start();
    for (const origin of ["http://a.example;reboot", "http://$(id)", "https://a.example/path", "x y", "http://A", "<>"])
      await get(service, { Origin: origin });
    expect(messages(service)).toEqual([]);
    const headers = { Origin: "http://a;b", "Access-Control-Request-Method": "POST" };
    const refused = await service.fetch("OPTIONS", "/api/todoitems/", { headers });
    const { detail } = await expectProblem(refused, 405, "MethodNotAllowed");
    expect(detail).not.toContain("--cors");
    for (const origin of ["http://[::1]:5173", "http://localhost:5173", "https://my_app.example", "file://"])
      await get(service, { Origin: origin });
    expect(messages(service)).toHaveLength(4);
  });

  test("do not include the service's own page, also behind a proxy with another name", async () => {
    const service = await start();
    await get(service, { Origin: "http://localhost:5000", Host: "localhost:5000" });
    await get(service, { Origin: "https://todo.example", Host: "todo.example" });
    await get(service, { Origin: "https://todo.example", Host: "127.0.0.1:5000", "Sec-Fetch-Site": "same-origin" });
    await get(service, {});
    expect(messages(service)).toEqual([]);
    const any = await start("*");
    await get(any, { Origin: page });
    expect(messages(any)).toEqual([]);
  });

  test("are logged for 100 origins only, so that nobody can fill the log", async () => {
    const service = await start();
    for (let count = 0; count < 150; count++) await get(service, { Origin: `https://${count}.example` });
    expect(service.log).toHaveLength(100);
  });
});

describeOnEveryEngine("CORS switched off", (start) => {
  test("by default no answer has a CORS header, and a preflight gets 405", async () => {
    const service = await start();
    const response = await service.fetch("GET", "/api/todoitems/", { headers: { Origin: page } });
    expect(corsHeaders(response)).toEqual([]);
    expect(response.headers.get("vary")).not.toContain("Origin");
    const refused = await preflight(service, "/api/todoitems/", "POST");
    expect(corsHeaders(refused)).toEqual([]);
    await expectProblem(refused, 405, "MethodNotAllowed");
  });

  // By the Fetch standard, a script from another origin may send only GET, HEAD and POST without a preflight. The
  // content type of its body must then be one of these types, or missing. Everything else needs a preflight, which gets
  // 405, as tested above. So these are the only writes that a hostile page can send with credentials that the browser
  // has stored.
  for (const type of [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "text/plain; application/json",
    undefined,
  ]) {
    test(`a page from another origin cannot change anything: its POST with ${type ?? "no type"} gets 415`, async () => {
      const service = await start();
      const body = new TextEncoder().encode(item(ids.one));
      for (const path of ["/api/todoitems/", `/api/todoitems/${ids.one}`]) {
        const headers: Record<string, string> =
          type === undefined ? { Origin: page } : { Origin: page, "Content-Type": type };
        await expectProblem(await service.fetch("POST", path, { body, headers }), 415, "UnsupportedMediaType");
      }
      expect(await service.list()).toBe("[]");
    });
  }
});
