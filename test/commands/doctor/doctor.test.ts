// `todoitems doctor`, run as an operator runs it, on healthy settings and on settings with faults.

import "reflect-metadata";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, chownSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { PemConverter, X509CertificateGenerator } from "@peculiar/x509";
import { SqliteEngine } from "../../../src/engines/sqlite/sqlite-engine.ts";
import { Program } from "../../program.ts";
import { Patient } from "./patient.ts";

let patient: Patient;
beforeEach(() => {
  patient = new Patient();
});
afterEach(() => patient.dispose());

async function makeStore(name: string): Promise<string> {
  const path = patient.path(name);
  const engine = await SqliteEngine.open(path);
  await engine.close();
  return path;
}

describe("doctor", () => {
  test("a new installation passes in every area, and the exit code is 0", async () => {
    const { exitCode, stdout } = await patient.run(["--port", "0"]);
    const areas = [...stdout.matchAll(/^ {2}(pass|warn|fail) {2}(\S+)/gm)].map(([, , area]) => area);
    expect([...new Set(areas)]).toEqual([
      "Settings",
      "Store",
      "Users",
      "Secrets",
      "Disk",
      "Clock",
      "Certificate",
      "Port",
      "PostgreSQL",
      "Proxy",
    ]);
    expect(stdout).toContain("0 failed");
    expect(exitCode).toBe(0);
  });

  test("doctor changes nothing: it makes no store and no certificate", async () => {
    await patient.run(["--port", "0", "--https-port", "0"]);
    expect([...new Bun.Glob("**/*").scanSync({ cwd: patient.path("."), dot: true })]).toEqual([]);
  });

  test("wrong settings are all named, and the exit code is 1", async () => {
    const { exitCode, findings } = await patient.examine("Settings", ["--prot", "1", "--auth", "all"], {
      TODOITEMS_LOG: "xml",
    });
    expect(findings.map(({ verdict }) => verdict)).toEqual(["fail", "fail", "fail"]);
    expect(JSON.stringify(findings)).toContain("did you mean --port?");
    expect(exitCode).toBe(1);
  });

  test("a seed with which the service cannot start is a failure", async () => {
    writeFileSync(patient.path("bad.json"), '[{"ID":7}]');
    for (const [seed, text] of [
      ["nosuch.json", "the seed cannot be read: there is no such file or folder"],
      ["bad.json", "item 1"],
    ] as const) {
      const { exitCode, findings } = await patient.examine("Settings", ["--port", "0", "--seed", patient.path(seed)]);
      expect(findings).toMatchObject([{ verdict: "fail", text: expect.stringContaining(text) }]);
      expect(exitCode).toBe(1);
    }
  });

  test("settings that are allowed but dangerous are warnings, which do not fail", async () => {
    const { exitCode, findings } = await patient.examine("Settings", ["--host", "0.0.0.0", "--port", "0"]);
    expect(findings).toMatchObject([{ verdict: "warn", text: "anybody who can reach 0.0.0.0 may change every item" }]);
    expect(exitCode).toBe(0);
  });
});

describe("the store", () => {
  test("a sound store passes, a damaged one fails with what to do", async () => {
    const path = await makeStore("store.db");
    const args = ["--port", "0", "--store", `sqlite:${path}`];
    expect((await patient.examine("Store", args)).findings).toMatchObject([
      { verdict: "pass", text: `${path}: sound, 0 items` },
    ]);
    writeFileSync(path, readFileSync(path).fill(0xff, 4096));
    const { exitCode, findings } = await patient.examine("Store", args);
    expect(findings).toMatchObject([{ verdict: "fail" }]);
    expect(findings[0]?.hint).toContain("todoitems restore FILE --force");
    expect(exitCode).toBe(1);
  });

  test("a store with a log that may not belong to it fails, with what to do", async () => {
    const path = await makeStore("store.db");
    writeFileSync(`${path}-wal`, "the log of another store");
    const { exitCode, findings } = await patient.examine("Store", ["--port", "0", "--store", `sqlite:${path}`]);
    expect(findings).toMatchObject([{ verdict: "fail", text: expect.stringContaining("todoitems accept") }]);
    expect(exitCode).toBe(1);
  });

  test("a folder that does not exist fails, and so does a file that is not a store", async () => {
    const missing = await patient.examine("Store", ["--store", `sqlite:${patient.path("nowhere/store.db")}`]);
    expect(missing.findings).toMatchObject([{ verdict: "fail", hint: expect.stringContaining("mkdir -p") }]);
    writeFileSync(patient.path("letter.txt"), "Dear Ann, ".repeat(20));
    const newStore = ["--store", `sqlite:${patient.path("not-yet.db")}`];
    expect((await patient.examine("Store", newStore)).findings).toMatchObject([{ verdict: "pass" }]);
    expect((await patient.examine("Store", [...newStore, "--read-only"])).findings).toMatchObject([
      {
        verdict: "warn",
        text: expect.stringContaining("not-yet.db: there is no such file"),
        hint: "check the path, or fill the store with --seed FILE",
      },
    ]);
    const foreign = await patient.examine("Store", ["--store", `sqlite:${patient.path("letter.txt")}`]);
    expect(foreign.findings[0]?.text).toContain("this is not a todoitems store");
  });

  // Root may write everywhere, unless it gives up its capabilities.
  const isRoot = process.getuid?.() === 0;
  const launcher = isRoot ? ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] : [];
  const canTest = process.platform !== "win32" && (!isRoot || Bun.which("setpriv") !== null);

  test.skipIf(!canTest)(
    "a folder or file without the write bit fails, and its owner is told to set the bit",
    async () => {
      const folder = patient.path("locked");
      mkdirSync(folder);
      const path = await makeStore("locked/store.db");
      const examine = () => patient.examine("Store", ["--port", "0", "--store", `sqlite:${path}`], {}, launcher);
      chmodSync(path, 0o444);
      expect((await examine()).findings).toMatchObject([
        {
          verdict: "fail",
          text: `${path} cannot be written: permission denied`,
          hint: `it belongs to this user, who may not write to it: chmod u+w ${path}`,
        },
      ]);
      chmodSync(path, 0o644);
      chmodSync(folder, 0o555);
      expect((await examine()).findings).toMatchObject([
        { verdict: "fail", hint: expect.stringContaining(`: chmod u+w ${folder}`) },
      ]);
      chmodSync(folder, 0o755);
    },
  );

  test.skipIf(!canTest || !isRoot)("a file of another user fails, and names that user", async () => {
    const path = await makeStore("store.db");
    chownSync(path, 4711, 4711);
    const { findings } = await patient.examine("Store", ["--store", `sqlite:${path}`], {}, launcher);
    expect(findings).toMatchObject([
      {
        verdict: "fail",
        hint: "it belongs to user 4711: give it to the user of the service, or run doctor as that user",
      },
    ]);
  });

  test("a store that was written in the future makes the clock suspicious", async () => {
    const path = await makeStore("store.db");
    const future = new Date(Date.now() + 3_600_000);
    utimesSync(path, future, future);
    const { findings } = await patient.examine("Clock", ["--store", `sqlite:${path}`]);
    expect(findings[0]).toMatchObject({ verdict: "warn" });
    expect(findings[0]?.text).toContain("the store was written later than that");
  });
});

describe.skipIf(process.platform === "win32")("secrets", () => {
  const hash = "$2b$10$abcdefghijklmnopqrstuuLyFJjB4mSMYq9WrSbWqVZK2nVb8WyQ6";

  async function verdictsWith(usersPath: string): Promise<(string | undefined)[]> {
    const { findings } = await patient.examine("Secrets", ["--port", "0", "--auth", "all", "--users", usersPath]);
    return findings.filter(({ text }) => text.includes(usersPath)).map(({ verdict }) => verdict);
  }

  test("a users file that every user can read or change fails, until its permissions are right", async () => {
    const users = patient.path("users.txt");
    writeFileSync(users, `ann:${hash}\n`);
    for (const [mode, verdict] of [
      [0o644, "fail"],
      [0o602, "fail"],
      [0o640, "pass"],
      [0o600, "pass"],
    ] as const) {
      chmodSync(users, mode);
      expect(await verdictsWith(users)).toEqual([verdict]);
    }
  });

  test("a users file in which nobody can sign in fails, and its permissions are examined all the same", async () => {
    const users = patient.path("users.txt");
    writeFileSync(users, "ann:{SHA}abc\n", { mode: 0o644 });
    const args = ["--port", "0", "--auth", "all", "--users", users];
    expect((await patient.examine("Users", args)).findings).toMatchObject([
      { verdict: "fail", text: expect.stringContaining("not hashed with bcrypt or argon2id") },
    ]);
    expect(await verdictsWith(users)).toEqual(["fail"]);
  });

  test("a file in a folder that is closed to others is safe", async () => {
    mkdirSync(patient.path("closed"), { mode: 0o700 });
    const users = patient.path("closed/users.txt");
    writeFileSync(users, `ann:${hash}\n`, { mode: 0o644 });
    expect(await verdictsWith(users)).toEqual(["pass"]);
  });

  test("a store that the service made is no warning", async () => {
    const path = await makeStore("store.db");
    const { findings } = await patient.examine("Secrets", ["--store", `sqlite:${path}`]);
    expect(findings.filter(({ text }) => text.includes("every user of this machine"))).toEqual([]);
  });

  test("a store that every user can read is a warning", async () => {
    const path = await makeStore("store.db");
    chmodSync(path, 0o644);
    const { findings } = await patient.examine("Secrets", ["--store", `sqlite:${path}`]);
    expect(
      findings.filter(({ text }) => text.startsWith(`${path}: every user of this machine can read`)),
    ).toMatchObject([{ verdict: "warn" }]);
  });

  test("a password in the arguments is a warning that does not repeat it", async () => {
    const args = ["--store", "postgres://ann:open-sesame@127.0.0.1:1/todo"];
    const { stdout } = await patient.run(args);
    expect(stdout).toContain("set TODOITEMS_STORE instead of --store");
    expect(stdout).not.toContain("open-sesame");
  });
});

describe("the certificate", () => {
  async function makeCertificate(days: number) {
    const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
    const made = await X509CertificateGenerator.createSelfSigned({
      name: "CN=todo.example",
      notBefore: new Date(Date.now() - 86_400_000),
      notAfter: new Date(Date.now() + (days + 0.5) * 86_400_000),
      keys: pair,
      signingAlgorithm: { name: "ECDSA", hash: "SHA-256" },
    });
    const [cert, key] = [patient.path("cert.pem"), patient.path("key.pem")];
    writeFileSync(cert, made.toString("pem"));
    writeFileSync(key, PemConverter.encode(await crypto.subtle.exportKey("pkcs8", pair.privateKey), "PRIVATE KEY"), {
      mode: 0o600,
    });
    return { cert, key };
  }

  const examineFiles = (cert: string, key: string) =>
    patient.examine("Certificate", ["--https-port", "0", "--tls-cert", cert, "--tls-key", key]);

  for (const [days, verdict, text] of [
    [90, "pass", "is valid for 90 more days"],
    [5, "warn", "is valid for 5 more days"],
    [-0.9, "fail", "expired"],
  ] as const) {
    test(`a certificate that is valid for ${days} days: ${verdict}`, async () => {
      const { cert, key } = await makeCertificate(days);
      const { findings } = await examineFiles(cert, key);
      expect(findings).toMatchObject([{ verdict, text: expect.stringContaining(text) }]);
    });
  }

  test("a file that is no certificate is named", async () => {
    const { cert, key } = await makeCertificate(90);
    const { findings } = await examineFiles(key, cert);
    expect(findings).toMatchObject([
      {
        verdict: "fail",
        text: `${key}: this is not a PEM file of a certificate, or it is damaged`,
      },
    ]);
  });

  test("a development certificate is a warning", async () => {
    const { findings } = await patient.examine("Certificate", ["--https-port", "0"]);
    expect(findings).toMatchObject([{ verdict: "warn" }]);
  });
});

describe("the port", () => {
  test("a port that the service itself uses passes, and one that another program uses fails", async () => {
    const service = await Program.start({
      environment: patient.environment,
      args: ["--port", "0", "--store", "memory:"],
    });
    const other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("hello") });
    try {
      const examine = (port: string | number) =>
        patient.examine("Port", ["--host", "127.0.0.1", "--port", String(port), "--store", "memory:"]);
      expect((await examine(new URL(service.origin).port)).findings).toMatchObject([
        { verdict: "pass", text: expect.stringContaining("the service is ready") },
      ]);
      const { exitCode, findings } = await examine(other.port ?? 0);
      expect(findings).toMatchObject([{ verdict: "fail", hint: expect.stringContaining("in use by another program") }]);
      expect(exitCode).toBe(1);
    } finally {
      await other.stop(true);
      await service.stop("SIGKILL");
    }
  });

  test("a service on this port that has another store than these settings is a warning", async () => {
    const store = await makeStore("store.db");
    const other = await makeStore("other.db");
    const service = await Program.start({
      environment: patient.environment,
      args: ["--port", "0", "--store", `sqlite:${store}`],
    });
    try {
      const examine = async (path: string) =>
        (await patient.examine("Port", ["--port", new URL(service.origin).port, "--store", `sqlite:${path}`])).findings;
      expect(await examine(store)).toMatchObject([{ verdict: "pass" }]);
      for (const path of [other, patient.path("missing.db")])
        expect(await examine(path)).toMatchObject([
          { verdict: "warn", text: expect.stringContaining(`does not use the store of these settings, ${path}`) },
        ]);
    } finally {
      await service.stop("SIGKILL");
    }
  });

  test("the port of the metrics is free, in use by another program, or the running service's own", async () => {
    const other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("hello") });
    const service = await Program.start({
      environment: patient.environment,
      args: ["--port", "0", "--metrics-port", "0", "--host", "127.0.0.1", "--store", "memory:"],
    });
    try {
      const examine = async (port: string) =>
        (
          await patient.examine("Port", [
            ...["--host", "127.0.0.1", "--port", port, "--metrics-port", String(other.port), "--store", "memory:"],
          ])
        ).findings.map(({ verdict }) => verdict);
      expect(await examine("0")).toEqual(["pass", "fail"]);
      expect(await examine(new URL(service.origin).port)).toEqual(["pass"]);
    } finally {
      await other.stop(true);
      await service.stop("SIGKILL");
    }
  });
});
