// Users for `--lists user`: one users file and one identity provider, with the same number of users each.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { listKey } from "../src/collection/list-key.ts";
import { folder } from "./fixtures.ts";
import { fillLists } from "./many-lists.ts";
import type { Server } from "./servers.ts";

export const userCount = 1_000;
const audience = "bench";
const names = Array.from({ length: userCount }, (_, user) => `user-${user}`);

export interface Users {
  /** How the service lets them sign in. */
  readonly flags: readonly string[];
  /** The Authorization header of each user. */
  readonly headers: readonly string[];
  /** Makes a store in which each user has a list. */
  fill(store: string): Promise<void>;
  stop(): unknown;
}

/** They sign in with a password. Its hash is a cheap one, because each user's password is verified once. */
export async function usersWithPasswords(): Promise<Users> {
  const hash = await Bun.password.hash("secret", { algorithm: "bcrypt", cost: 4 });
  const file = join(folder, "users.txt");
  writeFileSync(file, names.map((name) => `${name}:${hash}\n`).join(""), { mode: 0o600 });
  return {
    flags: ["--users", file],
    headers: names.map((name) => `Basic ${btoa(`${name}:secret`)}`),
    fill: (store) => fillFor(store, (name) => name),
    stop() {},
  };
}

/** They sign in with a token of a provider, which is in this process. */
export async function usersWithTokens(): Promise<Users> {
  const { privateKey, publicKey } = await generateKeyPair("RS256");
  const keys = [{ ...(await exportJWK(publicKey)), kid: "bench", alg: "RS256" }];
  const provider = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ url }): Response =>
      Response.json(url.endsWith("/keys") ? { keys } : { issuer: issuer(), jwks_uri: `${issuer()}/keys` }),
  });
  const issuer = (): string => provider.url.origin;
  const headers: string[] = [];
  for (const name of names) {
    const token = new SignJWT({}).setProtectedHeader({ alg: "RS256", kid: "bench" }).setSubject(name);
    const signed = token.setIssuer(issuer()).setAudience(audience).setIssuedAt().setExpirationTime("1h");
    headers.push(`Bearer ${await signed.sign(privateKey)}`);
  }
  return {
    flags: ["--token-issuer", issuer(), "--token-audience", audience],
    headers,
    fill: (store) => fillFor(store, (name) => `${issuer()} ${name}`),
    stop: () => provider.stop(true),
  };
}

async function fillFor(store: string, owner: (name: string) => string): Promise<void> {
  await fillLists(
    store,
    names.map((name) => listKey("", owner(name))),
  );
}

/** The path of a file with these texts, one on each line. */
export function fileOf(lines: readonly string[]): string {
  const path = join(folder, crypto.randomUUID());
  writeFileSync(path, lines.map((line) => `${line}\n`).join(""));
  return path;
}

/** One after the other, because a service refuses passwords if too many wait to be verified. */
export async function signIn({ url, listPath }: Server, headers: readonly string[]): Promise<void> {
  for (const Authorization of headers) {
    const { status } = await fetch(`${url}${listPath}`, { headers: { Authorization } });
    if (status !== 200) throw new Error(`a user could not sign in: ${status}`);
  }
}
