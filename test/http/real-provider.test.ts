// Tokens of a real identity provider, oidc-provider, on this machine.

import { afterEach, expect, test } from "bun:test";
import { createServer, type Server } from "node:http";
import { exportJWK, generateKeyPair } from "jose";
import { ProviderKeys } from "../../src/credentials/provider-keys.ts";
import { RefusedTokenError, TokenVerifier } from "../../src/credentials/token-verifier.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { freePort } from "../engines/postgres/postgres-server.ts";
import { eventually } from "../eventually.ts";
import { Program } from "../program.ts";
import { ids, item } from "../service.ts";
import { FeedReader } from "./feed-reader.ts";

const audience = "https://todo.example/";
const closes: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closes.splice(0).reverse()) await close();
});

/** A provider for programs that sign in with a secret. A token expires so that it is valid for some seconds more. */
class RealProvider {
  readonly port: number;
  expiresInSeconds = 3_600;
  #server: Server | undefined;
  #kid = 0;

  constructor(port: number) {
    this.port = port;
  }

  get issuer(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Starts with a new key. */
  async start(): Promise<void> {
    const { privateKey } = await generateKeyPair("RS256", { extractable: true });
    const key = { ...(await exportJWK(privateKey)), kid: `key ${++this.#kid}`, use: "sig", alg: "RS256" };
    const secrets = (client_id: string) => ({
      client_id,
      client_secret: "secret",
      grant_types: ["client_credentials"],
      redirect_uris: [],
      response_types: [],
    });
    const provider = await quietProvider(this.issuer, {
      ttl: { ClientCredentials: 3_600 },
      clients: ["ann", "bob"].map(secrets),
      jwks: { keys: [key] },
      cookies: { keys: ["some secret"] },
      formats: {
        customizers: {
          jwt: (_context: unknown, _token: unknown, { payload }: { payload: Record<string, unknown> }) => {
            payload["exp"] = Math.floor(Date.now() / 1_000) + this.expiresInSeconds;
          },
        },
      },
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: () => ({ scope: "", audience, accessTokenTTL: 3_600, accessTokenFormat: "jwt" }),
        },
      },
    });
    const server = createServer(provider.callback());
    await new Promise<void>((resolve) => server.listen(this.port, "127.0.0.1", resolve));
    this.#server = server;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    server?.closeAllConnections();
    await new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()));
  }

  async token(user: string): Promise<string> {
    const response = await fetch(`${this.issuer}/token`, {
      method: "POST",
      // The provider may have been started again since the last request.
      keepalive: false,
      headers: { Authorization: `Basic ${btoa(`${user}:secret`)}` },
      body: new URLSearchParams({ grant_type: "client_credentials", resource: audience }),
    });
    const { access_token } = (await response.json()) as { readonly access_token: string };
    return access_token;
  }
}

/** Makes a provider without its advice about runtimes and production, which would fill the screen. */
async function quietProvider(issuer: string, settings: Record<string, unknown>) {
  const { info, warn } = console;
  try {
    console.info = console.warn = () => {};
    const { default: Provider } = await import("oidc-provider");
    return new Provider(issuer, settings);
  } finally {
    Object.assign(console, { info, warn });
  }
}

async function start(provider: RealProvider): Promise<Program> {
  closes.push(() => provider.stop());
  const folder = temporaryFolder();
  closes.push(() => folder.dispose());
  const tokens = ["--token-issuer", provider.issuer, "--token-audience", audience];
  const store = ["--store", `sqlite:${folder.path}/store.db`];
  const program = await Program.start({ args: ["--port", "0", "--lists", "user", ...tokens, ...store] });
  closes.push(() => program.stop("SIGKILL"));
  return program;
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const statusFor = async (program: Program, token: string) =>
  (await program.fetch("/api/todoitems/", { headers: bearer(token) })).status;

test("its users sign in, and each has lists of their own, also while the provider is away", async () => {
  const provider = new RealProvider(await freePort());
  await provider.start();
  const program = await start(provider);
  const headers = { ...bearer(await provider.token("ann")), "Content-Type": "application/json" };
  const created = await program.fetch("/api/todoitems/", { method: "POST", body: item(ids.one), headers });
  expect(created.status).toBe(201);
  const listed = async (user: string) =>
    (await program.fetch("/api/todoitems/", { headers: bearer(await provider.token(user)) })).text();
  expect(await listed("ann")).toBe(`[${item(ids.one)}]`);
  expect(await listed("bob")).toBe("[]");
  const old = await provider.token("bob");
  expect(await statusFor(program, old)).toBe(200);
  await provider.stop();
  // Known keys go on working while the provider is away.
  expect(await statusFor(program, old)).toBe(200);
  expect(await listedWith(program, headers)).toBe(`[${item(ids.one)}]`);
});

const listedWith = async (program: Program, headers: Record<string, string>) =>
  (await program.fetch("/api/todoitems/", { headers })).text();

test("a provider that comes back with another key is followed", async () => {
  const provider = new RealProvider(await freePort());
  await provider.start();
  closes.push(() => provider.stop());
  const { issuer } = provider;
  const times = { pauseMs: 0, reloadMs: 600_000 };
  const keys = new ProviderKeys(issuer, { onTrouble() {}, onWithdrawn() {} }, times);
  const verifier = new TokenVerifier({ issuer, audience }, keys);
  const old = await provider.token("ann");
  expect(await verifier.verify(old)).toMatchObject({ subject: "ann" });
  await provider.stop();
  await provider.start();
  expect(await verifier.verify(await provider.token("bob"))).toMatchObject({ subject: "bob" });
  await expect(verifier.verify(old)).rejects.toThrow(RefusedTokenError);
});

test("the service starts while the provider is away, and says so", async () => {
  const provider = new RealProvider(await freePort());
  await provider.start();
  const token = await provider.token("ann");
  await provider.stop();
  const program = await start(provider);
  const response = await program.fetch("/api/todoitems/", { headers: bearer(token) });
  expect(response.status).toBe(503);
  expect(await response.json()).toMatchObject({ code: "TokensUnavailable" });
});

test("a feed ends when its token expires", async () => {
  const provider = new RealProvider(await freePort());
  await provider.start();
  const program = await start(provider);
  // A minute of tolerance is added. What is left is enough to open a feed on a busy machine.
  provider.expiresInSeconds = -54;
  const token = await provider.token("ann");
  const feed = new FeedReader(await program.fetch("/changes", { headers: bearer(token) }));
  closes.push(() => feed.close());
  expect((await feed.next())?.event).toBe("ready");
  expect(await feed.next()).toBeUndefined();
  await eventually(async () => expect(await statusFor(program, token)).toBe(401));
});
