// `todoitems doctor`, as an operator runs it, on healthy settings and on settings with faults.

import "reflect-metadata";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PemConverter, X509CertificateGenerator } from "@peculiar/x509";
import { TodoStore } from "../../../src/collection/todo-store.ts";
import { SqliteEngine } from "../../../src/engines/sqlite/sqlite-engine.ts";
import { TestProvider } from "../../credentials/test-provider.ts";
import { temporaryFolder } from "../../engines/engine-kinds.ts";
import { runProgram } from "../../program.ts";
import { ids, item } from "../../service.ts";
import { runHere } from "../command-line.ts";

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
  // Let other users enter the folder. Otherwise they could not reach the files, whatever the files' permissions are.
  chmodSync(folder.path, 0o755);
});
afterEach(() => folder.dispose());

const path = (name: string) => join(folder.path, name);

function doctor(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const home = { XDG_DATA_HOME: path("home") };
  return runHere(["doctor", ...args], { cwd: folder.path, environment: { ...home, ...environment } });
}

interface Finding {
  readonly area: string;
  readonly verdict: string;
  readonly text: string;
  readonly hint?: string;
}

/** The findings in an area, and the exit code. */
async function examine(area: string, args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const { exitCode, stdout, stderr } = await doctor([...args, "--json"], environment);
  if (!stdout.startsWith("{")) throw new Error(stderr);
  const { findings } = JSON.parse(stdout) as { readonly findings: readonly Finding[] };
  return { exitCode, findings: findings.filter((finding) => finding.area === area) };
}

async function makeStore(name: string): Promise<string> {
  await (await SqliteEngine.open(path(name))).close();
  return path(name);
}

describe("doctor", () => {
  test("a new installation passes, and nothing is made", async () => {
    const { exitCode, stdout } = await doctor(["--port", "0", "--https-port", "off"]);
    expect(stdout).toMatch(/^ {2}pass {2}Store .* first start\n\n1 passed, 0 to look at, 0 failed\n$/);
    expect(exitCode).toBe(0);
    expect([...new Bun.Glob("**/*").scanSync({ cwd: folder.path, dot: true })]).toEqual([]);
  });

  test("wrong settings are all named, and the exit code is 1", async () => {
    const { exitCode, findings } = await examine("Settings", ["--prot", "--auth", "all"], { TODOITEMS_LOG: "xml" });
    expect(findings.map(({ verdict }) => verdict)).toEqual(["fail", "fail", "fail"]);
    expect(JSON.stringify(findings)).toContain("did you mean --port?");
    expect(exitCode).toBe(1);
  });

  test("a seed with which the service cannot start is a failure", async () => {
    writeFileSync(path("bad.json"), '[{"ID":7}]');
    for (const seed of ["nosuch.json", "bad.json"])
      expect(await examine("Settings", ["--port", "0", "--seed", path(seed)])).toMatchObject({
        exitCode: 1,
        findings: [{ verdict: "fail", text: expect.stringContaining(seed) }],
      });
  });

  test("a provider of identities without keys is a warning", async () => {
    const provider = await TestProvider.start();
    const args = ["--token-issuer", provider.issuer, "--token-audience", "todo", "--lists", "user"];
    expect((await examine("Settings", args)).findings).toMatchObject([{ verdict: "pass" }]);
    provider.isAway = true;
    expect(await examine("Settings", args)).toMatchObject({
      exitCode: 0,
      findings: [{ verdict: "warn", text: expect.stringContaining(`${provider.issuer}/.well-known`) }],
    });
    await provider.stop();
  });

  test("settings that are allowed but dangerous are warnings, which do not fail", async () => {
    expect(await examine("Settings", ["--host", "0.0.0.0", "--port", "0"])).toMatchObject({
      exitCode: 0,
      findings: [{ verdict: "warn", text: "anybody who can reach 0.0.0.0 may change every item" }],
    });
  });
});

describe("the store", () => {
  test("a sound store passes, a damaged one fails with what to do", async () => {
    const store = await makeStore("store.db");
    const args = ["--store", `sqlite:${store}`];
    expect((await examine("Store", args)).findings).toMatchObject([
      { verdict: "pass", text: `${store}: sound, 0 items` },
    ]);
    writeFileSync(store, readFileSync(store).fill(0xff, 4096));
    expect(await examine("Store", args)).toMatchObject({
      exitCode: 1,
      findings: [{ verdict: "fail", hint: expect.stringContaining("todoitems restore FILE --force") }],
    });
  });

  test("a store with items in lists that the service would not show fails", async () => {
    const store = await TodoStore.open(await SqliteEngine.open(path("lists.db")));
    const created = { kind: "create", item: { id: ids.one, json: item(ids.one) } } as const;
    await store.list("work").write(created);
    await store.close();
    const examineWith = (lists: string) =>
      examine("Store", ["--store", `sqlite:${path("lists.db")}`, "--lists", lists]);
    const { exitCode, findings } = await examineWith("one");
    expect(findings).toMatchObject([{ verdict: "fail", text: expect.stringContaining('in the list "work"') }]);
    expect(exitCode).toBe(1);
    expect(await examineWith("many")).toMatchObject({ exitCode: 0, findings: [{ verdict: "pass" }] });
  });

  test("a log that may not belong to it, a missing folder and a foreign file fail", async () => {
    const store = await makeStore("store.db");
    writeFileSync(`${store}-wal`, "the log of another store");
    writeFileSync(path("letter.txt"), "Dear Ann, ".repeat(20));
    for (const [name, text] of [
      ["store.db", "todoitems accept"],
      ["nowhere/store.db", "there is no such folder"],
      ["letter.txt", "this is not a SQLite file"],
    ] as const)
      expect(await examine("Store", ["--store", `sqlite:${path(name)}`])).toMatchObject({
        exitCode: 1,
        findings: [{ verdict: "fail", text: expect.stringContaining(text) }],
      });
  });

  test("a store that is missing is made at the first start, unless the service is read-only", async () => {
    const args = ["--store", `sqlite:${path("not-yet.db")}`];
    expect((await examine("Store", args)).findings[0]).toMatchObject({ verdict: "pass" });
    expect((await examine("Store", [...args, "--read-only"])).findings).toMatchObject([
      { verdict: "warn", text: expect.stringContaining("there is no such file") },
    ]);
    expect((await examine("Store", ["--store", "memory:"])).findings).toMatchObject([{ verdict: "warn" }]);
  });

  // Root may write everywhere, unless it gives up its capabilities.
  const isRoot = process.getuid?.() === 0;
  const launcher = isRoot ? ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] : [];
  const canTest = process.platform !== "win32" && (!isRoot || Bun.which("setpriv") !== null);

  test.skipIf(!canTest)("a folder or a file that cannot be written fails", async () => {
    mkdirSync(path("locked"));
    const store = await makeStore("locked/store.db");
    chmodSync(store, 0o444);
    chmodSync(path("locked"), 0o555);
    const { stdout } = await runProgram("doctor", { args: ["--store", `sqlite:${store}`], launcher });
    chmodSync(path("locked"), 0o755);
    for (const one of [path("locked"), store])
      expect(stdout).toContain(`fail  Store    ${one} cannot be written: permission denied`);
  });
});

describe.skipIf(process.platform === "win32")("secrets", () => {
  const hash = "$2b$10$abcdefghijklmnopqrstuuLyFJjB4mSMYq9WrSbWqVZK2nVb8WyQ6";

  async function isExposed(file: string, args: readonly string[]): Promise<boolean> {
    const { findings } = await examine("Secrets", args);
    return findings.some(({ verdict, text }) => verdict === "fail" && text.startsWith(`${file}: every user`));
  }

  test("a users file or a store that every user can read or change fails, until its permissions are right", async () => {
    const users = path("users.txt");
    writeFileSync(users, `ann:${hash}\n`);
    const store = await makeStore("store.db");
    for (const [mode, expected] of [
      [0o644, true],
      [0o602, true],
      [0o640, false],
      [0o600, false],
    ] as const) {
      chmodSync(users, mode);
      chmodSync(store, mode);
      expect(await isExposed(users, ["--port", "0", "--auth", "all", "--users", users])).toBe(expected);
      expect(await isExposed(store, ["--store", `sqlite:${store}`])).toBe(expected);
    }
  });

  test("a file in a folder that is closed to others is safe", async () => {
    mkdirSync(path("closed"), { mode: 0o700 });
    writeFileSync(path("closed/users"), `ann:${hash}\n`, { mode: 0o644 });
    expect(await isExposed(path("closed/users"), ["--auth", "all", "--users", path("closed/users")])).toBe(false);
  });

  test("a users file in which nobody can sign in fails, and one with users passes", async () => {
    const args = ["--port", "0", "--auth", "all", "--users", path("users")];
    writeFileSync(path("users"), "ann:{SHA}abc\n");
    expect((await examine("Settings", args)).findings).toMatchObject([
      { verdict: "fail", text: expect.stringContaining("not hashed with bcrypt or argon2id") },
    ]);
    writeFileSync(path("users"), `ann:${hash}\n`);
    expect((await examine("Settings", args)).findings).toMatchObject([{ text: "1 user may sign in" }]);
  });

  test("a password in the arguments is a warning that does not repeat it", async () => {
    const { exitCode, stdout } = await doctor(["--store", "postgres://ann:open-sesame@127.0.0.1:1/todo"]);
    expect(stdout).toContain("set TODOITEMS_STORE instead of --store");
    expect(stdout).not.toContain("open-sesame");
    expect(exitCode).toBe(1);
  });
});

describe("the certificate", () => {
  async function makeCertificate(days: number): Promise<string[]> {
    const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
    const made = await X509CertificateGenerator.createSelfSigned({
      name: "CN=todo.example",
      notBefore: new Date(Date.now() - 86_400_000),
      notAfter: new Date(Date.now() + (days + 0.5) * 86_400_000),
      keys: pair,
      signingAlgorithm: { name: "ECDSA", hash: "SHA-256" },
    });
    writeFileSync(path("cert.pem"), made.toString("pem"));
    const key = PemConverter.encode(await crypto.subtle.exportKey("pkcs8", pair.privateKey), "PRIVATE KEY");
    writeFileSync(path("key.pem"), key, { mode: 0o600 });
    return ["--https-port", "0", "--tls-cert", path("cert.pem"), "--tls-key", path("key.pem")];
  }

  for (const [days, verdict, text] of [
    [90, "pass", "is valid for 90 more days"],
    [5, "warn", "is valid for 5 more days"],
    [-0.9, "fail", "expired"],
  ] as const)
    test(`a certificate that is valid for ${days} days: ${verdict}`, async () => {
      const { findings } = await examine("Certificate", await makeCertificate(days));
      expect(findings).toMatchObject([{ verdict, text: expect.stringContaining(text) }]);
    });

  test("a development certificate is a warning", async () => {
    expect((await examine("Certificate", ["--https-port", "0"])).findings).toMatchObject([{ verdict: "warn" }]);
  });
});
