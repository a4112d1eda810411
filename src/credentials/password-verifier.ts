// Whether a name and a password are those of a user. Password hashes are slow on purpose, so the number that is computed
// at a time and the number that waits are bounded, and wrong guesses are slowed for each address.

import { randomBytes } from "node:crypto";
import type { Users } from "./users-file.ts";

/** Hashes computed at a time. */
const computedMax = 64;
/** Passwords that may wait: of one address, and the number of addresses that have any waiting. */
const waitingMax = 64;
const addressesMax = 1_000;

export interface NameAndPassword {
  readonly name: string;
  readonly password: string;
}

export type Verdict =
  | { readonly kind: "right" | "wrong" }
  /** Too many passwords are waiting; nothing was verified. */
  | { readonly kind: "busy" }
  /** Too many wrong passwords came from this address; nothing was verified. */
  | { readonly kind: "slowed"; readonly waitSeconds: number };

/** Counts guesses. `take` returns the seconds to wait, or 0 if a guess is allowed now. */
export interface GuessLimiter {
  take(address: string): number;
  giveBack(address: string): void;
}

export type VerifyHash = (password: string, hash: string) => Promise<boolean>;

/** The passwords of one address that are not verified yet. */
interface Line {
  length: number;
  last: Promise<unknown>;
}

export class PasswordVerifier {
  readonly #secret = randomBytes(32);
  readonly #guesses: GuessLimiter;
  readonly #verifyHash: VerifyHash;
  readonly #lines = new Map<string, Line>();
  /** Starts a hash that waits for others; there is at most one for each address. */
  readonly #waiting: (() => void)[] = [];
  #computed = 0;
  #users: Users;

  constructor(users: Users, guesses: GuessLimiter, verifyHash: VerifyHash = Bun.password.verify) {
    this.#users = users;
    this.#guesses = guesses;
    this.#verifyHash = verifyHash;
  }

  replaceUsers(users: Users): void {
    this.#users = users;
  }

  /** Credentials that cannot be read (`undefined`) count as a wrong guess. */
  async verify(credentials: NameAndPassword | undefined, address: string): Promise<Verdict> {
    const line = this.#lines.get(address) ?? { length: 0, last: Promise.resolve() };
    if (line.length >= waitingMax || this.#lines.size >= addressesMax) return { kind: "busy" };
    this.#lines.set(address, line);
    const users = this.#users;
    // One at a time for each address. Otherwise right passwords sent at once would use up each other's guesses, and an
    // address that sends many would keep others waiting.
    const turn = line.last.then(() => this.#guess(credentials, users, address));
    line.last = turn.catch(() => {});
    line.length++;
    try {
      return await turn;
    } finally {
      line.length--;
      if (line.length === 0) this.#lines.delete(address);
    }
  }

  async #guess(credentials: NameAndPassword | undefined, users: Users, address: string): Promise<Verdict> {
    const waitSeconds = this.#guesses.take(address);
    if (waitSeconds > 0) return { kind: "slowed", waitSeconds };
    if (!credentials || users.size === 0 || !(await this.#isRight(credentials, users))) return { kind: "wrong" };
    this.#guesses.giveBack(address);
    return { kind: "right" };
  }

  async #isRight({ name, password }: NameAndPassword, users: Users): Promise<boolean> {
    const hash = users.get(name);
    if (this.#computed < computedMax) this.#computed++;
    else await new Promise<void>((start) => this.#waiting.push(start));
    try {
      return (await this.#verifyHash(password, hash ?? this.#standIn(name, users))) && hash !== undefined;
    } finally {
      // The next one takes this one's place.
      const start = this.#waiting.shift();
      if (start) start();
      else this.#computed--;
    }
  }

  // An unknown name costs as much as a known one: a hash is computed against that of some user, always
  // the same for the same name, so that names cannot be told apart by the time their users' hashes take.
  #standIn(name: string, users: Users): string {
    const number = new Bun.CryptoHasher("sha256", this.#secret).update(name).digest().readUInt32BE(0);
    return [...users.values()][number % users.size] ?? "";
  }
}
