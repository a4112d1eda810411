// HTTP Basic credentials (RFC 7617, UTF-8). A password hash is slow on purpose, so a credential that was
// right is remembered for a minute, under a keyed hash of its own; guessing is slowed for each address.

import { randomBytes } from "node:crypto";
import type { Users } from "../credentials/users-file.ts";
import type { HeaderFields } from "../wire/message.ts";
import { Problem } from "./problem.ts";
import { addressKey, RateLimiter } from "./rate-limiter.ts";

const rememberedMax = 1_000;
const rememberedMs = 60_000;
/** Passwords of one address that may wait for each other, and addresses of which any may. */
const waitingMax = 64;
const addressesMax = 1_000;
/** Five wrong passwords in a row, then one more every five seconds. */
const guesses = { burst: 5, perSecond: 0.2 };

type VerifyHash = (password: string, hash: string) => Promise<boolean>;

/** What a test replaces to see when and how often. */
interface BasicAuthParts {
  readonly now: () => number;
  readonly verify: VerifyHash;
}

export class BasicAuth {
  readonly #secret = randomBytes(32);
  readonly #guesses = new RateLimiter(guesses);
  readonly #now: () => number;
  readonly #verifyHash: VerifyHash;
  /** Until when each credential is known to be right. */
  readonly #remembered = new Map<string, number>();
  /** A connection's requests share their headers as long as these are the same to the byte. */
  readonly #knownKeys = new WeakMap<HeaderFields, string>();
  readonly #verifying = new Map<string, Promise<boolean>>();
  /** Each address's passwords are verified one after the other: how many, and the last of them. */
  readonly #lines = new Map<string, { length: number; last: Promise<boolean> }>();
  #users: Users;

  constructor(
    users: Users,
    { now = () => performance.now(), verify = Bun.password.verify }: Partial<BasicAuthParts> = {},
  ) {
    this.#users = users;
    this.#now = now;
    this.#verifyHash = verify;
  }

  /** Takes other users from now on; what was right under the old ones is asked again. */
  replaceUsers(users: Users): void {
    this.#users = users;
    this.#remembered.clear();
    this.#verifying.clear();
  }

  /** Throws unless the request's credentials are right. Returns a promise only where a hash must be computed. */
  check(headers: HeaderFields, address: () => string): undefined | Promise<void> {
    const knownKey = this.#knownKeys.get(headers);
    if (knownKey !== undefined && this.#isRemembered(knownKey)) return undefined;
    const token = /^basic +([A-Za-z0-9+/_-]+=*) *$/i.exec(headers.get("authorization") ?? "")?.[1];
    if (token === undefined) throw credentialsRequired();
    const key = new Bun.CryptoHasher("sha256", this.#secret).update(token).digest("base64");
    if (this.#isRemembered(key)) {
      this.#knownKeys.set(headers, key);
      return undefined;
    }
    return this.#verify(token, key, addressKey(address()));
  }

  async #verify(token: string, key: string, from: string): Promise<void> {
    const underWay = this.#verifying.get(key);
    if (underWay) {
      if (await underWay) return;
      throw credentialsRequired();
    }
    const users = this.#users;
    const line = this.#lineOf(from);
    // One at a time for each address: else right passwords sent at once would use up each other's guesses.
    const turn = line.last.then(() => this.#guess(token, users, from));
    const verifying = turn.catch(() => false);
    line.length++;
    line.last = verifying;
    this.#verifying.set(key, verifying);
    const right = await turn.finally(() => {
      this.#verifying.delete(key);
      line.length--;
      if (line.length === 0) this.#lines.delete(from);
    });
    if (!right) throw credentialsRequired();
    // The users may have been replaced meanwhile, and this one with them.
    if (users === this.#users) this.#remember(key);
  }

  #lineOf(from: string): { length: number; last: Promise<boolean> } {
    const line = this.#lines.get(from) ?? { length: 0, last: Promise.resolve(false) };
    if (line.length >= waitingMax || this.#lines.size >= addressesMax) throw tooManyAtOnce();
    this.#lines.set(from, line);
    return line;
  }

  async #guess(token: string, users: Users, from: string): Promise<boolean> {
    const waitSeconds = this.#guesses.take(from);
    if (waitSeconds > 0) throw tooManyFailures(waitSeconds);
    const right = await this.#isRight(token, users);
    if (right) this.#guesses.giveBack(from);
    return right;
  }

  async #isRight(token: string, users: Users): Promise<boolean> {
    const credentials = decode(token);
    if (!credentials) return false;
    const { name, password } = credentials;
    const hash = users.get(name);
    if (users.size === 0) return false;
    const verified = await this.#verifyHash(password, hash ?? this.#standIn(name, users));
    return verified && hash !== undefined;
  }

  // An unknown name costs as much as a known one: a hash is computed against that of some user, always
  // the same for the same name, so that names cannot be told apart by the time their users' hashes take.
  #standIn(name: string, users: Users): string {
    const number = new Bun.CryptoHasher("sha256", this.#secret).update(name).digest().readUInt32BE(0);
    return [...users.values()][number % users.size] ?? "";
  }

  #isRemembered(key: string): boolean {
    return (this.#remembered.get(key) ?? 0) > this.#now();
  }

  #remember(key: string): void {
    this.#remembered.delete(key);
    this.#remembered.set(key, this.#now() + rememberedMs);
    if (this.#remembered.size > rememberedMax) this.#remembered.delete(this.#remembered.keys().next().value ?? key);
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** A name has no colon; a password may have any. */
function decode(token: string): { name: string; password: string } | undefined {
  try {
    const text = utf8.decode(Buffer.from(token, "base64"));
    const colon = text.indexOf(":");
    return colon === -1 ? undefined : { name: text.slice(0, colon), password: text.slice(colon + 1) };
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

function credentialsRequired(): Problem {
  return new Problem(
    "CredentialsRequired",
    "This needs the name and password of a user, sent as HTTP Basic credentials; none were sent, or they are wrong.",
  );
}

function tooManyAtOnce(): Problem {
  const detail = "Too many passwords are waiting to be verified. Send the request again shortly.";
  return new Problem("TooManyRequests", detail, { retryAfterSeconds: 1 });
}

function tooManyFailures(retryAfterSeconds: number): Problem {
  return new Problem(
    "TooManyRequests",
    `Too many wrong passwords came from this address. Try again in ${retryAfterSeconds} s.`,
    { retryAfterSeconds },
  );
}
