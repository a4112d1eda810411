// Tests the program itself: start-up, settings, signals, exit codes, and the files that it leaves on disk.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { version } from "../../package.json";
import { addressesOf } from "../../src/serve/loopback.ts";
import { settingFlags } from "../../src/serve/settings.ts";
import { checkedFetch } from "../description/checked-answer.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { eventually } from "../eventually.ts";
import { metricsUrl } from "../http/metrics/scrape.ts";
import { RawConnection } from "../http/raw-connection.ts";
import { Program, type ProgramOptions, runProgram } from "../program.ts";
import { ids, item } from "../service.ts";

let folder: ReturnType<typeof temporaryFolder>;
let store: string;
const started: Program[] = [];

beforeEach(() => {
  folder = temporaryFolder();
  store = `sqlite:${join(folder.path, "store.db")}`;
});

afterEach(async () => {
  for (const program of started.splice(0)) await program.stop("SIGKILL");
  folder.dispose();
});

async function serve(args: readonly string[] = [], options: ProgramOptions = {}): Promise<Program> {
  const program = await Program.start({ ...options, args: ["--port", "0", ...args] });
  started.push(program);
  return program;
}

function file(name: string, content: string): string {
  const path = join(folder.path, name);
  writeFileSync(path, content);
  return path;
}

describe("starting", () => {
  test("the program prints the ready line first, then the greeting", async () => {
    const program = await serve(["--store", store]);
    const { stdout, stderr } = await program.stop();
    const { port } = new URL(program.origin);
    expect(stdout).toContain(`Local        http://localhost:${port}/api/todoitems/\n`);
    expect(stdout).toContain(`SQLite file ${join(folder.path, "store.db")}, 0 items`);
    expect(stdout).not.toContain("\u001b");
    expect(stdout).toEndWith("\n\n  Press Ctrl-C to stop.\n\n");
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });

  test("if the port is in use, the program says how to choose another and exits with code 1", async () => {
    const { port } = new URL((await serve(["--store", "memory:"])).origin);
    const { exitCode, stdout, stderr } = await runProgram("serve", { args: ["--port", port, "--store", "memory:"] });
    expect(exitCode).toBe(1);
    expect(stderr).toContain(
      `Port ${port} on 127.0.0.1 is in use by another program, or by todoitems itself. Choose another with --port, or let the system pick one with --port 0.`,
    );
    expect(stdout).toBe("");
  });

  test("the program reports all wrong settings at once and exits with code 2", async () => {
    const { exitCode, stdout, stderr } = await runProgram("serve", {
      args: ["--port", "x", "--store", "y"],
      environment: { TODOITEMS_FORMS: "z" },
    });
    expect([exitCode, stdout]).toEqual([2, ""]);
    for (const wrong of ["--port x", "--store y", "TODOITEMS_FORMS=z"]) expect(stderr).toContain(wrong);
  });

  test("if the store is not a SQLite file, the program says so in one line and exits with code 1", async () => {
    const path = file("letter.txt", "Dear diary, ".repeat(500));
    const { exitCode, stderr } = await runProgram("serve", { args: ["--port", "0", "--store", `sqlite:${path}`] });
    expect(exitCode).toBe(1);
    expect(stderr).toContain("letter.txt: this is not a SQLite file. Choose another file");
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });

  test("--help lists every flag, --version prints the package's version, and an unknown command exits with code 2", async () => {
    const help = await runProgram("serve", { args: ["--help"] });
    expect(help.exitCode).toBe(0);
    for (const { name, placeholder } of settingFlags)
      expect(help.stdout).toContain(`  ${`--${name} ${placeholder}`.trimEnd()} `);
    expect(await runProgram("--version", {})).toMatchObject({ exitCode: 0, stdout: `${version}\n` });
    expect(await runProgram("fly", {})).toMatchObject({ exitCode: 2 });
  });
});

describe("the names that an instance answers to", () => {
  const statusesFor = async (args: readonly string[], ...hosts: string[]) => {
    const program = await serve(["--store", "memory:", ...args]);
    const ask = (Host: string) => program.fetch("/api/todoitems/", { headers: { Host } });
    const statuses = [];
    for (const host of hosts) statuses.push((await ask(host)).status);
    await program.stop();
    return statuses;
  };
  const statusFor = async (args: readonly string[], host: string) => (await statusesFor(args, host))[0];

  test("by default, it refuses the name of somebody else, and says at start-up which flag allows it", async () => {
    const own = hostname().split(".")[0];
    const names = ["evil.example", "127.evil.example", "localhost", hostname(), `${own}.local`, "192.0.2.1", "[::1]"];
    expect(await statusesFor([], ...names)).toEqual([421, 421, 200, 200, 200, 200, 200]);
    const program = await serve(["--store", "memory:"]);
    expect((await program.stop()).stdout).toContain("--allow-host NAME");
  });

  for (const host of ["0.0.0.0", "Localhost", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1", "127.0.0.2", "localhost."])
    test.skipIf(host.includes(":") && addressesOf("localhost").length === 1)(
      `with --host ${host}, it refuses the name of somebody else on every port, and answers to IP addresses`,
      async () => {
        const program = await serve(["--store", "memory:", "--host", host, "--metrics-port", "0"]);
        const metrics = await metricsUrl(program);
        const ask = async (url: string, name: string, method = "GET") =>
          (await checkedFetch(url, { method, headers: { Host: name } })).status;
        const list = `${program.origin}/api/todoitems/`;
        expect([await ask(list, "192.0.2.1:5000"), await ask(list, "evil.example")]).toEqual([200, 421]);
        expect(await ask(list, "evil.example", "POST")).toBe(421);
        expect([await ask(metrics, "[::1]:5000"), await ask(metrics, "evil.example")]).toEqual([200, 421]);
      },
    );

  test("--allow-host with names or *, and --trust-proxy let the name through", async () => {
    expect(await statusFor(["--allow-host", "todo.example,evil.example"], "evil.example")).toBe(200);
    expect(await statusFor(["--allow-host", "*"], "evil.example")).toBe(200);
    expect(await statusFor(["--trust-proxy", "--host", "0.0.0.0"], "evil.example")).toBe(200);
  });

  test("--auth all lets the name through to the check of credentials, and --auth writes does not", async () => {
    const users = file("users.txt", `ann:${await Bun.password.hash("secret", { algorithm: "bcrypt", cost: 4 })}\n`);
    expect(await statusFor(["--auth", "all", "--users", users], "evil.example")).toBe(401);
    expect(await statusFor(["--auth", "writes", "--users", users], "evil.example")).toBe(421);
  });
});

describe("instances", () => {
  test("--demo is read-only, in memory, with sample items", async () => {
    const program = await serve(["--demo"]);
    const before = await program.list();
    expect(JSON.parse(before)[0]).toMatchObject({
      ID: expect.any(String),
      Name: expect.any(String),
      Notes: expect.any(String),
      Done: expect.any(Boolean),
    });
    for (const _ of [1, 2]) expect((await program.send("POST", "/api/todoitems/", item(ids.one))).status).toBe(201);
    expect(await program.list()).toBe(before);
    expect((await program.stop()).stdout).toContain("read-only: changes are accepted but not kept");
  });

  test("--seed fills an empty store only once and keeps every digit of its numbers", async () => {
    const items = [item(ids.one, '"n":1.0'), `{ "Name": "no ID", "big": 12345678901234567890 }`];
    const seed = file("seed.json", `[\n${items.join(",\n")}\n]`);
    const first = await serve(["--store", store, "--seed", seed]);
    const list = await first.list();
    expect(list).toStartWith(`[${items[0]},{"ID":"`);
    expect(list).toEndWith('"Name":"no ID","big":12345678901234567890}]');
    await first.send("PUT", "/api/todoitems/", item(ids.one, '"n":2.0'));
    await first.stop();
    const second = await serve(["--store", store, "--seed", seed]);
    expect(await second.list()).toBe(list.replace('"n":1.0', '"n":2.0'));
    expect((await second.stop()).stderr).toContain(`The store already has items, so the seed ${seed} was not used`);
  });

  test("the settings for items reach the app and the store", async () => {
    const program = await serve(["--store", "memory:", "--require", "Name", "--store-limit", "80"]);
    const statuses: number[] = [];
    for (const json of ['{"Done":true}', item(ids.one, '"Name":"milk"'), item(ids.two, '"Name":"bread"')])
      statuses.push((await program.send("POST", "/api/todoitems/", json)).status);
    expect(statuses).toEqual([400, 201, 507]);
  });

  test("a start that fails because of a port leaves no new store behind", async () => {
    const taken = new URL((await serve(["--store", "memory:"])).origin).port;
    for (const args of [
      ["--port", taken, "--read-only"],
      ["--port", taken],
      ["--port", "0", "--https-port", taken],
      ["--port", "0", "--metrics-port", taken],
    ]) {
      const environment = { XDG_DATA_HOME: folder.path };
      expect(await runProgram("serve", { args: [...args, "--store", store], environment })).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining("cannot start"),
      });
      expect([args, existsSync(join(folder.path, "store.db"))]).toEqual([args, false]);
    }
  });

  test("--seed with --read-only fills an empty store that already exists", async () => {
    await (await serve(["--store", store])).stop();
    const seed = file("seed.json", `[${item(ids.one)}]`);
    expect(await (await serve(["--store", store, "--seed", seed, "--read-only"])).list()).toBe(`[${item(ids.one)}]`);
  });

  test("--seed works with --read-only and with --demo", async () => {
    const seed = file("seed.json", `[${item(ids.one)}]`);
    expect(await (await serve(["--store", store, "--seed", seed, "--read-only"])).list()).toBe(`[${item(ids.one)}]`);
    expect(await (await serve(["--demo", "--seed", seed])).list()).toBe(`[${item(ids.one)}]`);
  });

  for (const [title, content, message] of [
    [
      "malformed JSON",
      "[{]",
      "The document is not valid JSON: expected a field name in double quotes at line 1, column 3",
    ],
    ["an object instead of an array", "{}", "such as [{…},{…}]: A list of items is a JSON array"],
    ["a bad item", `[${item(ids.one)}, {"ID":"x"}]`, 'seed.json, item 2: The field "ID" is not a UUID'],
    [
      "an item nested too deep",
      `[${item(ids.one)}, {"a":${"[".repeat(64)}${"]".repeat(64)}}]`,
      "seed.json, item 2: The document nests objects and arrays deeper than 64 levels",
    ],
    [
      "one ID twice",
      `[${item(ids.one)}, {}, ${item(ids.one)}]`,
      `seed.json: items 1 and 3 have the same ID ${ids.one}`,
    ],
  ] as const) {
    test(`a seed with ${title} is refused: the error names the place, the exit code is 1, and nothing is stored`, async () => {
      const { exitCode, stderr } = await runProgram("serve", {
        args: ["--port", "0", "--store", store, "--seed", file("seed.json", content)],
      });
      expect(exitCode).toBe(1);
      expect(stderr).toContain(message);
      expect(await (await serve(["--store", store])).list()).toBe("[]");
    });
  }

  test("a store whose list the tutorial's app cannot read is reported at the start, before any request", async () => {
    const seed = file("seed.json", `[${item(ids.one, `"Notes":"${"x".repeat(256_000)}"`)}]`);
    const program = await serve(["--store", "memory:", "--seed", seed]);
    expect(await program.stderrLine()).toContain(
      "The list is longer than 256,000 bytes. The tutorial's Xamarin.Forms app of 2016",
    );
    await program.list();
    expect((await program.stop()).stderr).not.toContain("256,000");
  });

  test("if the users cannot be read, the program exits with code 1 and makes no store", async () => {
    const path = join(folder.path, "unmade.db");
    const { exitCode, stderr } = await runProgram("serve", {
      args: ["--port", "0", "--store", `sqlite:${path}`, "--auth", "all", "--users", join(folder.path, "nobody")],
    });
    expect([exitCode, stderr.includes("the users file cannot be read"), existsSync(path)]).toEqual([1, true, false]);
  });

  test("if the seed does not exist, the program says so and exits with code 1", async () => {
    const { exitCode, stderr } = await runProgram("serve", {
      args: ["--port", "0", "--store", store, "--seed", join(folder.path, "none.json")],
    });
    expect([exitCode, stderr.includes("none.json: the seed cannot be read")]).toEqual([1, true]);
  });

  test("an instance with --read-only serves a store that was closed, and changes nothing in it", async () => {
    const writer = await serve(["--store", store]);
    for (let count = 1; count <= 3; count++) await writer.send("POST", "/api/todoitems/", "{}");
    await writer.stop();
    const before = readFileSync(join(folder.path, "store.db"));
    const reader = await serve(["--store", store, "--read-only"]);
    expect((await reader.send("POST", "/api/todoitems/", "{}")).status).toBe(201);
    expect(JSON.parse(await reader.list())).toHaveLength(3);
    await reader.stop();
    expect(readFileSync(join(folder.path, "store.db"))).toEqual(before);
  });

  test("settings can come from the environment", async () => {
    const program = await serve([], {
      environment: {
        TODOITEMS_STORE: "memory:",
        TODOITEMS_FORMS: "a",
        TODOITEMS_LOG: "json",
        TODOITEMS_LOG_REQUESTS: "on",
      },
    });
    expect((await program.send("POST", "/api/todoitems/", "{}")).status).toBe(405);
    const { stderr } = await program.stop();
    const [, request] = stderr.trim().split("\n");
    expect(JSON.parse(request ?? "")).toMatchObject({
      level: "info",
      message: expect.stringContaining("POST"),
      time: expect.any(String),
    });
  });
});

describe("stopping", () => {
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    test(`after ${signal}, every write that was answered is stored, and the exit code is 0`, async () => {
      const program = await serve(["--store", store]);
      const answered: string[] = [];
      const writers = Array.from({ length: 20 }, async () => {
        for (;;) {
          const id = crypto.randomUUID();
          const response = await program.send("POST", "/api/todoitems/", item(id)).catch(() => undefined);
          if (response?.status !== 201) return;
          answered.push(id);
          if (answered.length === 200) program.kill(signal);
        }
      });
      await Promise.all(writers);
      expect(await program.exited).toBe(0);
      const kept = new Set(
        (JSON.parse(await (await serve(["--store", store])).list()) as { ID: string }[]).map(({ ID }) => ID),
      );
      expect(answered.filter((id) => !kept.has(id))).toEqual([]);
      expect(answered.length).toBeGreaterThanOrEqual(200);
    });
  }

  test("after SIGTERM, a request whose body is still arriving is answered", async () => {
    const program = await serve(["--store", store]);
    const connection = await RawConnection.open(Number(new URL(program.origin).port));
    const body = item(ids.one);
    const head = ["POST /api/todoitems/ HTTP/1.1", "Host: localhost", "Content-Type: application/json"];
    connection.send([...head, `Content-Length: ${body.length}`, "Expect: 100-continue", "", ""].join("\r\n"));
    await connection.until(/100 Continue/);
    program.kill("SIGTERM");
    await eventually(async () => (await program.fetch("/api/todoitems/").catch(() => undefined)) === undefined);
    connection.send(body);
    expect(await connection.untilClosed()).toContain("201 Created");
    expect(await program.exited).toBe(0);
    expect(await (await serve(["--store", store])).list()).toBe(`[${body}]`);
  });

  test("after kill -9 and a restart, every answered write is there", async () => {
    const program = await serve(["--store", store]);
    for (const id of [ids.one, ids.two]) await program.send("POST", "/api/todoitems/", item(id));
    await program.send("PUT", "/api/todoitems/", item(ids.one, '"n":2'));
    await program.stop("SIGKILL");
    expect(await (await serve(["--store", store])).list()).toBe(`[${item(ids.one, '"n":2')},${item(ids.two)}]`);
  });

  test("a clean stop leaves the store in a single file, which contains no deleted items", async () => {
    const program = await serve(["--store", store]);
    await program.send("POST", "/api/todoitems/", item(ids.one, '"secret":"swordfish"'));
    await program.fetch(`/api/todoitems/${ids.one}`, { method: "DELETE" });
    await program.stop();
    const names = [...new Bun.Glob("*").scanSync(folder.path)].sort();
    expect(names).toEqual(["store.db", "store.db-lock", "store.db-record"]);
    expect(readFileSync(join(folder.path, "store.db")).includes("swordfish")).toBe(false);
  });
});

describe("a disk that is full", () => {
  test("a service that cannot start on a full disk does not say that it goes on", async () => {
    const launcher = ["bash", "-c", 'trap "" XFSZ; ulimit -f 8; exec "$@"', "limited"];
    const { exitCode, stderr } = await runProgram("serve", { args: ["--port", "0", "--store", store], launcher });
    expect(exitCode).toBe(1);
    expect(stderr).toContain("or is full; check it");
    expect(stderr).not.toContain("by itself");
  });

  test("on a full disk, writes fail with 503 and a line in the log, reads still work, and no stored item is lost", async () => {
    // A limit on the file size has the same effect as a full disk. The shell ignores the signal that is sent when the
    // limit is exceeded. So the program sees a failed write instead.
    const launcher = ["bash", "-c", 'trap "" XFSZ; ulimit -f 256; exec "$@"', "limited"];
    const program = await serve(["--store", store], { launcher });
    const accepted: string[] = [];
    const notes = "x".repeat(10_000);
    for (let count = 0; count < 100; count++) {
      const json = item(crypto.randomUUID(), `"Notes":"${notes}"`);
      const { status } = await program.send("POST", "/api/todoitems/", json);
      if (status === 201) accepted.push(json);
      else expect(status).toBe(503);
    }
    expect(accepted.length).toBeGreaterThan(0);
    expect(accepted.length).toBeLessThan(100);
    expect(await program.list()).toBe(`[${accepted.join(",")}]`);
    const { stderr } = await program.stop("SIGKILL");
    expect(stderr).toContain("Requests were refused:");
    expect(await (await serve(["--store", store])).list()).toBe(`[${accepted.join(",")}]`);
  });
});
