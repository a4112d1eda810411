// Checks HTTP Basic credentials (RFC 7617, UTF-8). Password hashes are slow on purpose, so correct credentials are
// remembered until the users change. Only a keyed hash of the credentials is stored, not the credentials themselves.

import { randomBytes } from "node:crypto";
import { type NameAndPassword, PasswordVerifier, type VerifyHash } from "../credentials/password-verifier.ts";
import type { Users } from "../credentials/users-file.ts";
import { GuessLimits } from "./guess-limits.ts";
import { tooManyRequests } from "./problem.ts";
import type { SignedIn } from "./signed-in.ts";

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
  readonly #guesses: GuessLimits;
  /**
   * The credentials that are being verified now. The key is the client's address and the keyed hash of the credentials.
   * Requests with the same credentials from the same address share one result.
   */
  readonly #verifying = new Map<string, Promise<boolean>>();
  /** Who has signed in, by the keyed hash of the credentials. There is one for each user at most. */
  readonly #remembered = new Map<string, SignedIn>();
  #users: Users;

  constructor(users: Users, { now = () => performance.now(), verify, onFailure }: Partial<BasicAuthOptions> = {}) {
    this.#users = users;
    this.#onFailure = onFailure;
    this.#verifier = new PasswordVerifier(users, verify);
    this.#guesses = new GuessLimits(now);
  }

  /** Uses these users from now on, and forgets those who are gone or have another hash. */
  replaceUsers(users: Users): void {
    for (const [key, signedIn] of this.#remembered) {
      if (users.get(signedIn.owner) === this.#users.get(signedIn.owner)) continue;
      signedIn.endsAtMs = 0;
      this.#remembered.delete(key);
    }
    this.#users = users;
    this.#verifier.replaceUsers(users);
  }

  /**
   * Who has signed in with this header. Undefined if it has no correct credentials. Returns a promise only if they are
   * not remembered and must be verified. Rejects with a `Problem` if they cannot be verified now.
   */
  check(authorization: string, address: () => string): SignedIn | undefined | Promise<SignedIn | undefined> {
    const token = /^basic +([A-Za-z0-9+/_-]+=*) *$/i.exec(authorization)?.[1];
    if (token === undefined) return undefined;
    // The decoded bytes are hashed, so that all spellings of the same credentials in base64 are remembered as one.
    const bytes = Buffer.from(token, "base64");
    const key = new Bun.CryptoHasher("sha256", this.#secret).update(bytes).digest("base64");
    return this.#remembered.get(key) ?? this.#verify(bytes, key, address());
  }

  async #verify(bytes: Uint8Array, key: string, address: string): Promise<SignedIn | undefined> {
    const sender = `${address} ${key}`;
    const credentials = decode(bytes);
    let verifying = this.#verifying.get(sender);
    if (!verifying) {
      verifying = this.#isRight(credentials, address).finally(() => this.#verifying.delete(sender));
      this.#verifying.set(sender, verifying);
    }
    const isRight = await verifying;
    if (!isRight) this.#onFailure?.();
    if (!isRight || !credentials) return undefined;
    // Another address may have signed in with the same credentials in the meantime. There must be one object for both.
    const signedIn = this.#remembered.get(key) ?? { owner: credentials.name, endsAtMs: Number.POSITIVE_INFINITY };
    this.#remembered.set(key, signedIn);
    return signedIn;
  }

  /** Rejects with a `Problem` if the password cannot be verified now. */
  async #isRight(credentials: NameAndPassword | undefined, address: string): Promise<boolean> {
    if (this.#verifier.isBusy(address)) throw tooManyRequests("Passwords are waiting to be verified", 1);
    // An unknown name is counted like a known one, so that the limit does not reveal which names exist, and credentials
    // that cannot be read like an empty name. Each password counts as a wrong guess until it turns out to be right.
    const name = credentials?.name ?? "";
    const waitSeconds = this.#guesses.take(address, name);
    if (waitSeconds > 0) {
      this.#onFailure?.();
      throw tooManyRequests("Too many wrong passwords came from this address, for this name or others", waitSeconds);
    }
    if (!credentials || !(await this.#verifier.verify(credentials, address))) return false;
    this.#guesses.giveBack(address, name);
    return true;
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
