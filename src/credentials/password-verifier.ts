// Checks a name and a password. Password hashes are slow on purpose. So only a few are computed at the same time, and
// only one waits for each address. There is also a limit on how fast passwords may be guessed.
// Why: docs/decisions/0008-credentials.md

import { randomBytes } from "node:crypto";
import { availableParallelism } from "node:os";
import type { Users } from "./users-file.ts";

/**
 * How many hashes are computed at the same time. The runtime has a thread for each processor, and at least two. One of
 * them stays free for what readers wait for, such as compressing an answer.
 */
export const hashesAtOnceMax: number = Math.max(1, availableParallelism() - 1);
/** Passwords of at most this many addresses wait. Those of further addresses are refused as busy. */
const waitingMax = 1_000;

export interface NameAndPassword {
  readonly name: string;
  readonly password: string;
}

export type Verification =
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

export class PasswordVerifier {
  readonly #secret = randomBytes(32);
  readonly #guesses: GuessLimiter;
  readonly #verifyHash: VerifyHash;
  /** The addresses for which a hash is being computed: one for each, so that no address keeps the others waiting. */
  readonly #hashing = new Set<string>();
  /** The password that waits for each address, in the order of their arrival. Calling the function starts its hash. */
  readonly #waiting = new Map<string, () => void>();
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
  async verify(credentials: NameAndPassword | undefined, address: string): Promise<Verification> {
    if (this.#waiting.has(address) || this.#waiting.size >= waitingMax) return { kind: "busy" };
    // An unknown name is counted like a known one, so that the limit does not reveal which names exist. Each password
    // counts as a wrong guess until it turns out to be right.
    const name = credentials?.name ?? "";
    const waitSeconds = this.#guesses.take(address, name);
    if (waitSeconds > 0) return { kind: "slowed", waitSeconds };
    if (!credentials || !(await this.#inTurn(address, () => this.#isRight(credentials)))) return { kind: "wrong" };
    this.#guesses.giveBack(address, name);
    return { kind: "right" };
  }

  async #inTurn(address: string, hash: () => Promise<boolean>): Promise<boolean> {
    await new Promise<void>((start) => {
      this.#waiting.set(address, start);
      this.#startNext();
    });
    try {
      return await hash();
    } finally {
      this.#hashing.delete(address);
      this.#startNext();
    }
  }

  #startNext(): void {
    for (const [address, start] of this.#waiting) {
      if (this.#hashing.size >= hashesAtOnceMax) return;
      if (this.#hashing.has(address)) continue;
      this.#waiting.delete(address);
      this.#hashing.add(address);
      start();
    }
  }

  async #isRight(credentials: NameAndPassword): Promise<boolean> {
    const { name, password } = credentials;
    const users = this.#users;
    if (users.size === 0) return false;
    const hash = users.get(name);
    const isRight = await this.#verifyHash(password, hash ?? this.#standIn(name, users));
    // The file may have been read again during the `await`. What counts is the user's line as it is now.
    return this.#users.get(name) === hash ? isRight && hash !== undefined : this.#isRight(credentials);
  }

  // Response times must not reveal which names exist. So an unknown name is checked against some user's hash. Hashes
  // can differ in cost, so each unknown name always gets the hash of the same user.
  #standIn(name: string, users: Users): string {
    const number = new Bun.CryptoHasher("sha256", this.#secret).update(name).digest().readUInt32BE(0);
    return [...users.values()][number % users.size] ?? "";
  }
}
