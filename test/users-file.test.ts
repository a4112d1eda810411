import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseUsers, readUsers, UsersFileError, writeUsers } from "../src/users-file.ts";
import { temporaryFolder } from "./engines/engine-kinds.ts";

const bcrypt = "$2y$05$itJ/g4yyUCBfkNucLaYZSeBCdm0PydI7nCn8djb0Q1rq0/IocDgrK";
const argon =
  "$argon2id$v=19$m=65536,t=2,p=1$4RrGdkbjs4zl2X5v3LpvxtrBMDEnpkeBLwbD3YslmHE$uHtrSZvm73x64cYaecfa639mVsikbhBHNOWdgEkds5U";

let folder: ReturnType<typeof temporaryFolder>;
let path: string;
beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder.path, "users");
});
afterEach(() => folder.dispose());

describe("a users file", () => {
  test("has a user in each line, with comments, empty lines and either line ending", () => {
    const users = parseUsers(`# staff\r\nann:${bcrypt}\r\n\r\nZoë B:${argon}\n`, "users");
    expect([...users]).toEqual([
      ["ann", bcrypt],
      ["Zoë B", argon],
    ]);
  });

  for (const variant of ["$2a$", "$2b$", "$2y$"]) {
    test(`takes bcrypt written ${variant}`, () =>
      expect(parseUsers(`a:${bcrypt.replace("$2y$", variant)}`, "users").size).toBe(1));
  }

  for (const [kind, line] of Object.entries({
    "a bare password": "bob:secret",
    "MD5 as Apache writes it": "bob:$apr1$Q1ZvJ3aS$0LNhZk5c1fkN5y1u0oyZP/",
    SHA1: "bob:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=",
    "an old crypt": "bob:rqXexS6ZhobKA",
    "SHA-512 crypt": "bob:$6$saltsalt$abcdefghijklmnop",
    argon2i: argon.replace("argon2id", "argon2i").replace(/^/, "bob:"),
    "a cut-off hash": `bob:${bcrypt.slice(0, -1)}`,
    nothing: "bob:",
  })) {
    test(`with ${kind} is refused, with the line`, () => {
      expect(() => parseUsers(`ann:${bcrypt}\n${line}\n`, "users")).toThrow(UsersFileError);
      expect(() => parseUsers(`ann:${bcrypt}\n${line}\n`, "users")).toThrow(
        "users, line 2: the password of bob is not hashed with bcrypt or argon2id",
      );
    });
  }

  test("with a line that is no user, or a user twice, is refused with the line", () => {
    expect(() => parseUsers("ann", "users")).toThrow("users, line 1: expected NAME:HASH");
    expect(() => parseUsers(`:${bcrypt}`, "users")).toThrow("users, line 1: expected NAME:HASH");
    expect(() => parseUsers(`ann:${bcrypt}\nann:${bcrypt}`, "users")).toThrow("users, line 2: ann is there twice");
  });

  test("that is not there or not UTF-8 is refused", () => {
    expect(() => readUsers(path)).toThrow("cannot be read");
    writeFileSync(path, Buffer.from([0x61, 0xff, 0x3a]));
    expect(() => readUsers(path)).toThrow("cannot be read");
  });

  test("is replaced in one step, for its owner's eyes only, and leaves nothing beside it", () => {
    writeFileSync(path, "old", { mode: 0o644 });
    const before = statSync(path).ino;
    writeUsers(path, new Map([["ann", argon]]));
    expect(readFileSync(path, "utf8")).toBe(`ann:${argon}\n`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(path).ino).not.toBe(before);
    expect(readdirSync(folder.path)).toEqual(["users"]);
  });
});
