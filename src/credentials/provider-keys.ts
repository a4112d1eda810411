// The public keys of an identity provider. Its own description names their address (OpenID Connect Discovery). Keys that
// are known stay known while the provider is away, which no key set of jose can do that fetches its keys itself.
// Why: docs/decisions/0087-lists-of-ones-own.md

import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from "jose";

const fetchMs = 5_000;
const documentBytesMax = 64 * 1024;

interface KeyTimes {
  /** After a failure, and before looking for an unknown key, the provider is left alone for this time. */
  readonly pauseMs: number;
  /** How often withdrawn keys are looked for. */
  readonly reloadMs: number;
}

export const providerPauseMs = 60_000;
const usualTimes: KeyTimes = { pauseMs: providerPauseMs, reloadMs: 10 * 60_000 };

/** There are no keys, so no token can be verified. */
export class KeysUnavailableError extends Error {
  override readonly name = "KeysUnavailableError";
}

export interface KeyReports {
  /** The keys could not be fetched. Called once, until they can be fetched again. */
  readonly onTrouble: (message: string) => void;
  /** The provider has withdrawn a key. Tokens that were verified with it may be worthless now. */
  readonly onWithdrawn: () => void;
}

type KeySet = ReturnType<typeof createLocalJWKSet>;

export class ProviderKeys {
  readonly #issuer: string;
  readonly #reports: KeyReports;
  readonly #pauseMs: number;
  #set: KeySet | undefined;
  #loading: Promise<void> | undefined;
  #loadedAtMs = Number.NEGATIVE_INFINITY;
  #hasFailed = false;

  /** Starts to fetch the keys, but nobody has to wait for them until a token comes. */
  constructor(issuer: string, reports: KeyReports, { pauseMs, reloadMs } = usualTimes) {
    this.#issuer = issuer;
    this.#reports = reports;
    this.#pauseMs = pauseMs;
    void this.#load();
    setInterval(() => void this.#load(), reloadMs).unref();
  }

  /** Throws an error of jose if there is no such key. */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    if (!this.#set) await this.#load();
    if (!this.#set) throw new KeysUnavailableError();
    return this.#set(header, token);
  };

  /** Looks for other keys. Resolves to false if it is too early for that. */
  async renew(): Promise<boolean> {
    if (this.#isResting) return false;
    await this.#load();
    return true;
  }

  get #isResting(): boolean {
    return performance.now() < this.#loadedAtMs + this.#pauseMs;
  }

  /** Fetches description and keys, unless that has just failed. Calls at the same time share one attempt. */
  async #load(): Promise<void> {
    if (this.#hasFailed && this.#isResting) return;
    this.#loading ??= this.#loadOnce().finally(() => {
      this.#loading = undefined;
      this.#loadedAtMs = performance.now();
    });
    await this.#loading;
  }

  async #loadOnce(): Promise<void> {
    try {
      // If these are no keys, jose throws.
      const set = createLocalJWKSet((await fetchDocument(await discover(this.#issuer))) as JSONWebKeySet);
      const now = textsOf(set);
      const isWithdrawn = this.#set !== undefined && textsOf(this.#set).some((key) => !now.includes(key));
      this.#set = set;
      this.#hasFailed = false;
      if (isWithdrawn) this.#reports.onWithdrawn();
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      if (!this.#hasFailed) this.#reports.onTrouble(error.message);
      this.#hasFailed = true;
    }
  }
}

function textsOf(set: KeySet): string[] {
  return set.jwks().keys.map((key) => JSON.stringify(key));
}

/** The address of the keys, from the provider's description of itself. */
async function discover(issuer: string): Promise<string> {
  const address = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const { issuer: named, jwks_uri: keys }: Readonly<Record<string, unknown>> = Object(await fetchDocument(address));
  if (named !== issuer)
    throw new Error(`${address} is that of the issuer ${JSON.stringify(named)}, not exactly ${issuer}`);
  const uri = URL.parse(String(keys));
  if (!uri || !isProtected(uri)) throw new Error(`${address} names no keys (jwks_uri) at an https address`);
  return uri.href;
}

/** Fetches a short JSON document. Follows no redirects. */
async function fetchDocument(url: string): Promise<unknown> {
  try {
    // A connection that was kept for minutes may be closed by now.
    const response = await fetch(url, { redirect: "manual", keepalive: false, signal: AbortSignal.timeout(fetchMs) });
    if (response.status !== 200) throw new Error(`it answers with status ${response.status}`);
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of response.body ?? []) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > documentBytesMax) throw new Error(`it has more than ${documentBytesMax.toLocaleString("en")} bytes`);
    }
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch (error) {
    throw new Error(`${url} cannot be used: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}

/** True if nobody on the way can change what the address answers. */
export function isProtected({ protocol, hostname }: URL): boolean {
  if (protocol === "https:") return true;
  return protocol === "http:" && /^(?:localhost|127\.[0-9.]+|\[::1\])$/.test(hostname);
}
