// The commands that talk to a service, run as processes against a real service.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { developmentCertificate } from "../../src/tls/development-certificate.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { eventually } from "../eventually.ts";
import { Program, programCommand, programEnvironment, runProgram } from "../program.ts";
import { ids, item } from "../service.ts";

const folder = temporaryFolder();
const path = (name: string) => join(folder.path, name);
const home = { HOME: folder.path, XDG_CONFIG_HOME: path("config"), XDG_DATA_HOME: path("data"), TMPDIR: folder.path };
const password = "pä:ss ✓";
let open: Program;
let guarded: Program;

beforeAll(async () => {
  await runProgram("user", { args: ["add", "ann", "--users", path("users")], input: `${password}\n` });
  open = await Program.start({ environment: home, args: ["--port", "0", "--store", "memory:"] });
  guarded = await Program.start({
    environment: home,
    args: [
      "--port",
      "off",
      "--https-port",
      "0",
      "--store",
      "memory:",
      "--auth",
      "all",
      "--users",
      path("users"),
      "--forms",
      "a",
    ],
  });
});

afterAll(async () => {
  await open.stop("SIGKILL");
  await guarded.stop("SIGKILL");
  folder.dispose();
});

beforeEach(async () => {
  for (const { ID } of JSON.parse(await open.list()) as { ID: string }[])
    await open.fetch(`/api/todoitems/${ID}`, { method: "DELETE" });
});

interface RunOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly input?: string;
}

/**
 * Runs a command against `open`, the service without credentials, unless the flags or the environment name another one.
 */
function run(command: string, args: readonly string[] = [], { environment = {}, input = "" }: RunOptions = {}) {
  return runProgram(command, { args, input, environment: { ...home, TODOITEMS_SERVER: open.origin, ...environment } });
}

async function store(...items: string[]): Promise<void> {
  for (const json of items) expect((await open.send("POST", "/api/todoitems/", json)).status).toBe(201);
}

describe("list, add, show", () => {
  test("list of an empty store says how to add the first item", async () => {
    expect(await run("list")).toMatchObject({
      exitCode: 0,
      stdout: "",
      stderr: expect.stringContaining("todoitems add"),
    });
  });

  test("add stores a name of several words, notes, and fields with exact JSON values", async () => {
    const args = [
      "Buy",
      "milk",
      "--notes",
      "2 litres",
      "--field",
      "Price:=1.50",
      "-f",
      "Shop=a=b",
      "-f",
      "N:=12345678901234567890",
    ];
    const { stdout, exitCode } = await run("add", [...args, "--json"]);
    const [, id] = /^\{"ID":"([0-9a-f-]{36})"/.exec(stdout) ?? [];
    const fields =
      '"Name":"Buy milk","Notes":"2 litres","Done":false,"Price":1.50,"Shop":"a=b","N":12345678901234567890';
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `{"ID":"${id}",${fields}}\n` });
    expect(await open.list()).toBe(`[${stdout.trimEnd()}]`);
    expect(await run("list", ["--json"])).toMatchObject({ stdout });
    expect(await run("add", ["again"])).toMatchObject({
      stdout: expect.stringMatching(/^Added: again \([0-9a-f]{8}\)\n$/),
    });
  });

  test("list aligns wide characters, shortens IDs as far as they stay distinct, and prints no control characters", async () => {
    await store(
      '{"ID":"aaaaaaaa-0000-4000-8000-000000000001","Name":"日本語","Done":true}',
      '{"ID":"aaaaaabb-0000-4000-8000-000000000002","name":"\\u001b[31mred\\nx\\u202e\\u061c","Done":false,"Extra":[1.0]}',
    );
    expect((await run("list")).stdout).toBe(
      ["✓  ID       Name          Extra", "✓  aaaaaaa  日本語", "   aaaaaab  �[31mred⏎x��  [1.0]", ""].join("\n"),
    );
  });

  test("show accepts the start of an ID in any letter case, and prints every field", async () => {
    await store(item(ids.one, '"Name":"one","Notes":"first\\nsecond","More":{"a":[1.0]}'), item(ids.two));
    const { stdout } = await run("show", ["1111"]);
    expect(stdout).toBe(
      `ID     ${ids.one}\nName   one\nNotes  first\n       second\nMore   {\n         "a": [\n           1.0\n         ]\n       }\n`,
    );
    expect(await run("show", [ids.two.toUpperCase(), "--json"])).toMatchObject({ stdout: `${item(ids.two)}\n` });
  });

  test("an ID prefix that matches no item or several items is refused with advice", async () => {
    await store(item(ids.one, '"title":"milk"'), item("11112222-0000-4000-8000-000000000000", '"Done":true'));
    const { exitCode, stderr } = await run("show", ["1111"]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain("2 IDs begin with 1111");
    expect(stderr).toContain(`\n  ${ids.one}  milk\n  11112222-0000-4000-8000-000000000000\n`);
    expect(await run("show", ["9"])).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("todoitems list") });
    expect(await run("show", [ids.three])).toMatchObject({
      exitCode: 1,
      stderr: `error: No item has the ID ${ids.three}. Items are chosen by their IDs, which todoitems list shows.\n`,
    });
  });
});

describe("edit, done, remove", () => {
  test("edit --field changes only the named fields, whatever the letter case of their names", async () => {
    await store(`{"ID":"${ids.one}","name":"old","Price":1.0,"Z":{"a":[]}}`);
    expect(await run("edit", ["1111", "-f", "Name=new", "-f", "Tags:=[1.10]"])).toMatchObject({ exitCode: 0 });
    expect(await open.list()).toBe(`[{"ID":"${ids.one}","name":"new","Price":1.0,"Z":{"a":[]},"Tags":[1.10]}]`);
  });

  test("edit --notes changes the notes only", async () => {
    await store(`{"ID":"${ids.one}","name":"old","notes":"before"}`);
    expect(await run("edit", ["1111", "--notes", "after"])).toMatchObject({ exitCode: 0 });
    expect(await open.list()).toBe(`[{"ID":"${ids.one}","name":"old","notes":"after"}]`);
  });

  test("edit opens the editor on indented JSON, and sends the edited text", async () => {
    await store(item(ids.one, '"Name":"milk","Price":1.50'));
    writeFileSync(path("editor"), `#!/bin/sh\ncp "$2" "${path("seen")}"\nsed -i s/milk/bread/ "$2"\n`);
    chmodSync(path("editor"), 0o755);
    expect(await run("edit", ["1111"], { environment: { EDITOR: `${path("editor")} --wait` } })).toMatchObject({
      exitCode: 0,
    });
    expect(readFileSync(path("seen"), "utf8")).toBe(
      `{\n  "ID": "${ids.one}",\n  "Name": "milk",\n  "Price": 1.50\n}\n`,
    );
    expect(await open.list()).toBe(`[${item(ids.one, '"Name":"bread","Price":1.50')}]`);
    expect(await run("edit", ["1111"], { environment: { EDITOR: "true" } })).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining("nothing was changed"),
    });
    expect(readdirSync(folder.path).filter((name) => name.startsWith("todoitems-"))).toEqual([]);
  });

  test("edit does not overwrite somebody else's change, and keeps the edited text in a file", async () => {
    await store(item(ids.one, '"Name":"milk"'));
    const meanwhile = `curl -s -X PUT -H 'Content-Type: application/json' -d '${item(ids.one, '"Name":"theirs"')}' ${open.origin}/api/todoitems/`;
    writeFileSync(path("editor"), `#!/bin/sh\n${meanwhile}\nsed -i s/milk/mine/ "$1"\n`);
    const { exitCode, stderr } = await run("edit", ["1111"], { environment: { EDITOR: path("editor") } });
    const [, draft = ""] = /Your text is in (.*)$/m.exec(stderr) ?? [];
    expect({ exitCode, draft: readFileSync(draft, "utf8") }).toEqual({
      exitCode: 1,
      draft: expect.stringContaining('"mine"'),
    });
    expect(await open.list()).toContain('"theirs"');
  });

  test("edit changes nothing if the editor fails, the text is not JSON, or the ID differs", async () => {
    await store(item(ids.one));
    expect(await run("edit", ["1111"], { environment: { EDITOR: "false" } })).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("failed with exit code 1"),
    });
    expect(await run("edit", ["1111"], { environment: { EDITOR: "sed -i s/{//" } })).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("Your text is in"),
    });
    expect(await run("edit", ["1111", "-f", `ID=${ids.two}`])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("The ID of an item cannot be changed"),
    });
    expect(await open.list()).toBe(`[${item(ids.one)}]`);
  });

  test("done and done --undo keep the item's spelling of the field name", async () => {
    await store(`{"ID":"${ids.one}","done":false,"Name":"one"}`, item(ids.two));
    expect(await run("done", ["1111", "2222"])).toMatchObject({
      exitCode: 0,
      stdout: "Done: one (11111111)\nDone: x (22222222)\n",
    });
    expect(await open.list()).toBe(
      `[{"ID":"${ids.one}","done":true,"Name":"one"},${item(ids.two, '"Name":"x","Done":true')}]`,
    );
    expect((await run("done", ["1111", "--undo", "--json"])).stdout).toBe(
      `{"ID":"${ids.one}","done":false,"Name":"one"}\n`,
    );
    expect(await open.list()).toContain('"done":false');
  });

  test("done and done --undo keep the kind of mark that the item has", async () => {
    await store(`{"ID":"${ids.one}","isCompleted":0}`, `{"ID":"${ids.two}","Done":"true"}`);
    await run("done", ["1111"]);
    await run("done", ["2222", "--undo"]);
    expect(await open.list()).toBe(`[{"ID":"${ids.one}","isCompleted":1},{"ID":"${ids.two}","Done":"false"}]`);
  });

  test("remove deletes all named items or, if one ID is mistyped, none of them", async () => {
    await store(item(ids.one), item(ids.two));
    expect(await run("remove", ["1111", "99"])).toMatchObject({ exitCode: 1 });
    expect(await open.list()).toContain(ids.one);
    expect((await run("remove", ["1111", "2222", "--json"])).stdout).toBe(`{"ID":"${ids.one}"}\n{"ID":"${ids.two}"}\n`);
    expect(await open.list()).toBe("[]");
  });
});

describe("server and credentials", () => {
  const sign = { TODOITEMS_SERVER: "", TODOITEMS_USERNAME: "ann", TODOITEMS_PASSWORD: password };

  test("commands take the server and credentials from flags, the environment or a profile, and trust this machine's development certificate", async () => {
    const at = ["--server", guarded.origin, "--form", "a"];
    expect(await run("add", ["from the environment", ...at], { environment: sign })).toMatchObject({ exitCode: 0 });
    writeFileSync(path("password"), `\uFEFF${password}\n`);
    const flags = [...at, "--username", "ann", "--password-file", path("password")];
    expect(await run("list", flags)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining("from the environment"),
    });
    mkdirSync(path("config/todoitems"), { recursive: true });
    const profiles = path("config/todoitems/profiles.json");
    writeFileSync(profiles, JSON.stringify({ home: { server: guarded.origin, username: "ann", password, form: "a" } }));
    const environment = { TODOITEMS_SERVER: "" };
    expect(await run("list", ["--profile", "home"], { environment })).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining("chmod 600"),
    });
    chmodSync(profiles, 0o600);
    expect(await run("list", ["--profile", "home"], { environment })).toMatchObject({ exitCode: 0, stderr: "" });
    expect(await run("list", ["--profile", "work"], { environment })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("home"),
    });
    writeFileSync(profiles, '{"default":{"sever":"x"}}');
    expect(await run("list")).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("sever") });
    writeFileSync(profiles, "{}");
  });

  test("a profile that is not an object is named in the message, also if it is the default", async () => {
    mkdirSync(path("config/todoitems"), { recursive: true });
    writeFileSync(path("config/todoitems/profiles.json"), '{"default":5}', { mode: 0o600 });
    expect(await run("list")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("the profile default is not an object."),
    });
    rmSync(path("config/todoitems/profiles.json"));
  });

  test("a mistake in the profile file is named with its line and column, and a byte order mark is no mistake", async () => {
    mkdirSync(path("config/todoitems"), { recursive: true });
    const profiles = path("config/todoitems/profiles.json");
    writeFileSync(profiles, '{\n  "default": {"server": "x",}\n}', { mode: 0o600 });
    expect(await run("list")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(
        `${profiles}: The document is not valid JSON: expected a field name in double quotes at line 2, column 29, found "}".`,
      ),
    });
    writeFileSync(profiles, "[]", { mode: 0o600 });
    expect(await run("list")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("expected JSON such as {"),
    });
    writeFileSync(profiles, `\ufeff{"default":{"server":"${open.origin}"}}`, { mode: 0o600 });
    expect(await run("list", [], { environment: { TODOITEMS_SERVER: "" } })).toMatchObject({ exitCode: 0 });
    rmSync(profiles);
  });

  test("a profile that --profile names comes before the environment, one that is used by default comes after it", async () => {
    mkdirSync(path("config/todoitems"), { recursive: true });
    const profiles = path("config/todoitems/profiles.json");
    const secured = { server: guarded.origin, username: "ann", password, form: "a" };
    writeFileSync(profiles, JSON.stringify({ secured, default: secured }), { mode: 0o600 });
    chmodSync(profiles, 0o600);
    const environment = {
      TODOITEMS_SERVER: open.origin,
      TODOITEMS_USERNAME: "bob",
      TODOITEMS_PASSWORD: "other",
      TODOITEMS_FORM: "b",
    };
    expect(await run("add", ["for the profile", "-p", "secured"], { environment })).toMatchObject({ exitCode: 0 });
    expect(await open.list()).toBe("[]");
    expect(await run("add", ["for the environment"], { environment })).toMatchObject({ exitCode: 0 });
    expect(await open.list()).toContain("for the environment");
    const flags = ["--server", open.origin, "--form", "b", "-p", "secured"];
    expect(await run("add", ["for the flag", ...flags], { environment })).toMatchObject({ exitCode: 0 });
    expect(await open.list()).toContain("for the flag");
    writeFileSync(profiles, "{}");
  });

  test("the password of one user is never sent for another", async () => {
    mkdirSync(path("config/todoitems"), { recursive: true });
    const profiles = path("config/todoitems/profiles.json");
    const missing = { exitCode: 2, stderr: expect.stringContaining("The password of bob is missing.") };
    const environment = { TODOITEMS_SERVER: guarded.origin };
    writeFileSync(profiles, JSON.stringify({ default: { server: guarded.origin, username: "ann", password } }));
    expect(await run("list", ["-u", "bob"], { environment })).toMatchObject(missing);
    expect(await run("list", ["-u", "bob", "-p", "default"], { environment })).toMatchObject(missing);
    expect(await run("list", ["-u", "ann"], { environment })).toMatchObject({ exitCode: 0 });
    writeFileSync(profiles, "{}");
    const variables = { ...environment, TODOITEMS_USERNAME: "ann", TODOITEMS_PASSWORD: password };
    expect(await run("list", ["-u", "bob"], { environment: variables })).toMatchObject(missing);
    // A password without a name is for the user whom the flag names.
    const nameless = { ...environment, TODOITEMS_PASSWORD: password };
    expect(await run("list", ["-u", "ann"], { environment: nameless })).toMatchObject({ exitCode: 0 });
  });

  test("a profile's credentials go to its own server only, unless the command line names both", async () => {
    const seen: (string | null)[] = [];
    const other = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: ({ headers }) => {
        seen.push(headers.get("authorization"));
        return Response.json([{ ID: ids.one }]);
      },
    });
    const profiles = path("config/todoitems/profiles.json");
    const user = { username: "ann", password };
    const own = { ...user, server: `http://127.0.0.1:${other.port}/somewhere/` };
    writeFileSync(profiles, JSON.stringify({ default: { ...user, server: guarded.origin }, user, own }));
    const address = other.url.href;
    const list = async (args: readonly string[], TODOITEMS_SERVER: string, TODOITEMS_PROFILE = "") => {
      const { exitCode } = await run("list", args, { environment: { TODOITEMS_SERVER, TODOITEMS_PROFILE } });
      return { exitCode, isSent: seen.splice(0).some((value) => value !== null) };
    };
    expect(await list([], address)).toEqual({ exitCode: 0, isSent: false });
    expect(await list(["-s", address], "")).toEqual({ exitCode: 0, isSent: false });
    expect(await list([], address, "user")).toEqual({ exitCode: 0, isSent: false });
    expect(await list(["-p", "user"], address)).toEqual({ exitCode: 2, isSent: false });
    expect(await list(["-p", "user", "-s", address], "")).toEqual({ exitCode: 0, isSent: true });
    expect(await list(["-p", "own"], "http://127.0.0.1:9/")).toEqual({ exitCode: 0, isSent: true });
    expect(await list([], address, "own")).toEqual({ exitCode: 0, isSent: true });
    await other.stop(true);
    writeFileSync(profiles, "{}");
  });

  test("a wrong password gives exit code 1 and advice, a missing one exit code 2, and a password in an argument is refused", async () => {
    const at = ["--server", guarded.origin];
    const wrong = await run("list", at, { environment: { ...sign, TODOITEMS_PASSWORD: "not-it" } });
    expect([wrong.exitCode, wrong.stderr.includes("TODOITEMS_PASSWORD"), wrong.stderr.includes("not-it")]).toEqual([
      1,
      true,
      false,
    ]);
    expect(wrong.stderr).toStartWith(`error: The name or the password is wrong for ${guarded.origin}/.`);
    expect(await run("list", at)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(`error: ${guarded.origin}/ needs a user name and a password.`),
    });
    expect(await run("list", [...at, "--username", "ann"])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("--password-file"),
    });
    expect(await run("list", ["--password", "x"])).toMatchObject({ exitCode: 2 });
    expect(await run("list", ["--server", "http://ann:secret@localhost/"])).toMatchObject({
      exitCode: 2,
      stderr: expect.not.stringContaining("secret"),
    });
  });

  test("a password without a user name is told, with the places for the name", async () => {
    const at = ["--server", guarded.origin];
    const forName = "Give the name with --username NAME or TODOITEMS_USERNAME.";
    expect(await run("list", at, { environment: { TODOITEMS_PASSWORD: password } })).toMatchObject({
      exitCode: 1,
      stderr: `error: ${guarded.origin}/ needs a user name, too: only TODOITEMS_PASSWORD is set. ${forName}\n`,
    });
    expect((await run("list", at)).stderr).toContain(forName);
    writeFileSync(path("password"), `${password}\n`);
    expect(await run("list", [...at, "--password-file", path("password")])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(`error: --password-file needs a user name. ${forName}\n`),
    });
  });

  test("a wrong --ca file is told apart from a missing one", async () => {
    await developmentCertificate(path("other"));
    const ca = path("other/authority.pem");
    const elsewhere = { environment: { ...sign, XDG_DATA_HOME: path("nowhere") } };
    const missing = await run("list", ["--server", guarded.origin], elsewhere);
    expect(missing).toMatchObject({ exitCode: 3, stderr: expect.stringContaining("is not trusted. Give the file") });
    expect(await run("list", ["--server", guarded.origin, "--ca", ca], elsewhere)).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining(
        `error: The certificate of ${guarded.origin}/ was not signed by the authority in ${ca}. Give the file of its own authority with --ca FILE.`,
      ),
    });
  });

  test("an unreachable server gives exit code 3, a usage error exit code 2, and the wrong --form gives advice", async () => {
    expect(await run("list", ["--server", "127.0.0.1:9"])).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining("--server URL"),
    });
    expect(await run("add", ["x", "--server", guarded.origin], { environment: sign })).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/Perhaps it expects the item's ID in another place: try --form a\.\n/),
    });
    for (const [command = "", ...args] of [
      ["list", "x"],
      ["add"],
      ["show"],
      ["list", "--form", "c"],
      ["list", "--server", "ftp://x"],
      ["nosuch"],
      ["add", "x", "-f", "a:=b"],
    ])
      expect({ command, ...(await run(command, args)) }).toMatchObject({ exitCode: 2, stdout: "" });
  });
});

describe("watch", () => {
  test("watch prints changes until it is interrupted, then exits with 0", async () => {
    const watching = Bun.spawn([...programCommand(), "watch", "--json"], {
      env: programEnvironment({ ...home, TODOITEMS_SERVER: open.origin }),
      stdout: "pipe",
      stderr: "ignore",
    });
    const lines = linesOf(watching.stdout);
    expect((await lines.next()).value).toBe('{"kind":"snapshot","items":[]}');
    await store(item(ids.mixedCase, '"Price":1.0'));
    const changed = `{"kind":"changed","id":"${ids.mixedCase.toLowerCase()}","item":${item(ids.mixedCase, '"Price":1.0')}}`;
    expect((await lines.next()).value).toBe(changed);
    await open.fetch(`/api/todoitems/${ids.mixedCase}`, { method: "DELETE" });
    expect((await lines.next()).value).toBe(`{"kind":"removed","id":"${ids.mixedCase.toLowerCase()}"}`);
    watching.kill("SIGINT");
    expect(await watching.exited).toBe(0);
  });
});

const hashOf = ({ stderr }: { readonly stderr: string }) => /^Hash ([0-9a-f]{64})$/m.exec(stderr)?.[1] ?? "no hash";

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let text = "";
  for await (const chunk of stream) {
    text += new TextDecoder().decode(chunk);
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n")) {
      yield text.slice(0, end);
      text = text.slice(end + 1);
    }
  }
}

describe("export and import", () => {
  const tricky = [
    item(ids.one, '"Name":"plain, with \\"quotes\\"","Price":1.0,"Big":12345678901234567890'),
    item(
      ids.two,
      '"Name":"=1+1","Empty":"","Null":null,"Text":"12","Lines":"a\\r\\nb","Odd":"\\u0041\\ud800","List":[1e400, {"a":-0}]',
    ),
    item(ids.three, '"name":" space ","__proto__":"true","Notes":"日本語"'),
  ].map((json) => json.replace("1e400, ", "1e400,"));

  for (const format of ["json", "ndjson", "csv"]) {
    test(`export and import as ${format} keep every value exactly, with the same count and hash`, async () => {
      await store(...tricky);
      const before = await open.list();
      const file = path(`items.${format}`);
      const exported = await run("export", [file]);
      expect(exported).toEqual({
        exitCode: 0,
        stdout: "",
        stderr: `Exported 3 items to ${file}
Hash ${hashOf(exported)}
`,
      });
      for (const id of [ids.one, ids.two, ids.three]) await open.fetch(`/api/todoitems/${id}`, { method: "DELETE" });
      const imported = await run("import", [file]);
      const counts = "3 created, 0 already present, 0 replaced, 0 skipped";
      expect(imported.stderr).toBe(`Imported 3 items: ${counts}
Hash ${hashOf(exported)}
`);
      if (format !== "csv") expect(await open.list()).toBe(before);
      // CSV loses only the order of fields, because all items share its columns.
      const sorted = (list: string) => (JSON.parse(list) as object[]).map((one) => Object.entries(one).sort());
      expect(sorted(await open.list())).toEqual(sorted(before));
      expect(await run("import", [file])).toMatchObject({
        stderr: expect.stringContaining("0 created, 3 already present"),
      });
      expect((await run("export", ["--format", format])).stdout).toBe(readFileSync(file, "utf8"));
    });
  }

  test("import fails at, skips or replaces an item whose ID is taken, as --on-conflict says", async () => {
    await store(item(ids.two, '"Name":"there"'));
    writeFileSync(path("in.ndjson"), `${item(ids.one)}\n\n${item(ids.two, '"Name":"mine"')}\n${item(ids.three)}\n`);
    expect(await run("import", [path("in.ndjson")])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(
        /^error: The item with the ID of line 3, .* is stored already, with other content\. .*--on-conflict skip.*\nStopped after 1 item: 1 created, 0 already present, 0 replaced, 0 skipped\. No other item was created\. Once that is fixed, import again: no item is stored twice, as long as the items before it stay as they are\.\n$/,
      ),
    });
    expect(await run("import", [path("in.ndjson"), "--on-conflict", "skip"])).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining("2 created, 0 already present, 0 replaced, 1 skipped\nHash of the file "),
    });
    expect(await open.list()).toContain('"there"');
    expect(await run("import", [path("in.ndjson"), "--on-conflict", "replace", "--parallel", "4"])).toMatchObject({
      stderr: expect.stringContaining("0 created, 2 already present, 1 replaced"),
    });
    expect(await open.list()).toContain('"mine"');
  });

  test("import to a service that needs credentials says how to give them", async () => {
    const environment = { TODOITEMS_SERVER: guarded.origin, TODOITEMS_FORM: "a" };
    expect(await run("import", ["-"], { input: `[${item(ids.one)}]`, environment })).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/needs a user name and a password\. Give the name with --username NAME/),
    });
  });

  test.skipIf(process.platform === "win32")(
    "only this user may read an export, unless it replaces a file that others may read",
    async () => {
      const modeOf = (file: string) => statSync(file).mode & 0o777;
      for (const file of [path("private.json"), path("private.csv")]) {
        await run("export", [file]);
        expect(modeOf(file)).toBe(0o600);
      }
      chmodSync(path("private.json"), 0o640);
      await run("export", [path("private.json"), "--force"]);
      expect(modeOf(path("private.json"))).toBe(0o640);
    },
  );

  test.skipIf(process.platform === "win32")(
    "export --force writes to the file that a symbolic link names",
    async () => {
      writeFileSync(path("target.json"), "old");
      symlinkSync("target.json", path("link.json"));
      expect(await run("export", [path("link.json"), "--force"])).toMatchObject({ exitCode: 0 });
      expect(lstatSync(path("link.json")).isSymbolicLink()).toBe(true);
      expect(readFileSync(path("target.json"), "utf8")).toStartWith("[");
    },
  );

  test("export replaces a file only with --force", async () => {
    const file = path("kept.json");
    writeFileSync(file, "mine");
    expect(await run("export", [file])).toMatchObject({ exitCode: 1 });
    expect(readFileSync(file, "utf8")).toBe("mine");
    expect(await run("export", [file, "--force"])).toMatchObject({ exitCode: 0 });
    expect(readFileSync(file, "utf8")).toStartWith("[");
  });

  test("import of a file without items says so", async () => {
    expect(await run("import", ["-"], { input: "[]" })).toEqual({
      exitCode: 0,
      stdout: "",
      stderr: "There are no items in standard input, so nothing was imported.\n",
    });
  });

  test("export and import print the counts and the hash as JSON with --json", async () => {
    await store(item(ids.one));
    const file = path("summary.ndjson");
    const { hash, ...exported } = JSON.parse((await run("export", [file, "--json"])).stdout) as Record<string, unknown>;
    expect(exported).toEqual({ items: 1 });
    const imported = JSON.parse((await run("import", [file, "--json"])).stdout) as unknown;
    expect(imported).toEqual({ items: 1, created: 0, present: 1, replaced: 0, skipped: 0, hash });
    expect(await run("export", ["--json"])).toMatchObject({ exitCode: 2, stdout: "" });
  });

  test("import gives an item without an ID the same ID in every run, so no item is stored twice", async () => {
    const input = '[{"Name":"x"},{"Name":"x"}]';
    expect(await run("import", ["-"], { input })).toMatchObject({ stderr: expect.stringContaining("2 created") });
    expect(await run("import", ["-"], { input })).toMatchObject({
      stderr: expect.stringContaining("0 created, 2 already present"),
    });
  });

  test("an interrupted import continues where it stopped, and keeps the order", async () => {
    const count = 5_000;
    const idOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
    const lines = Array.from({ length: count }, (_, n) => item(idOf(n), `"N":${n}`));
    const file = path("many.ndjson");
    writeFileSync(file, lines.join("\n"));
    const service = await Program.start({ environment: home, args: ["--port", "0", "--store", "memory:"] });
    const environment = { TODOITEMS_SERVER: service.origin };
    const first = Bun.spawn([...programCommand(), "import", file], {
      env: programEnvironment({ ...home, ...environment }),
      stderr: "pipe",
    });
    await eventually(async () => ((await service.list()).match(/"N"/g) ?? []).length >= 50);
    first.kill("SIGINT");
    expect(await first.exited).toBe(130);
    const [, stoppedAfter = ""] =
      /Interrupted after ([0-9,]+) items: .* no item is stored twice/.exec(await new Response(first.stderr).text()) ??
      [];
    expect(Number(stoppedAfter.replace(",", ""))).toBeWithin(1, count);
    const second = await run("import", [file], { environment });
    expect(second.stderr).toContain(`Continuing after item ${stoppedAfter.replace(",", "")},`);
    expect(second.stderr).toContain("Imported 5,000 items");
    expect(await service.list()).toBe(`[${lines.join(",")}]`);
    expect(existsSync(`${file}.import-progress`)).toBe(false);
    const exported = await run("export", ["-", "--format", "csv"], { environment });
    expect(hashOf(exported)).toBe(hashOf(second));
    await service.stop("SIGKILL");
  });

  test("the import of a damaged file says where the mistake is, and an export that fails leaves no file", async () => {
    writeFileSync(path("bad.ndjson"), `${item(ids.one)}\n{"ID":`);
    expect(await run("import", [path("bad.ndjson")])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("line 2"),
    });
    expect(await run("import", [path("items.txt")])).toMatchObject({ exitCode: 2 });
    expect(await run("export", [path("missing/x.json")])).toMatchObject({ exitCode: 1 });
    expect(await run("export", [path("x.json"), "--server", "127.0.0.1:9"])).toMatchObject({ exitCode: 3 });
    expect(existsSync(path("x.json")) || existsSync(path("x.json.partial"))).toBe(false);
  });
});

describe("help", () => {
  test("more words after the command change nothing: help user add explains user", async () => {
    const { stdout } = await run("help", ["user"]);
    expect(stdout).toContain("Usage: todoitems user add|remove|list [NAME]");
    expect(await run("help", ["user", "add"])).toEqual({ exitCode: 0, stdout, stderr: "" });
  });

  test("help lists every command, and explains a single one", async () => {
    const { stdout } = await run("help");
    const names = [...stdout.matchAll(/^ {2}([a-z]+)\b/gm)].map(([, name = ""]) => name);
    expect(names).toEqual([
      "serve",
      "list",
      "add",
      "show",
      "edit",
      "done",
      "remove",
      "watch",
      "export",
      "import",
      "backup",
      "restore",
      "check",
      "accept",
      "doctor",
      "healthcheck",
      "user",
      "certificate",
      "completion",
      "help",
    ]);
    for (const name of ["list", "import"]) {
      const help = await run("help", [name]);
      expect(help).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`Usage: todoitems ${name}`) });
      expect(await run(name, ["--help"])).toMatchObject({ stdout: help.stdout });
    }
  });
});
