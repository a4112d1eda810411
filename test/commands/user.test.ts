// `todoitems user`, and a service with the users that this command has added. Both run as processes.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { eventually } from "../eventually.ts";
import { Program, runProgram } from "../program.ts";

let folder: ReturnType<typeof temporaryFolder>;
let users: string;
const started: Program[] = [];

beforeEach(() => {
  folder = temporaryFolder();
  users = join(folder.path, "users");
});

afterEach(async () => {
  for (const program of started.splice(0)) await program.stop("SIGKILL");
  folder.dispose();
});

const user = (args: readonly string[], input = "") => runProgram("user", { args: [...args, "--users", users], input });
const basic = (name: string, password: string) => ({
  Authorization: `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`,
});

async function serve(...args: string[]): Promise<Program> {
  const program = await Program.start({ args: ["--port", "0", "--store", "memory:", ...args] });
  started.push(program);
  return program;
}

const status = async (program: Program, name: string, password: string) =>
  (await program.fetch("/api/todoitems/", { headers: basic(name, password) })).status;

describe("todoitems user", () => {
  test("if the folder of the users file does not exist, the message names the folder", async () => {
    const folderPath = join(folder.path, "missing");
    const path = join(folderPath, "users");
    const { exitCode, stderr } = await runProgram("user", {
      args: ["add", "ann", "--users", path],
      input: "secret words\n",
    });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: `error: ${path}: the users file cannot be changed: there is no folder ${folderPath}. Make it, or choose another name.\n`,
    });
  });

  test("user adds, lists, changes and removes users, and reads the password from standard input", async () => {
    expect(await user(["add", "ann"], "secret\n")).toMatchObject({
      exitCode: 0,
      stdout: `Added user ann to ${users}\n`,
    });
    expect(await user(["add", "Zoë"], "pä:ss")).toMatchObject({ exitCode: 0 });
    expect(await user(["list"])).toMatchObject({ exitCode: 0, stdout: "ann\nZoë\n" });
    expect(await user(["add", "ann"], "other\n")).toMatchObject({
      stdout: `Changed the password of ann in ${users}\n`,
    });
    const [, hash = ""] = /^ann:(.*)$/m.exec(readFileSync(users, "utf8")) ?? [];
    expect(hash).toStartWith("$argon2id$");
    expect(await Bun.password.verify("other", hash)).toBe(true);
    expect(await user(["remove", "ann"])).toMatchObject({ exitCode: 0 });
    expect(await user(["list"])).toMatchObject({ stdout: "Zoë\n" });
  });

  test("user add replaces a weak hash, and refuses a password that is not UTF-8", async () => {
    writeFileSync(users, "ann:{SHA}weak\n");
    expect(await user(["list"])).toMatchObject({ stdout: "ann\n" });
    expect(await user(["add", "ann"], "secret\n")).toMatchObject({ exitCode: 0 });
    expect(readFileSync(users, "utf8")).toStartWith("ann:$argon2id$");
    const args = ["add", "bob", "--users", users];
    expect(await runProgram("user", { args, input: new Uint8Array([0xff, 0x0a]) })).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("not valid UTF-8"),
    });
  });

  test("user add accepts a short password with a warning", async () => {
    expect(await user(["add", "ann"], "x\n")).toEqual({
      exitCode: 0,
      stdout: `Added user ann to ${users}\n`,
      stderr: "warning: A password of fewer than 8 characters is easy to guess. Choose a longer one.\n",
    });
    expect(await user(["add", "ann"], "long enough\n")).toMatchObject({ exitCode: 0, stderr: "" });
  });

  for (const [args, exitCode, message] of [
    [[], 2, "Missing action: add, remove or list, as in: todoitems user add ann --users users.txt"],
    [["fly"], 2, "fly: expected one of add, remove, list."],
    [["add"], 2, "Missing: NAME, as in: todoitems user add ann --users "],
    [["add", "ann", "password"], 2, "add takes one name, as in: todoitems user add ann"],
    [["add", "ann", "--password", "x"], 2, "--password"],
    [["add", "a:b"], 2, "A name must not contain a colon"],
    [["add", "ann"], 1, "The password is empty. Nothing was changed."],
    [["remove", "ann"], 1, "there is no such file"],
  ] as const) {
    test(`user ${args.join(" ")} gives exit code ${exitCode} and says: ${message}`, async () => {
      const result = await user(args);
      expect(result.exitCode).toBe(exitCode);
      expect(result.stderr).toContain(message);
      expect(existsSync(users)).toBe(false);
    });
  }
});

describe("a service with --auth", () => {
  test("a service accepts its users, and notices changes to the users file without a restart", async () => {
    await user(["add", "ann"], "secret\n");
    const program = await serve("--auth", "all", "--users", users);
    expect(await status(program, "ann", "secret")).toBe(200);
    expect(await status(program, "bob", "hidden")).toBe(401);
    await user(["add", "bob"], "hidden\n");
    await user(["remove", "ann"]);
    await eventually(async () => (await status(program, "ann", "secret")) === 401);
    expect(await status(program, "bob", "hidden")).toBe(200);
  });

  test("a service keeps its users and logs an error when the users file becomes unusable", async () => {
    await user(["add", "ann"], "secret\n");
    const program = await serve("--auth", "all", "--users", users);
    writeFileSync(users, "ann:plain text\n");
    expect(await program.stderrLine()).toContain("line 1: the password of ann is not hashed");
    expect(await status(program, "ann", "secret")).toBe(200);
  });

  test("a service with --auth does not start without users, or with a weak password hash", async () => {
    const start = (...args: string[]) => runProgram("serve", { args: ["--port", "0", "--store", "memory:", ...args] });
    expect(await start("--auth", "all")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("--auth needs --users FILE"),
    });
    expect(await start("--auth", "all", "--users", users)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("cannot be read"),
    });
    writeFileSync(users, "# nobody\n");
    expect(await start("--auth", "all", "--users", users)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("there are no users in it"),
    });
    writeFileSync(users, "bob:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\n");
    expect(await start("--auth", "all", "--users", users)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("line 1: the password of bob"),
    });
  });

  test("a service warns if passwords would travel in clear text over a network", async () => {
    await user(["add", "ann"], "secret\n");
    const program = await serve("--auth", "all", "--users", users, "--host", "0.0.0.0");
    expect(await program.stderrLine()).toContain("anybody on the network can read them");
  });

  test("wrong guesses are limited by the address that a trusted proxy names, not by one that the sender invents", async () => {
    await user(["add", "ann"], "secret\n");
    const guess = async (program: Program, forwarded: string, count: number) =>
      (
        await program.fetch("/api/todoitems/", {
          headers: { ...basic("ann", `wrong ${count}`), "X-Forwarded-For": forwarded },
        })
      ).status;
    const direct = await serve("--auth", "all", "--users", users);
    const proxied = await serve("--auth", "all", "--users", users, "--trust-proxy");
    // Send all guesses at once. On a busy machine, five guesses one after the other may take so long that a sixth is
    // allowed again.
    const statusesOf = async (program: Program, forwarded: (count: number) => string) =>
      (await Promise.all(Array.from({ length: 12 }, (_, count) => guess(program, forwarded(count), count)))).toSorted();
    expect(await statusesOf(direct, (count) => `198.51.100.${count}`)).toContain(429);
    expect(await statusesOf(proxied, (count) => `198.51.100.${count}`)).toEqual(Array(12).fill(401));
    expect(await statusesOf(proxied, (count) => `invented ${count}, 198.51.100.99`)).toContain(429);
  });
});
