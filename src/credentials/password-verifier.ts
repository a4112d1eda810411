// Checks a name and a password. Password hashes are slow on purpose. So there are limits on how many are computed at
// the same time, and how many wait. There is also a limit on how fast passwords may be guessed.

import { randomBytes } from "node:crypto";
import type { Users } from "./users-file.ts";

/** At most this many passwords of one address are waiting or being verified. Further ones are refused as busy. */
const waitingMax = 64;
/**
 * Passwords of at most this many addresses are verified at the same time, one for each address. Those of further
 * addresses are refused as busy.
 */
const addressesMax = 64;

export interface NameAndPassword {
  readonly name: string;
  readonly password: string;
}

export type Verdict =
  | { readonly kind: "right" | "wrong" }
  /** Too many passwords are waiting, so this one was not verified. */
  | { readonly kind: "busy" }
  /**
   * Too many wrong passwords came from this address, either for this name or for all names. So this password was not
   * verified.
   */
  | { readonly kind: "slowed"; readonly waitSeconds: number };

/**
 * Limits wrong guesses. `take` counts a guess and returns 0. If there were too many guesses, it returns the number of
 * seconds to wait instead. `giveBack` undoes what `take` counted.
 */
export interface GuessLimiter {
  take(address: string, name: string): number;
  giveBack(address: string, name: string): void;
}

export type VerifyHash = (password: string, hash: string) => Promise<boolean>;

/** The queue of passwords from one address. */
interface Line {
  length: number;
  last: Promise<unknown>;
}

export class PasswordVerifier {
  readonly #secret = randomBytes(32);
  readonly #guesses: GuessLimiter;
  readonly #verifyHash: VerifyHash;
  readonly #lines = new Map<string, Line>();
  #users: Users;

  constructor(users: Users, guesses: GuessLimiter, verifyHash: VerifyHash = Bun.password.verify) {
    this.#users = users;
    this.#guesses = guesses;
    this.#verifyHash = verifyHash;
  }

  replaceUsers(users: Users): void {
    this.#users = users;
  }

  /** Credentials that cannot be read (`undefined`) count as a wrong guess, with an empty name. */
  async verify(credentials: NameAndPassword | undefined, address: string): Promise<Verdict> {
    const known = this.#lines.get(address);
    if (known ? known.length >= waitingMax : this.#lines.size >= addressesMax) return { kind: "busy" };
    const line = known ?? { length: 0, last: Promise.resolve() };
    this.#lines.set(address, line);
    const users = this.#users;
    // Verify one password at a time for each address. Each password is counted as a wrong guess before it is verified.
    // If it is correct, the count is undone. If several were verified at once, correct passwords could exhaust the
    // limit. An address that sends many would also keep other addresses waiting.
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
    // An unknown name is counted like a known one, so that the limit does not reveal which names exist.
    const name = credentials?.name ?? "";
    const waitSeconds = this.#guesses.take(address, name);
    if (waitSeconds > 0) return { kind: "slowed", waitSeconds };
    if (!credentials || users.size === 0 || !(await this.#isRight(credentials, users))) return { kind: "wrong" };
    this.#guesses.giveBack(address, name);
    return { kind: "right" };
  }

  async #isRight({ name, password }: NameAndPassword, users: Users): Promise<boolean> {
    const hash = users.get(name);
    return (await this.#verifyHash(password, hash ?? this.#standIn(name, users))) && hash !== undefined;
  }

  // Response times must not reveal which names exist. So an unknown name is checked against some user's hash. Hashes
  // can differ in cost, so each unknown name always gets the hash of the same user.
  #standIn(name: string, users: Users): string {
    const number = new Bun.CryptoHasher("sha256", this.#secret).update(name).digest().readUInt32BE(0);
    return [...users.values()][number % users.size] ?? "";
  }
}
