// The users: an htpasswd-style file, a line `name:hash` each. Only hashes that are slow to guess are
// taken: bcrypt, as `htpasswd -B` writes it, and argon2id.

import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** By name, in the order of the file. */
export type Users = ReadonlyMap<string, string>;

/** The file cannot be used; `message` says why, and in which line. */
export class UsersFileError extends Error {
  override readonly name = "UsersFileError";
}

const strongHash =
  /^(?:\$2[aby]\$[0-9]{2}\$[./A-Za-z0-9]{53}|\$argon2id\$v=[0-9]+\$[a-z0-9=,]+\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+)$/;

export function parseUsers(text: string, path: string): Users {
  const users = new Map<string, string>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const refuse = (reason: string): never => {
      throw new UsersFileError(`${path}, line ${index + 1}: ${reason}`);
    };
    const colon = line.indexOf(":");
    const name = line.slice(0, colon);
    const hash = line.slice(colon + 1).trimEnd();
    if (colon < 1) refuse("expected NAME:HASH");
    if (!strongHash.test(hash))
      refuse(
        `the password of ${name} is not hashed with bcrypt or argon2id; set it anew with: todoitems user add ${name}`,
      );
    if (users.has(name)) refuse(`${name} is there twice`);
    users.set(name, hash);
  }
  return users;
}

export function readUsers(path: string): Users {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    throw new UsersFileError(
      `${path}: the users file cannot be read: ${error instanceof Error ? error.message : error}`,
    );
  }
  return parseUsers(text, path);
}

/** As above, for a service that nobody could use without users. */
export function readSomeUsers(path: string): Users {
  const users = readUsers(path);
  if (users.size === 0)
    throw new UsersFileError(
      `${path}: there are no users in it; add one with: todoitems user add NAME --users ${path}`,
    );
  return users;
}

/** Replaces the file in one step, so that a reader or a crash meets the old users or the new, never half of them. */
export function writeUsers(path: string, users: Users): void {
  const temporary = join(dirname(resolve(path)), `.users-${crypto.randomUUID()}`);
  const file = openSync(temporary, "wx", 0o600);
  try {
    writeSync(file, [...users].map(([name, hash]) => `${name}:${hash}\n`).join(""));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
}
