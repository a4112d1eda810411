// Checks HTTP Basic credentials (RFC 7617, UTF-8). Password hashes are slow on purpose, so correct credentials are
// remembered until the users change. Only a keyed hash of the credentials is stored, not the credentials themselves.

import { randomBytes } from "node:crypto";
import {
  type NameAndPassword,
  PasswordVerifier,
  type Verification,
  type VerifyHash,
} from "../credentials/password-verifier.ts";
import type { Users } from "../credentials/users-file.ts";
import type { HeaderFields } from "../wire/message.ts";
import { GuessLimits } from "./guess-limits.ts";
import { Problem } from "./problem.ts";

interface BasicAuthOptions {
  /**
   * Called for each request that is refused because of a wrong name or password, or because there were too many wrong
   * passwords before.
   */
  readonly onFailure: () => void;
  /** A test may replace `now` and `verify`. */
  readonly now: () => number;
  readonly verify: VerifyHash;
}

export class BasicAuth {
  readonly #secret = randomBytes(32);
  readonly #onFailure: (() => void) | undefined;
  readonly #verifier: PasswordVerifier;
  /**
   * The credentials that are being verified now. The key is the client's address and the keyed hash of the credentials.
   * Requests with the same credentials from the same address share one result.
   */
  readonly #verifying = new Map<string, Promise<Verification>>();
  /** The keyed hashes of verified credentials, one for each user at most. */
  #remembered = new Set<string>();
  /** Headers with such credentials. A connection that repeats its headers passes the same object each time. */
  #seen = new WeakSet<HeaderFields>();

  constructor(users: Users, { now = () => performance.now(), verify, onFailure }: Partial<BasicAuthOptions> = {}) {
    this.#onFailure = onFailure;
    this.#verifier = new PasswordVerifier(users, new GuessLimits(now), verify);
  }

  /** Uses these users from now on, and forgets every credential that was verified before. */
  replaceUsers(users: Users): void {
    this.#verifier.replaceUsers(users);
    this.#remembered = new Set();
    this.#seen = new WeakSet();
  }

  /**
   * Throws a `Problem`, or rejects with one, unless the credentials are correct. Returns a promise only if they are not
   * remembered and must be verified.
   */
  check(headers: HeaderFields, address: () => string): undefined | Promise<void> {
    if (this.#seen.has(headers)) return undefined;
    const token = /^basic +([A-Za-z0-9+/_-]+=*) *$/i.exec(headers.get("authorization") ?? "")?.[1];
    if (token === undefined) throw credentialsRequired();
    // The decoded bytes are hashed, so that all spellings of the same credentials in base64 are remembered as one.
    const bytes = Buffer.from(token, "base64");
    const key = new Bun.CryptoHasher("sha256", this.#secret).update(bytes).digest("base64");
    if (!this.#remembered.has(key)) return this.#verify(bytes, key, address());
    this.#seen.add(headers);
    return undefined;
  }

  async #verify(bytes: Uint8Array, key: string, address: string): Promise<void> {
    const sender = `${address} ${key}`;
    let verifying = this.#verifying.get(sender);
    if (!verifying) {
      verifying = this.#verifier.verify(decode(bytes), address).finally(() => this.#verifying.delete(sender));
      this.#verifying.set(sender, verifying);
    }
    const result = await verifying;
    if (result.kind === "wrong" || result.kind === "slowed") this.#onFailure?.();
    if (result.kind !== "right") throw problemOf(result);
    this.#remembered.add(key);
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Decodes the credentials and splits them at the first colon, because a password may contain a colon but a name may
 * not. Returns undefined if they are not valid UTF-8, have no colon or have a NUL. With a NUL, bcrypt takes several
 * passwords for the same one, and a user could make us remember all of them.
 */
function decode(bytes: Uint8Array): NameAndPassword | undefined {
  try {
    const text = utf8.decode(bytes);
    const colon = text.indexOf(":");
    return colon === -1 || text.includes("\0")
      ? undefined
      : { name: text.slice(0, colon), password: text.slice(colon + 1) };
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

function problemOf(result: Verification): Problem {
  if (result.kind === "slowed")
    return slowedDown("Too many wrong passwords came from this address", result.waitSeconds);
  return result.kind === "busy" ? slowedDown("Passwords are waiting to be verified", 1) : credentialsRequired();
}

function slowedDown(reason: string, retryAfterSeconds: number): Problem {
  return new Problem("TooManyRequests", `${reason}. Try again in ${retryAfterSeconds} s.`, { retryAfterSeconds });
}

function credentialsRequired(): Problem {
  return new Problem(
    "CredentialsRequired",
    "This needs a user name and a password, sent as HTTP Basic credentials. None were sent, or they are wrong.",
  );
}
