// The users file has a line `name:hash` for each user, in the format of htpasswd. Only hashes that are slow to compute
// are accepted: bcrypt, as written by `htpasswd -B`, and argon2id.

import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { replaceFile } from "../files/synced-file.ts";
import { systemReason } from "../files/system-reason.ts";

/** Maps each name to its hash, in the order of the file. */
export type Users = ReadonlyMap<string, string>;

/** The file cannot be used. `message` says why and, if a line is wrong, which one. */
export class UsersFileError extends Error {
  override readonly name = "UsersFileError";
  readonly path: string;
  /** The user whose password has to be set, if that repairs the file. `NAME` if any user will do. */
  readonly missingUser: string | undefined;

  constructor(path: string, message: string, missingUser?: string) {
    super(message);
    this.path = path;
    this.missingUser = missingUser;
  }
}

// The last characters of salt and hash stand for fewer bits than the others. The runtime takes only these.
const bcrypt = /^\$2[aby]\$([0-9]{2})\$[./A-Za-z0-9]{21}[.Oeu][./A-Za-z0-9]{30}[.CGKOSWaeimquy26]$/;
const argon2id =
  /^\$argon2id\$v=19\$m=([0-9]{1,7}),t=([0-9]{1,3}),p=([0-9]{1,3})\$([A-Za-z0-9+/]{11,})\$([A-Za-z0-9+/]{22,})$/;

/** PostgreSQL refuses the lists of a user whose name is much longer, together with whatever else is in their batch. */
export const nameBytesMax = 1_000;

/**
 * True for a bcrypt or argon2id hash that is whole, and whose parameters make it neither too cheap nor too expensive to
 * compute. An argon2id hash must use at least 4 MiB of memory, and may use at most 1 GiB. Its text has this number in
 * KiB.
 */
function isUsableHash(hash: string): boolean {
  const [, cost] = bcrypt.exec(hash) ?? [];
  if (cost !== undefined) return Number(cost) >= 4 && Number(cost) <= 18;
  const [, ...parts] = argon2id.exec(hash) ?? [];
  const [memoryKiB = 0, rounds = 0, lanes = 0] = parts.slice(0, 3).map(Number);
  const isAffordable = memoryKiB >= 4_096 && memoryKiB <= 1_048_576 && rounds >= 1 && lanes >= 1 && lanes <= 64;
  return isAffordable && parts.slice(3).every(isBase64);
}

/** True for base64 without padding from which no character is missing. */
function isBase64(text: string): boolean {
  return Buffer.from(text, "base64").toString("base64").replaceAll("=", "") === text;
}

export function parseUsers(text: string, path: string): Users {
  const users = new Map<string, string>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const refuse = (reason: string, missingUser?: string): never => {
      throw new UsersFileError(path, `${path}, line ${index + 1}: ${reason}`, missingUser);
    };
    const colon = line.indexOf(":");
    const name = line.slice(0, colon);
    const hash = line.slice(colon + 1).trimEnd();
    if (colon < 1) refuse("expected NAME:HASH");
    if (/\p{Cc}/u.test(name)) refuse("the name has a control character");
    if (Buffer.byteLength(name) > nameBytesMax) refuse("the name has more than 1,000 bytes");
    if (!isUsableHash(hash)) refuse(`the password of ${name} is not hashed with bcrypt or argon2id`, name);
    if (users.has(name)) refuse(`${name} is there twice`);
    users.set(name, hash);
  }
  return users;
}

export function readUsers(path: string): Users {
  return parseUsers(readText(path), path);
}

function readText(path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    if (error instanceof TypeError) throw new UsersFileError(path, `${path}: the users file is not valid UTF-8`);
    const missingUser = existsSync(path) ? undefined : "NAME";
    throw new UsersFileError(path, `${path}: the users file cannot be read: ${systemReason(error)}`, missingUser);
  }
}

/** Like `readUsers`, but a file without users is an error, because nobody could sign in. */
export function readSomeUsers(path: string): Users {
  const users = readUsers(path);
  if (users.size === 0) throw new UsersFileError(path, `${path}: there are no users in it`, "NAME");
  return users;
}

/**
 * Sets the hash of a user, or removes the user if `hash` is undefined. Returns whether the user existed before. The
 * text of all other lines stays as it is, even if they are invalid, because this edit may be part of a repair.
 */
export function editUser(path: string, name: string, hash: string | undefined): boolean {
  checkEditable(path);
  const lines = existsSync(path) ? readText(path).split(/\r?\n/) : [];
  if (lines.at(-1) === "") lines.pop();
  const others = lines.filter((line) => !line.startsWith(`${name}:`));
  const changed = hash === undefined ? others : [...others, `${name}:${hash}`];
  try {
    const file = existsSync(path) ? realpathSync(path) : path;
    replaceFile(file, changed.map((line) => `${line}\n`).join(""), file);
  } catch (error) {
    throw new UsersFileError(path, `${path}: the users file cannot be changed: ${systemReason(error)}`);
  }
  return others.length < lines.length;
}

/** Throws if a user cannot be added, because the file cannot be read, or because its folder does not exist. */
export function checkEditable(path: string): void {
  if (existsSync(path)) readText(path);
  else if (!existsSync(dirname(path))) {
    const reason = `there is no folder ${dirname(path)}. Make it, or choose another name`;
    throw new UsersFileError(path, `${path}: the users file cannot be changed: ${reason}`);
  }
}

/** All names in the file, even those with unusable hashes. */
export function listUsers(path: string): string[] {
  const lines = readText(path).split(/\r?\n/);
  return lines
    .filter((line) => line.includes(":") && !line.startsWith("#"))
    .map((line) => line.slice(0, line.indexOf(":")));
}
