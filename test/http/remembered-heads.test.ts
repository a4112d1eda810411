// What the app remembers about the head of a request: what it asks for, and who asks.

import { expect, test } from "bun:test";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { Access } from "../../src/http/access.ts";
import { AllowedHosts } from "../../src/http/allowed-hosts.ts";
import { BasicAuth } from "../../src/http/basic-auth.ts";
import { RateLimiter } from "../../src/http/rate-limiter.ts";
import { requestOf } from "../app-fetch.ts";
import { Service } from "../service.ts";

const users = new Map([["ann", Bun.password.hashSync("secret", { algorithm: "bcrypt", cost: 4 })]]);
const auth = (password: string) => ({ Authorization: `Basic ${btoa(`ann:${password}`)}` });

/** Sends the request twice, because a password that must be verified first is not remembered. */
async function ask(service: Service, path: string, headers: Record<string, string> = {}) {
  const send = () => requestOf(new Request(`http://localhost${path}`, { headers }), "192.0.2.1");
  await service.app.handle(send());
  const request = send();
  const { status } = await service.app.handle(request);
  return { status, request };
}

test("only requests that are admitted are remembered, so strangers cannot push the others out", async () => {
  const options = { access: new Access({ mode: "all", auth: new BasicAuth(users) }), hosts: new AllowedHosts([]) };
  const service = await Service.on(new MemoryEngine(), { ...options, lists: "user" });
  const outcome = async (path: string, headers: Record<string, string>) => {
    const { status, request } = await ask(service, path, headers);
    return [status, request.remembered !== undefined];
  };
  expect(await outcome("/api/todoitems/", auth("secret"))).toEqual([200, true]);
  expect(await outcome("/changes/delta", auth("secret"))).toEqual([200, true]);
  expect(await outcome("/api/todoitems/", auth("wrong"))).toEqual([401, false]);
  expect(await outcome("/api/todoitems/", {})).toEqual([401, false]);
  expect(await outcome("/api/todoitems/", { ...auth("secret"), Host: "evil.example" })).toEqual([421, false]);
  expect(await outcome("/nowhere", auth("secret"))).toEqual([404, false]);
  expect(await outcome("/health/live", auth("secret"))).toEqual([200, false]);
  await service.store.close();
});

test("a remembered head counts towards the rate of the address that it comes from", async () => {
  const access = new Access({ rate: new RateLimiter({ burst: 3, perSecond: 0.001 }) });
  const service = await Service.on(new MemoryEngine(), { access });
  const { request } = await ask(service, "/api/todoitems/");
  expect((await service.app.handle(request)).status).toBe(200);
  expect((await service.app.handle(request)).status).toBe(429);
  expect((await service.app.handle({ ...request, peer: "192.0.2.2" })).status).toBe(200);
  await service.store.close();
});
