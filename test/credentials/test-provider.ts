// An identity provider on this machine that does as little as one can: it describes itself, shows its keys, and signs
// whatever a test wants. It can be away, and its answers can be replaced.

import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";

interface SigningKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
}

export async function makeKey(kid: string, alg = "ES256"): Promise<SigningKey> {
  return { kid, alg, ...(await generateKeyPair(alg, { extractable: true })) };
}

export class TestProvider {
  readonly audience = "todo";
  /** The keys that it shows. It signs with the last one. */
  keys: SigningKey[] = [];
  isAway = false;
  /** What it answers instead of its own documents, by path. */
  readonly answers = new Map<string, () => Response>();
  /** The paths that were asked for. */
  readonly requests: string[] = [];
  readonly #server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: (request) => this.#answer(request) });

  static async start(): Promise<TestProvider> {
    const provider = new TestProvider();
    provider.keys = [await makeKey("one")];
    return provider;
  }

  get issuer(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  get keysPath(): string {
    return "/keys";
  }

  async stop(): Promise<void> {
    await this.#server.stop(true);
  }

  /** A token for `sub`, valid for an hour. `claims` override or, if undefined, leave out what is usual. */
  async sign(
    sub: unknown,
    claims: Record<string, unknown> = {},
    header: Record<string, unknown> = {},
  ): Promise<string> {
    const key = this.keys.at(-1);
    if (!key) throw new Error("there is no key");
    return this.signWith(key, sub, claims, header);
  }

  async signWith(
    { alg, kid, privateKey }: SigningKey,
    sub: unknown,
    claims: Record<string, unknown> = {},
    header: Record<string, unknown> = {},
  ): Promise<string> {
    const now = Math.floor(Date.now() / 1_000);
    const payload = { iss: this.issuer, aud: this.audience, iat: now, exp: now + 3_600, sub, ...claims };
    return new SignJWT(payload as JWTPayload).setProtectedHeader({ alg, kid, ...header }).sign(privateKey);
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    this.requests.push(pathname);
    if (this.isAway) return new Response("away", { status: 503 });
    const own = this.answers.get(pathname);
    if (own) return own();
    if (pathname === "/.well-known/openid-configuration")
      return Response.json({ issuer: this.issuer, jwks_uri: `${this.issuer}${this.keysPath}` });
    if (pathname !== this.keysPath) return new Response("nothing", { status: 404 });
    const keys = this.keys.map(async ({ kid, alg, publicKey }) => ({ kid, alg, ...(await exportJWK(publicKey)) }));
    return Response.json({ keys: await Promise.all(keys) });
  }
}
