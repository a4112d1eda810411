import { describe, expect, test } from "bun:test";
import { homedir } from "node:os";
import { join } from "node:path";
import { readSettings } from "../../src/serve/settings.ts";
import type { Settings } from "../../src/serve/settings-table.ts";

function read(args: readonly string[], environment: Record<string, string> = {}): Settings {
  const result = readSettings(args, environment);
  if ("problems" in result) throw new Error(result.problems.join("\n"));
  return result.settings;
}

function problems(args: readonly string[], environment: Record<string, string> = {}): readonly string[] {
  const result = readSettings(args, environment);
  return "problems" in result ? result.problems : [];
}

describe("settings", () => {
  test("by default, the service listens on this machine only and stores items on disk", () => {
    expect(read([])).toMatchObject({
      host: "localhost",
      port: 5000,
      httpsPort: undefined,
      metricsPort: undefined,
      store: { engine: "sqlite", path: "todoitems.db" },
      readOnly: false,
    });
  });

  test("required fields are names with commas between them", () => {
    expect(read(["--require", "Name, Notes"]).requiredFields).toEqual(["Name", "Notes"]);
    expect(problems(["--require", "Name,,Notes"])).toEqual([
      "--require Name,,Notes: expected field names such as Name,Notes, with commas between them",
    ]);
  });

  test("settings cannot be changed after they are read", () => {
    expect(Object.isFrozen(read([]))).toBe(true);
  });

  test("settings can be flags, with a space or an equals sign", () => {
    expect(read(["--port", "8080", "--forms=a", "--read-only"])).toMatchObject({
      port: 8080,
      forms: "a",
      readOnly: true,
    });
    expect(read(["--store", "sqlite:/tmp/a:b.db"]).store).toEqual({ engine: "sqlite", path: "/tmp/a:b.db" });
    expect(read(["--store", "memory:"]).store).toEqual({ engine: "memory" });
  });

  test("~ in the path of a store is the home folder, which no shell inserts after sqlite:", () => {
    expect(read(["--store", "sqlite:~/a.db"]).store).toEqual({ engine: "sqlite", path: join(homedir(), "a.db") });
  });

  test("settings can come from the environment, and flags take precedence", () => {
    const environment = { TODOITEMS_PORT: "1234", TODOITEMS_READ_ONLY: "true", TODOITEMS_FIELD_NAMES: "camel" };
    expect(read(["--port", "4321"], environment)).toMatchObject({ port: 4321, readOnly: true, fieldNames: "camel" });
    expect(read(["--read-only=off"], environment).readOnly).toBe(false);
  });

  for (const [size, bytes] of Object.entries({
    "1": 1,
    "65536": 65_536,
    "64KiB": 65_536,
    "2mib": 2_097_152,
    "1 GiB": 1_073_741_824,
  })) {
    test(`the size ${size} means ${bytes} bytes`, () => expect(read(["--body-limit", size]).bodyBytesMax).toBe(bytes));
  }

  test("a limit can be switched off, and the error about a wrong one says so", () => {
    expect(read(["--store-limit", "off", "--rate-limit", "off"])).toMatchObject({
      storeBytesMax: undefined,
      rateLimitPerSecond: undefined,
    });
    expect(problems(["--store-limit", "0", "--rate-limit", "many"])).toEqual([
      "--store-limit 0: expected a size from 1 to 1099511627776 bytes, such as 4096, 4KiB or 1MiB, or off",
      "--rate-limit many: expected a whole number of requests a second such as 100/s, or off",
    ]);
  });

  test("wrong settings are all reported at once, each with the values that are allowed", () => {
    const args = [
      "--port",
      "70000",
      "--forms",
      "c",
      "--field-names=snake",
      "--body-limit",
      "lots",
      "--prot",
      "1",
      "--seed",
      "--demo",
      "extra",
      "--log=",
    ];
    expect(problems(args, { TODOITEMS_IDLE_TIMEOUT: "-1", TODOITEMS_DEMO: "maybe" })).toEqual([
      "--prot: there is no such flag; did you mean --port?",
      "--seed: needs a value, as in --seed FILE",
      "extra: unexpected. A setting is a flag, as in --port 8080; after npm start, as in npm start -- --port 8080",
      "--port 70000: expected a port from 0 to 65535, or off",
      "TODOITEMS_DEMO=maybe: expected on (or true, yes, 1) or off (or false, no, 0)",
      "--forms c: expected one of both, a, b",
      "--field-names snake: expected one of as-sent, pascal, camel",
      "--body-limit lots: expected a size from 1 to 1073741824 bytes, such as 4096, 4KiB or 1MiB",
      "TODOITEMS_IDLE_TIMEOUT=-1: expected a whole number from 1 to 3600",
      "--log : expected one of text, json",
    ]);
  });

  for (const store of ["", "sqlite:", "todoitems.db", "mysql://x", "memory", "PostgreSQL"]) {
    test(`the store ${JSON.stringify(store)} is refused, and the error lists the kinds of store`, () => {
      expect(problems([`--store=${store}`])).toEqual([
        `--store ${store}: expected memory:, sqlite:PATH, such as sqlite:todoitems.db, or postgres://USER:PASSWORD@HOST/DATABASE`,
      ]);
    });
  }

  test("a PostgreSQL store is a URL with one host or several", () => {
    expect(read(["--store", "postgres://ann:s%40fe@db.example/todo"]).store).toEqual({
      engine: "postgres",
      hosts: [{ host: "db.example", port: 5432 }],
      user: "ann",
      password: "s@fe",
      database: "todo",
      tls: "prefer",
    });
    const several = "postgresql://ann@10.0.0.1:5433,[::1]:5434,c/todo?target_session_attrs=read-write&sslmode=require";
    expect(read(["--store", several]).store).toMatchObject({
      hosts: [
        { host: "10.0.0.1", port: 5433 },
        { host: "::1", port: 5434 },
        { host: "c", port: 5432 },
      ],
      password: undefined,
      tls: "require",
    });
  });

  for (const wrong of [
    "postgres:",
    "postgres://",
    "postgres://ann:secret@/todo",
    "postgres://ann:secret@host:0/todo",
    "postgres://ann:secret@host:70000/todo",
    "postgres://ann:secret@a,,b/todo",
    "postgres://ann:secret%@host/todo",
    "postgres://ann:sec/ret@host/todo",
    "postgres://ann:p@secret@host/todo",
    "postgres://ann:p@secret/secret@host/todo",
    "postgres://ann:p?secret@host/todo",
    "postgres://ann:p/secret@host/todo",
    "postgres://ann:secret@host/todo?sslmode=maybe",
    "postgres://ann:secret@host/todo?target_session_attrs=any",
    "postgres://ann:secret@host/todo?statement_timeout=1",
    "postgres://ann:secret@host/todo?sslmode=verify-full&sslrootcert=/does/not/exist",
  ]) {
    test(`the store ${wrong} is refused, and the error shows no password`, () => {
      const [problem = "", ...more] = problems(["--store", wrong]);
      expect(more).toEqual([]);
      expect(problem).toStartWith("--store postgres:");
      expect(problem).not.toContain("sec");
    });
  }

  test("a list that is given twice is joined; of any other flag, the last one counts", () => {
    expect(read(["--require", "Name", "--require", "Notes,Done"]).requiredFields).toEqual(["Name", "Notes", "Done"]);
    expect(read(["--port", "1", "--port", "2"]).port).toBe(2);
  });

  test("an empty environment variable counts as not set", () => {
    expect(read([], { TODOITEMS_PORT: "", TODOITEMS_READ_ONLY: "" })).toEqual(read([]));
  });

  test("a setting is suggested for an unknown variable only if the names are similar", () => {
    expect(readSettings([], { TODOITEMS_FOO: "1" })).toMatchObject({
      warnings: ["TODOITEMS_FOO is not a setting and is ignored. todoitems help serve lists the settings"],
    });
  });

  test("an environment variable for an unknown setting causes a warning, not an error", () => {
    expect(readSettings([], { TODOITEMS_PROT: "1", OTHER: "2" })).toMatchObject({
      warnings: ["TODOITEMS_PROT is not a setting and is ignored. Did you mean TODOITEMS_PORT?"],
    });
  });

  test("a flag that npm took for itself causes a warning that says where to put it", () => {
    expect(readSettings([], { npm_config_read_only: "true", npm_config_port: "80" })).toMatchObject({
      warnings: [
        "npm took --port for itself, so it had no effect. Put -- before it, as in: npm start -- --port PORT",
        "npm took --read-only for itself, so it had no effect. Put -- before it, as in: npm start -- --read-only",
      ],
    });
  });

  for (const [value, isOn] of Object.entries({
    on: true,
    TRUE: true,
    yes: true,
    "1": true,
    off: false,
    no: false,
    "0": false,
  })) {
    test(`a switch with the value ${value} is ${isOn ? "on" : "off"}`, () => {
      expect(read([], { TODOITEMS_READ_ONLY: value }).readOnly).toBe(isOn);
    });
  }

  test("a switch with any other value is refused", () => {
    for (const value of ["y", "enabled", "2", "onn"])
      expect(problems([], { TODOITEMS_READ_ONLY: value })).toEqual([
        `TODOITEMS_READ_ONLY=${value}: expected on (or true, yes, 1) or off (or false, no, 0)`,
      ]);
  });

  for (const name of ["constructor", "__proto__", "hasOwnProperty"]) {
    test(`--${name} is refused as an unknown flag`, () => expect(problems([`--${name}=x`])).toHaveLength(1));
  }

  test("an IPv6 host may be written in brackets", () => {
    expect(read(["--host", "[::1]"]).host).toBe("::1");
    expect(problems(["--host", "[]"])).toHaveLength(1);
  });

  test("CORS origins are spelled as browsers send them, and anything else is refused", () => {
    expect(read(["--cors", "https://App.example:443, http://localhost:8100/"]).cors).toEqual(
      new Set(["https://app.example", "http://localhost:8100"]),
    );
    expect(read(["--cors", "*"]).cors).toBe("*");
    for (const origin of [
      "app.example",
      "https://app.example/path",
      "null",
      "file:///x",
      "https://a.example,",
      "https://user@a.example",
    ]) {
      expect(problems(["--cors", origin])).toHaveLength(1);
    }
  });

  test("--rate-limit takes a number of requests per second", () => {
    expect(read(["--rate-limit", "100/s"]).rateLimitPerSecond).toBe(100);
    expect(read(["--rate-limit", "5"]).rateLimitPerSecond).toBe(5);
    for (const rate of ["0", "1.5/s", "10/m", "many"]) expect(problems(["--rate-limit", rate])).toHaveLength(1);
  });

  test("HTTP or HTTPS can be switched off, but not both; a certificate needs its key and a port", () => {
    expect(read(["--port", "off", "--https-port", "5001"])).toMatchObject({ port: undefined, httpsPort: 5001 });
    expect(problems(["--port", "off"])).toHaveLength(1);
    expect(problems(["--https-port", "0", "--tls-cert", "a.pem"])).toHaveLength(1);
    expect(problems(["--https-port", "0", "--tls-key", "a.pem"])).toHaveLength(1);
    expect(problems(["--tls-cert", "a.pem", "--tls-key", "b.pem"])).toHaveLength(1);
  });

  test("lists of users need credentials for everything, and have no items of nobody", () => {
    expect(readSettings(["--lists", "user", "--users", "u"], {})).toMatchObject({ settings: { auth: "all" } });
    expect(problems(["--lists", "user"])).toEqual([expect.stringContaining("--lists user needs --users")]);
    for (const auth of ["off", "writes"])
      expect(problems(["--lists", "user", "--users", "u", "--auth", auth])).toEqual([
        expect.stringContaining(`leave out --auth ${auth}`),
      ]);
    for (const words of [["--demo"], ["--seed", "items.json"]])
      expect(problems(["--lists", "user", "--users", "u", ...words])).toEqual([
        expect.stringContaining(`${words[0]} has items of nobody`),
      ]);
  });

  test("tokens need a provider and an audience, and operations that need credentials", () => {
    const tokens = ["--token-issuer", "https://login.example/", "--token-audience", "todo"];
    for (const words of [
      ["--auth", "all"],
      ["--auth", "writes", "--users", "u"],
      ["--lists", "user"],
    ])
      expect(readSettings([...tokens, ...words], {})).toMatchObject({
        settings: { tokenIssuer: "https://login.example/", tokenAudience: "todo" },
      });
    expect(problems(["--token-issuer", "", "--token-audience", ""])).toEqual([]);
    expect(problems(tokens)).toEqual([expect.stringContaining("--token-issuer needs --auth")]);
    expect(problems([...tokens.slice(0, 2), "--auth", "all"])).toEqual([expect.stringContaining("go together")]);
    expect(problems([...tokens.slice(2), "--auth", "all", "--users", "u"])).toEqual([
      expect.stringContaining("go together"),
    ]);
    const addresses = [
      "http://login.example",
      "login.example",
      "https://a.example/?b",
      "https://a:b@a.example",
      "https://a b",
    ];
    for (const address of addresses)
      expect(problems([...tokens, "--auth", "all", "--token-issuer", address])).toEqual([
        expect.stringContaining("expected an address"),
      ]);
    for (const address of ["http://localhost:3000", "http://127.0.0.1:3000/x", "http://[::1]:1"])
      expect(problems([...tokens, "--auth", "all", "--token-issuer", address])).toEqual([]);
  });

  test("a users file without --auth causes a warning", () => {
    expect(readSettings(["--users", "u"], {})).toMatchObject({
      warnings: [expect.stringContaining("--users without --auth")],
    });
    expect(readSettings(["--users", "u", "--auth", "all"], {})).toMatchObject({ warnings: [] });
  });

  test("--demo cannot be combined with a store on disk", () => {
    expect(problems(["--demo", "--store", "memory:"])).toEqual([]);
    expect(problems(["--demo"], { TODOITEMS_STORE: "sqlite:x.db" })).toHaveLength(1);
  });
});
