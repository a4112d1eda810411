// Checks a name and a password. Password hashes are slow on purpose. So only a few are computed at the same time, and
// only one waits for each address.
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

export type VerifyHash = (password: string, hash: string) => Promise<boolean>;

export class PasswordVerifier {
  readonly #secret = randomBytes(32);
  readonly #verifyHash: VerifyHash;
  /** The addresses for which a hash is being computed: one for each, so that no address keeps the others waiting. */
  readonly #hashing = new Set<string>();
  /** The password that waits for each address, in the order of their arrival. Calling the function starts its hash. */
  readonly #waiting = new Map<string, () => void>();
  #users: Users;

  constructor(users: Users, verifyHash: VerifyHash = Bun.password.verify) {
    this.#users = users;
    this.#verifyHash = verifyHash;
  }

  replaceUsers(users: Users): void {
    this.#users = users;
  }

  /** True if too many passwords wait for another one of this address. */
  isBusy(address: string): boolean {
    return this.#waiting.has(address) || this.#waiting.size >= waitingMax;
  }

  /** Resolves to whether the password is right. Do not call this while the verifier is busy. */
  async verify(credentials: NameAndPassword, address: string): Promise<boolean> {
    await new Promise<void>((start) => {
      this.#waiting.set(address, start);
      this.#startNext();
    });
    try {
      return await this.#isRight(credentials);
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
