// `todoitems user`, and a service with the users that this command has added.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { eventually } from "../eventually.ts";
import { Program, runProgram } from "../program.ts";
import { runHere } from "./command-line.ts";

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

/** Runs the command as a process, because it reads standard input. */
const add = (name: string, input: string | Uint8Array<ArrayBuffer>) =>
  runProgram("user", { args: ["add", name, "--users", users], input });
const user = (...args: string[]) => runHere(["user", ...args], { environment: { TODOITEMS_USERS: users } });

async function serve(...args: string[]): Promise<Program> {
  const program = await Program.start({ args: ["--port", "0", "--store", "memory:", "--users", users, ...args] });
  started.push(program);
  return program;
}

function fetchAs(program: Program, name: string, password: string, headers: Record<string, string> = {}) {
  const Authorization = `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`;
  return program.fetch("/api/todoitems/", { headers: { Authorization, ...headers } });
}

describe("todoitems user", () => {
  test("adds, lists, changes and removes users, and reads the password from standard input", async () => {
    expect(await add("ann", "x\n")).toEqual({
      exitCode: 0,
      stdout: `Added user ann to ${users}\n`,
      stderr: "warning: A password of fewer than 8 characters is easy to guess. Choose a longer one.\n",
    });
    expect(await add("Zoë", "pä:ss and more")).toMatchObject({ exitCode: 0, stderr: "" });
    expect(await add("ann", "other words\r\nrest")).toMatchObject({
      stdout: `Changed the password of ann in ${users}\n`,
    });
    expect(await user("list")).toMatchObject({ exitCode: 0, stdout: "Zoë\nann\n" });
    const [, hash = ""] = /^ann:(.*)$/m.exec(readFileSync(users, "utf8")) ?? [];
    expect(await Bun.password.verify("other words", hash)).toBe(true);
    expect(await user("remove", "ann")).toMatchObject({
      exitCode: 0,
      stdout: `Removed user ann from ${users}\n`,
      stderr: expect.stringContaining("lists remove ann --store STORE"),
    });
    expect(await user("remove", "ann")).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("no user ann") });
    expect(await user("list")).toMatchObject({ stdout: "Zoë\n" });
  });

  test("refuses an empty password and one that is not UTF-8, and replaces a weak hash", async () => {
    writeFileSync(users, "ann:{SHA}weak\n");
    for (const input of [new Uint8Array([0xff, 0x0a]), "\n", ""])
      expect(await add("bob", input)).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining("is empty, or not"),
      });
    expect(await add("ann", "secret words\n")).toMatchObject({ exitCode: 0 });
    expect(readFileSync(users, "utf8")).toStartWith("ann:$argon2id$");
  });

  for (const [args, exitCode, message] of [
    [[], 2, "Missing argument: add|remove|list"],
    [["fly"], 2, "fly: expected one of add, remove, list"],
    [["add"], 2, "Missing argument: NAME"],
    [["list", "ann"], 2, "list takes no name"],
    [["add", "ann", "password"], 2, "Unexpected argument"],
    [["add", "ann", "--password", "x"], 2, "--password"],
    [["add", "a:b"], 2, "must not contain a colon"],
    [["add", ""], 2, "A name must not be empty"],
    [["add", "é".repeat(501)], 2, "must not have more than 1,000 bytes"],
    [["remove", "ann"], 1, "there is no such file"],
    [["add", "ann", "--users", "/nosuch/users"], 1, "there is no folder /nosuch"],
  ] as const)
    test(`user ${args.join(" ").slice(0, 40)} gives exit code ${exitCode} and says: ${message}`, async () => {
      expect(await user(...args)).toMatchObject({ exitCode, stderr: expect.stringContaining(message) });
      expect(existsSync(users)).toBe(false);
    });
});

describe("a service with --auth", () => {
  test("accepts its users, and notices changes to the users file without a restart", async () => {
    await add("ann", "secret\n");
    const program = await serve("--auth", "all");
    expect((await fetchAs(program, "ann", "secret")).status).toBe(200);
    expect((await fetchAs(program, "bob", "hidden")).status).toBe(401);
    await add("bob", "hidden\n");
    await user("remove", "ann");
    await eventually(async () => (await fetchAs(program, "ann", "secret")).status === 401);
    expect((await fetchAs(program, "bob", "hidden")).status).toBe(200);
  });

  test("keeps its users and logs an error when the users file becomes unusable", async () => {
    await add("ann", "secret\n");
    const program = await serve("--auth", "all");
    writeFileSync(users, "ann:plain text\n");
    expect(await program.stderrLine()).toContain("line 1: the password of ann is not hashed");
    expect((await fetchAs(program, "ann", "secret")).status).toBe(200);
  });

  test("does not start without users, or with a weak password hash", async () => {
    const start = (...args: string[]) => runProgram("serve", { args: ["--port", "0", "--store", "memory:", ...args] });
    expect(await start("--auth", "all")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("needs --users"),
    });
    for (const [text, message] of [
      ["# nobody\n", "there are no users in it"],
      ["bob:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\n", "line 1: the password of bob"],
    ] as const) {
      writeFileSync(users, text);
      const result = await start("--auth", "all", "--users", users);
      expect(result).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(message) });
    }
  });

  test("warns if passwords would travel in clear text over a network", async () => {
    await add("ann", "secret\n");
    const program = await serve("--auth", "all", "--host", "0.0.0.0");
    expect(await program.stderrLine()).toContain("anybody on the network can read them");
  });

  test("limits wrong guesses by the address that a trusted proxy names, not by one that the sender invents", async () => {
    await add("ann", "secret\n");
    const direct = await serve("--auth", "all");
    const proxied = await serve("--auth", "all", "--trust-proxy");
    // Send all guesses at once. On a busy machine, five guesses one after the other may take so long that a sixth is
    // allowed again.
    const statusesOf = async (program: Program, forwarded: (count: number) => string) => {
      const guess = (count: number) =>
        fetchAs(program, "ann", `wrong ${count}`, { "X-Forwarded-For": forwarded(count) });
      return (await Promise.all(Array.from({ length: 12 }, (_, count) => guess(count)))).map(({ status }) => status);
    };
    expect(await statusesOf(direct, (count) => `198.51.100.${count}`)).toContain(429);
    expect(await statusesOf(proxied, (count) => `198.51.100.${count}`)).toEqual(Array(12).fill(401));
    expect(await statusesOf(proxied, (count) => `invented ${count}, 198.51.100.99`)).toContain(429);
  });
});
