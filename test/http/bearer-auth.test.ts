// Tokens of an identity provider: who signs in with them, which are refused, and what happens while the provider is away.

import { afterEach, beforeEach, describe, expect, setSystemTime, test } from "bun:test";
import { errors, exportSPKI, SignJWT, UnsecuredJWT } from "jose";
import { ProviderKeys } from "../../src/credentials/provider-keys.ts";
import { type KeySource, type RefusedTokenError, TokenVerifier } from "../../src/credentials/token-verifier.ts";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { Access } from "../../src/http/access.ts";
import { BasicAuth } from "../../src/http/basic-auth.ts";
import { BearerAuth } from "../../src/http/bearer-auth.ts";
import { listen } from "../../src/wire/listen.ts";
import { makeKey, TestProvider } from "../credentials/test-provider.ts";
import { eventually } from "../eventually.ts";
import { expectProblem, ids, item, Service } from "../service.ts";
import { FeedReader } from "./feed-reader.ts";
import { listenOptions } from "./listen-options.ts";
import { RawConnection } from "./raw-connection.ts";

let provider: TestProvider;
const closes: (() => unknown)[] = [];
beforeEach(async () => {
  provider = await TestProvider.start();
});
afterEach(async () => {
  for (const close of closes.splice(0).reverse()) await close();
  await provider.stop();
});

interface Started {
  readonly service: Service;
  readonly tokens: BearerAuth;
  readonly log: string[];
}

const hash = Bun.password.hashSync("secret", { algorithm: "bcrypt", cost: 4 });

async function start({
  issuer = provider.issuer,
  hasPasswords = false,
  times = { pauseMs: 60_000, reloadMs: 600_000 },
  rememberedMax = 1_000,
} = {}): Promise<Started> {
  const log: string[] = [];
  const reports = {
    onTrouble: (message: string) => log.push(`trouble: ${message}`),
    onWithdrawn: () => tokens.forgetAll(),
  };
  const keys = new ProviderKeys(issuer, reports, times);
  const verifier = new TokenVerifier({ issuer, audience: provider.audience }, keys);
  const onFailure = ({ part, message }: RefusedTokenError) => log.push(`${part}: ${message}`);
  const tokens: BearerAuth = new BearerAuth(verifier, { rememberedMax, onFailure });
  const auth = hasPasswords ? new BasicAuth(new Map([["ann", hash]])) : undefined;
  const access = new Access({ mode: "all", auth, tokens });
  const service = await Service.on(new MemoryEngine(), { lists: "user", listMemoryMax: 1, access });
  closes.push(() => service.store.close());
  return { service, tokens, log };
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const get = (service: Service, token: string, path = "/api/todoitems/") =>
  service.fetch("GET", path, { headers: bearer(token) });
const create = (service: Service, headers: Record<string, string>, json: string) =>
  service.send("POST", "/api/todoitems/", json, headers);
const seconds = () => Math.floor(Date.now() / 1_000);

test("each subject has lists of their own, whatever token they come with", async () => {
  const { service } = await start();
  expect((await create(service, bearer(await provider.sign("ann")), item(ids.one))).status).toBe(201);
  const again = await get(service, await provider.sign("ann", { aud: ["other", "todo"], more: 1 }));
  expect(await again.text()).toBe(`[${item(ids.one)}]`);
  for (const other of ["ANN", " ann", "ann ", "bob"])
    expect(await (await get(service, await provider.sign(other))).text()).toBe("[]");
});

test("a subject is never a user of the users file, even with the same name", async () => {
  const { service } = await start({ hasPasswords: true });
  const ann = { Authorization: `Basic ${btoa("ann:secret")}` };
  expect((await create(service, ann, item(ids.one))).status).toBe(201);
  expect(await (await get(service, await provider.sign("ann"))).text()).toBe("[]");
});

describe("a token is refused, and only the log says why, if", () => {
  const refused = async (service: Service, token: string) => {
    const response = await get(service, token);
    expect(response.headers.get("www-authenticate")).toBe('Bearer realm="todoitems", error="invalid_token"');
    const { detail } = await expectProblem(response, 401, "CredentialsRequired");
    expect(detail).toBe(
      "This needs a token of the identity provider, sent as a Bearer token. The request has none, or a wrong one.",
    );
  };

  const claims: Record<string, Record<string, unknown>> = {
    "another issuer": { iss: "https://login.example" },
    "the issuer with a slash": { iss: "/" },
    "no issuer": { iss: undefined },
    "another audience": { aud: "other" },
    "an empty audience": { aud: [] },
    "no audience": { aud: undefined },
    "no expiry": { exp: undefined },
    "a text as expiry": { exp: "tomorrow" },
    "expired by more than the tolerance": { exp: seconds() - 61 },
    "not yet valid, by more than the tolerance": { nbf: seconds() + 70 },
    "no subject": { sub: undefined },
    "an empty subject": { sub: "" },
    "a number as subject": { sub: 7 },
    "a subject with NUL": { sub: "ann\0" },
    "a subject with a line break": { sub: "ann\nbob" },
    "a subject with a tab": { sub: "ann\tbob" },
    "a subject with a lone surrogate": { sub: "ann\ud800" },
    "a subject that is not ASCII": { sub: "änn" },
    "a long subject": { sub: "a".repeat(256) },
    "an array as subject": { sub: ["ann"] },
  };
  for (const [what, some] of Object.entries(claims))
    test(what, async () => {
      const { service, log } = await start();
      await refused(service, await provider.sign("ann", some));
      const [claim] = Object.keys(some);
      expect(log).toEqual([expect.stringMatching(new RegExp(`^${claim}: it.*[(]${claim}[)]`))]);
      expect(log.join()).not.toContain("ann");
    });

  test("it is not signed, or with a shared secret", async () => {
    const { service } = await start();
    const plain = new UnsecuredJWT({ sub: "ann", iss: provider.issuer, aud: "todo", exp: seconds() + 60 }).encode();
    await refused(service, plain);
    await refused(service, `${plain}AAAA`);
    const [key] = provider.keys;
    if (!key) throw new Error("no key");
    const secret = new TextEncoder().encode(await exportSPKI(key.publicKey));
    const payload = { sub: "ann", iss: provider.issuer, aud: "todo", exp: seconds() + 60 };
    await refused(service, await new SignJWT(payload).setProtectedHeader({ alg: "HS256", kid: "one" }).sign(secret));
  });

  test("it is signed with a secret, even if the provider has published that secret", async () => {
    const k = Buffer.from("a secret that everybody can read").toString("base64url");
    provider.answers.set("/keys", () => Response.json({ keys: [{ kty: "oct", kid: "one", alg: "HS256", k }] }));
    const { service } = await start();
    const payload = { sub: "ann", iss: provider.issuer, aud: "todo", exp: seconds() + 60 };
    const token = new SignJWT(payload).setProtectedHeader({ alg: "HS256", kid: "one" });
    await refused(service, await token.sign(Buffer.from(k, "base64url")));
  });

  test("its claims are wrong, which is found without a key", async () => {
    provider.isAway = true;
    const { service } = await start();
    for (const wrong of [{ iss: "x" }, { aud: "x" }, { exp: 1 }, { nbf: seconds() + 1_000 }, { sub: "" }])
      await refused(service, await provider.sign("ann", wrong));
    expect((await get(service, await provider.sign("ann"))).status).toBe(503);
  });

  test("another key has signed it, whatever the header says of that key", async () => {
    const { service } = await start();
    const forged = await makeKey("one");
    await refused(service, await provider.signWith(forged, "ann"));
    const jwk = await crypto.subtle.exportKey("jwk", forged.publicKey);
    await refused(service, await provider.signWith(forged, "ann", {}, { jwk }));
    await refused(service, await provider.signWith(forged, "ann", {}, { jku: `${provider.issuer}/forged` }));
    for (const kid of ["../../keys", "/etc/passwd", "' OR 1=1", ""])
      await refused(service, await provider.signWith(forged, "ann", {}, { kid }));
    expect(provider.requests).not.toContain("/forged");
  });

  test("its signature, claims or header were changed", async () => {
    const { service } = await start();
    const token = await provider.sign("ann");
    const [header = "", payload = "", signature = ""] = token.split(".");
    const changed = btoa(atob(payload).replace('"ann"', '"bob"')).replaceAll("=", "");
    for (const one of [`${header}.${changed}.${signature}`, `${header}.${payload}.`, `${header}.${payload}`, "x", ""])
      await refused(service, one);
    await refused(service, `${token.slice(0, -4)}AAAA`);
    expect((await get(service, token)).status).toBe(200);
  });

  test("it has a critical header that nobody understands, or is very long", async () => {
    const { service } = await start();
    await refused(service, await provider.sign("ann", {}, { crit: ["exp"], exp: 1 }).catch(() => "x.y.z"));
    await refused(service, `${await provider.sign("ann")}${"A".repeat(100_000)}`);
  });

  test("there are two of them", async () => {
    const { service } = await start();
    const token = await provider.sign("ann");
    await refused(service, `${token}, Bearer ${token}`);
  });
});

test("the clocks may differ by up to a minute", async () => {
  const { service } = await start();
  const slow = await provider.sign("ann", { exp: seconds() - 50 });
  const fast = await provider.sign("ann", { nbf: seconds() + 50 });
  for (const token of [slow, fast]) expect((await get(service, token)).status).toBe(200);
});

test("401 has the challenges that the instance offers, and says invalid_token only if a token came", async () => {
  const basic = 'Basic realm="todoitems", charset="UTF-8"';
  const both = (await start({ hasPasswords: true })).service;
  const challenge = async (headers: Record<string, string>) =>
    (await both.fetch("GET", "/api/todoitems/", { headers })).headers.get("www-authenticate");
  expect(await challenge({})).toBe(`${basic}, Bearer realm="todoitems"`);
  expect(await challenge({ Authorization: "Basic x" })).toBe(`${basic}, Bearer realm="todoitems"`);
  expect(await challenge(bearer("x"))).toBe(`${basic}, Bearer realm="todoitems", error="invalid_token"`);
  const { service } = await start();
  const response = await service.fetch("GET", "/api/todoitems/");
  expect(response.headers.get("www-authenticate")).toBe('Bearer realm="todoitems"');
});

test("wrong tokens are no guesses: they lock nobody out", async () => {
  const { service } = await start({ hasPasswords: true });
  for (let count = 0; count < 200; count++) expect((await get(service, "x.y.z")).status).toBe(401);
  expect((await get(service, await provider.sign("ann"))).status).toBe(200);
});

describe("a verified token", () => {
  test("is remembered, but not beyond the limit", async () => {
    const { service, tokens } = await start({ rememberedMax: 3 });
    const signed = await Promise.all([0, 1, 2, 3, 4].map((index) => provider.sign(`user ${index}`)));
    for (const token of signed) await get(service, token);
    const isRemembered = (token: string) => !(tokens.check(`Bearer ${token}`) instanceof Promise);
    expect(signed.map(isRemembered)).toEqual([false, false, true, true, true]);
  });

  test("ends when it expires, also on a connection that repeats its head", async () => {
    const { service } = await start();
    const server = listen(service.app, listenOptions);
    closes.push(() => server.stop(0));
    const connection = await RawConnection.open(server.port);
    closes.push(() => connection.close());
    const token = await provider.sign("ann", { exp: seconds() + 600 });
    const request = `GET /api/todoitems/ HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`;
    // The head is known after the second request: for the first one, the token had to be verified.
    for (let count = 1; count <= 3; count++) {
      connection.send(request);
      expect(await connection.until(new RegExp(`(?:200 OK[^]*){${count}}\\[\\]$`))).not.toContain("401");
    }
    setSystemTime(Date.now() + 700_000);
    closes.push(() => setSystemTime());
    connection.send(request);
    expect(await connection.until(/\}$/)).toContain("HTTP/1.1 401");
  });

  test("ends its feed when it expires, and leaves the others open", async () => {
    const { service } = await start();
    const open = async (token: string) => {
      const feed = new FeedReader(await get(service, token, "/changes"));
      expect((await feed.next())?.event).toBe("ready");
      closes.push(() => feed.close());
      return feed;
    };
    const short = await open(await provider.sign("ann", { exp: seconds() - 58 }));
    // More than 24 days, which a timer could not wait for.
    const long = await open(await provider.sign("ann", { exp: seconds() + 100 * 86_400 }));
    expect(await short.next()).toBeUndefined();
    await create(service, bearer(await provider.sign("ann")), item(ids.one));
    expect(await long.next()).toMatchObject({ event: "change" });
  });
});

describe("the keys of the provider", () => {
  test("a new key is found when a token names it", async () => {
    const { service } = await start({ times: { pauseMs: 0, reloadMs: 600_000 } });
    expect((await get(service, await provider.sign("ann"))).status).toBe(200);
    provider.keys.push(await makeKey("two", "RS256"));
    expect((await get(service, await provider.sign("ann"))).status).toBe(200);
  });

  test("a new key is found when a token does not name its key", async () => {
    const { service } = await start({ times: { pauseMs: 0, reloadMs: 600_000 } });
    const signed = () => provider.sign("ann", {}, { kid: undefined });
    expect((await get(service, await signed())).status).toBe(200);
    provider.keys = [await makeKey("one")];
    expect((await get(service, await signed())).status).toBe(200);
  });

  test("unknown keys are looked for once in a while only", async () => {
    const { service } = await start();
    expect((await get(service, await provider.sign("ann"))).status).toBe(200);
    const count = provider.requests.length;
    for (let index = 0; index < 20; index++)
      await get(service, await provider.signWith(await makeKey(`${index}`), "ann"));
    expect(provider.requests).toHaveLength(count);
  });

  test("a withdrawn key goes, and what was verified with it", async () => {
    const { service } = await start({ times: { pauseMs: 0, reloadMs: 100 } });
    const token = await provider.sign("ann");
    const feed = new FeedReader(await get(service, token, "/changes"));
    closes.push(() => feed.close());
    expect((await feed.next())?.event).toBe("ready");
    provider.keys = [await makeKey("two")];
    await eventually(async () => expect((await get(service, token)).status).toBe(401));
    expect(await feed.next()).toBeUndefined();
    expect((await get(service, await provider.sign("ann"))).status).toBe(200);
  });

  test("a key that is withdrawn while a token is verified with it does not sign in", async () => {
    const { publicKey } = provider.keys[0] ?? expect.unreachable();
    let isWithdrawn = false;
    const find: KeySource["find"] = async () => {
      if (isWithdrawn) throw new errors.JWKSNoMatchingKey();
      isWithdrawn = true;
      tokens.forgetAll();
      return publicKey;
    };
    const keys: KeySource = { find, renew: async () => false };
    const tokens: BearerAuth = new BearerAuth(new TokenVerifier(provider, keys));
    const header = `Bearer ${await provider.sign("ann")}`;
    expect(await tokens.check(header)).toBeUndefined();
    expect(tokens.check(header)).toBeInstanceOf(Promise);
  });

  test("a provider that is away disturbs no known key, and is not asked again and again", async () => {
    const { service, log } = await start({ times: { pauseMs: 60_000, reloadMs: 50 } });
    expect((await get(service, await provider.sign("ann"))).status).toBe(200);
    provider.isAway = true;
    await eventually(() => expect(log).toEqual([expect.stringContaining("status 503")]));
    const count = provider.requests.length;
    expect((await get(service, await provider.sign("bob"))).status).toBe(200);
    expect((await get(service, await provider.signWith(await makeKey("two"), "ann"))).status).toBe(401);
    expect(provider.requests).toHaveLength(count);
    expect(log).toEqual([expect.stringContaining("status 503"), expect.stringContaining("ERR_JWKS_NO_MATCHING_KEY")]);
  });

  test("without any key the answer is 503, which says when to come again, and the log says why, once", async () => {
    provider.isAway = true;
    const { service, log } = await start();
    for (let index = 0; index < 3; index++) {
      const response = await get(service, await provider.sign("ann"));
      expect(response.headers.get("retry-after")).toBe("60");
      await expectProblem(response, 503, "TokensUnavailable");
    }
    expect(log).toEqual([expect.stringMatching(/trouble: .*openid-configuration cannot be used: .*503/)]);
    expect(provider.requests).toHaveLength(1);
  });

  test("a provider that comes back is used again", async () => {
    provider.isAway = true;
    const { service, log } = await start({ times: { pauseMs: 50, reloadMs: 600_000 } });
    expect((await get(service, await provider.sign("ann"))).status).toBe(503);
    provider.isAway = false;
    await eventually(async () => expect((await get(service, await provider.sign("ann"))).status).toBe(200));
    expect(log).toHaveLength(1);
  });

  const description = "/.well-known/openid-configuration";
  const wrong: Record<string, [path: string, answer: () => Response]> = {
    "another issuer": [
      description,
      () => Response.json({ issuer: `${provider.issuer}/`, jwks_uri: `${provider.issuer}/keys` }),
    ],
    "keys at an address that anybody could change": [
      description,
      // This leads to the keys, but only an address that is known to stay on this machine may do without https.
      () =>
        Response.json({ issuer: provider.issuer, jwks_uri: `${provider.issuer.replace("127.0.0.1", "0.0.0.0")}/keys` }),
    ],
    "no keys": [description, () => Response.json({ issuer: provider.issuer })],
    "a redirect": [description, () => Response.redirect(`${provider.issuer}/elsewhere`)],
    "no JSON": [description, () => new Response("<html>")],
    "a description that is too long": [description, () => Response.json({ x: "x".repeat(70_000) })],
    "keys that are too long": ["/keys", () => Response.json({ keys: [], x: "x".repeat(70_000) })],
    "keys that are none": ["/keys", () => Response.json({ keys: 7 })],
    "redirected keys": ["/keys", () => Response.redirect(`${provider.issuer}/elsewhere`)],
  };
  for (const [what, [path, answer]] of Object.entries(wrong))
    test(`${what}: the provider is not used`, async () => {
      provider.answers.set(path, answer);
      const { service, log } = await start();
      expect((await get(service, await provider.sign("ann"))).status).toBe(503);
      expect(log).toHaveLength(1);
      expect(provider.requests).not.toContain("/elsewhere");
    });
});
