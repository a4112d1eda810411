import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, lstatSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { editUser, parseUsers, readUsers, UsersFileError } from "../../src/credentials/users-file.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";

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

describe("the users file", () => {
  test("a users file with a byte-order mark can be edited like any other", () => {
    writeFileSync(path, `\uFEFFann:${bcrypt}\n`);
    expect(editUser(path, "ann", argon)).toBe(true);
    expect([...readUsers(path)]).toEqual([["ann", argon]]);
  });

  test("a users file has one user per line, and may have comments, empty lines and either line ending", () => {
    const users = parseUsers(`# staff\r\nann:${bcrypt}\r\n\r\nZoë B:${argon}\n`, "users");
    expect([...users]).toEqual([
      ["ann", bcrypt],
      ["Zoë B", argon],
    ]);
  });

  for (const variant of ["$2a$", "$2b$", "$2y$"]) {
    test(`bcrypt hashes may begin with ${variant}`, () =>
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
    "an argon2id hash of which a character is missing": `bob:${argon.slice(0, -1)}`,
    "an argon2id hash with characters too many": `bob:${argon}AA`,
    "an argon2id hash whose salt has lost a character": `bob:${argon.replace("$4Rr", "$4r")}`,
    "an argon2id hash with bits after its end": `bob:${argon.slice(0, -1)}V`,
    "a bcrypt hash with bits after its end": `bob:${bcrypt.slice(0, -1)}L`,
    "a bcrypt hash with bits after its salt": `bob:${bcrypt.replace("YZSeB", "YZSfB")}`,
    "no password": "bob:",
  })) {
    test(`a users file with ${kind} is refused, and the error names the line`, () => {
      expect(() => parseUsers(`ann:${bcrypt}\n${line}\n`, "users")).toThrow(UsersFileError);
      expect(() => parseUsers(`ann:${bcrypt}\n${line}\n`, "users")).toThrow(
        "users, line 2: the password of bob is not hashed with bcrypt or argon2id",
      );
    });
  }

  test("a users file with a malformed line or a duplicate user is refused, and the error names the line", () => {
    expect(() => parseUsers("ann", "users")).toThrow("users, line 1: expected NAME:HASH");
    expect(() => parseUsers(`:${bcrypt}`, "users")).toThrow("users, line 1: expected NAME:HASH");
    for (const name of ["a\tb", "a\rb", "a\0"])
      expect(() => parseUsers(`${name}:${bcrypt}`, "users")).toThrow("users, line 1: the name has a control character");
    const longest = "ä".repeat(500);
    expect(parseUsers(`${longest}:${bcrypt}`, "users").has(longest)).toBe(true);
    expect(() => parseUsers(`${longest}a:${bcrypt}`, "users")).toThrow("the name has more than 1,000 bytes");
    expect(() => parseUsers(`ann:${bcrypt}\nann:${bcrypt}`, "users")).toThrow("users, line 2: ann is there twice");
  });

  test("a users file that does not exist or is not UTF-8 is refused", () => {
    expect(() => readUsers(path)).toThrow("cannot be read");
    writeFileSync(path, Buffer.from([0x61, 0xff, 0x3a]));
    expect(() => readUsers(path)).toThrow("is not valid UTF-8");
  });

  test("a users file with a hash that is too expensive or too cheap is refused", () => {
    for (const hash of [
      bcrypt.replace("$05$", "$99$"),
      bcrypt.replace("$05$", "$00$"),
      argon.replace("m=65536,t=2,p=1", "x=1"),
      argon.replace("m=65536", "m=4294967295"),
      argon.replace("m=65536", "m=8"),
    ]) {
      expect(() => parseUsers(`bob:${hash}`, "users")).toThrow("line 1");
    }
  });

  test("an edit keeps comments, other lines, permissions, and a symbolic link to the file", () => {
    const link = join(folder.path, "link");
    writeFileSync(path, `# staff\nold:{SHA}weak\nann:${bcrypt}\n`);
    chmodSync(path, 0o644);
    symlinkSync(path, link);
    expect(editUser(link, "ann", argon)).toBe(true);
    expect(readFileSync(path, "utf8")).toBe(`# staff\nold:{SHA}weak\nann:${argon}\n`);
    expect(statSync(path).mode & 0o777).toBe(0o644);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(editUser(path, "old", undefined)).toBe(true);
    expect(editUser(path, "nobody", undefined)).toBe(false);
    expect(readFileSync(path, "utf8")).toBe(`# staff\nann:${argon}\n`);
  });

  test("an edit of a file that is not UTF-8 is refused and leaves every byte as it is", () => {
    const bytes = Buffer.concat([Buffer.from([0x61, 0xff]), Buffer.from(`:${bcrypt}\nbob:${bcrypt}\n`)]);
    writeFileSync(path, bytes);
    expect(() => editUser(path, "bob", argon)).toThrow("is not valid UTF-8");
    expect(readFileSync(path)).toEqual(bytes);
  });

  test("an edit that cannot be written fails with a UsersFileError", () => {
    expect(() => editUser(join(folder.path, "missing", "users"), "ann", argon)).toThrow(UsersFileError);
  });
});
