// Tests which refused requests appear in the log. The apps of the tutorial show nothing when they are refused, so the log
// has to say why.

import { expect, test } from "bun:test";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { Access } from "../../src/http/access.ts";
import { AllowedHosts } from "../../src/http/allowed-hosts.ts";
import { BasicAuth } from "../../src/http/basic-auth.ts";
import { RateLimiter } from "../../src/http/rate-limiter.ts";
import { closingRefusal } from "../../src/wire/refusal.ts";
import { ids, item, Service, type ServiceOptions } from "../service.ts";

const list = "/api/todoitems/";

/** Sends each request twice, and returns the log. */
async function logOf(options: ServiceOptions, send: (service: Service) => Promise<unknown>): Promise<string[]> {
  const service = await Service.on(new MemoryEngine(), options);
  for (let count = 0; count < 2; count++) await send(service);
  return service.log.map(({ level, message }) => `${level} ${message}`);
}

test("the first refusal of each kind is one warning with method, path, code and detail", async () => {
  const auth = new BasicAuth(new Map([["ann", Bun.password.hashSync("secret", { algorithm: "bcrypt", cost: 4 })]]));
  const rate = new RateLimiter({ burst: 1, perSecond: 0.001 });
  const cases: [status: string, ServiceOptions, method: string, path: string, headers: object, body?: string][] = [
    ["400 InvalidJson: The document is not", {}, "POST", list, {}, "{"],
    ["400 InvalidRequest: If-Match is empty", {}, "PUT", list, { "If-Match": "" }, item(ids.one)],
    ["401 CredentialsRequired: This needs", { access: new Access({ mode: "all", auth }) }, "GET", list, {}],
    ["403 CrossSiteRefused: A page", {}, "GET", "/changes/events", { "Sec-Fetch-Site": "cross-site" }],
    ["405 MethodNotAllowed: PUT is not offered", { forms: "a" }, "PUT", list, {}, item(ids.one)],
    ["413 BodyTooLarge: The body is larger", { bodyBytesMax: 5 }, "POST", list, {}, item(ids.one)],
    ["415 UnsupportedMediaType: The request has", {}, "POST", list, { "Content-Type": "text/plain" }, item(ids.one)],
    ["421 HostNotAllowed: This instance", { hosts: new AllowedHosts([]) }, "GET", list, { Host: "evil.example" }],
    ["429 TooManyRequests: Too many", { access: new Access({ rate }) }, "GET", list, {}],
    ["507 StoreFull: The store has", { storeBytesMax: 10 }, "POST", list, { "X-Request-Id": "x" }, item(ids.one)],
  ];
  for (const [refusal, options, method, path, headers, body] of cases) {
    const init = { headers: { "Content-Type": "application/json", ...headers }, ...(body !== undefined && { body }) };
    const log = await logOf(options, async (service) => {
      for (let count = 0; count < 3; count++) await service.fetch(method, path, init);
    });
    const [status, detail] = refusal.split(": ");
    const id = status === "507 StoreFull" ? " (requestId x)" : "";
    expect(log).toEqual([expect.stringContaining(`warn ${method} ${path} returned ${status}${id}: ${detail}`)]);
  }
});

test("input that is not a request is logged once, and what an app meets in everyday use is not", async () => {
  expect(await logOf({}, async ({ app }) => app.refuse(closingRefusal("It is nonsense")))).toEqual([
    "warn A request that could not be read returned 400 InvalidRequest: It is nonsense.",
  ]);
  const everyday = await logOf({}, async (service) => {
    await service.fetch("GET", "/nowhere");
    await service.fetch("GET", `${list}${ids.two}`);
    for (let count = 0; count < 2; count++) await service.send("POST", list, item(ids.one));
    await service.send("PUT", list, item(ids.one), { "If-Match": '"x"' });
  });
  expect(everyday).toEqual([]);
});

test("neither credentials nor the texts of items are in the log", async () => {
  const auth = new BasicAuth(new Map([["ann", Bun.password.hashSync("secret", { algorithm: "bcrypt", cost: 4 })]]));
  const headers = { Authorization: `Basic ${btoa("ann:pass-word")}` };
  const signIn = await logOf({ access: new Access({ mode: "all", auth }) }, (service) =>
    service.fetch("GET", list, { headers }),
  );
  const write = await logOf({ requiredFields: ["Notes"] }, async (service) => {
    for (const text of ['{"Name":"buy-milk"', '{"ID":"buy-milk"}', '{"ID":"x","id":"buy-milk"}', '{"Name":"buy-milk"}'])
      await service.send("POST", list, text);
  });
  expect(signIn).toHaveLength(1);
  expect(write).toHaveLength(4);
  for (const text of ["pass-word", headers.Authorization, "buy-milk"])
    expect([...signIn, ...write].join()).not.toContain(text);
});
