// `todoitems edit`: nobody's text is lost if two people edit one item or the editor fails. Also: how the editor is
// started, and which fields hold the name and the mark of an item.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeChanges } from "../../src/commands/field-changes.ts";
import { mergeFields } from "../../src/items/field-merge.ts";
import { Program, programCommand, projectFolder, runProgram } from "../program.ts";
import { ids, item } from "../service.ts";
import { CommandLine } from "./command-line.ts";

let commandLine: CommandLine;
beforeAll(async () => {
  commandLine = await CommandLine.start();
});
beforeEach(() => commandLine.clear());
afterAll(() => commandLine.dispose());

/**
 * Makes an editor that changes the text "milk" to "mine" and keeps a copy of what it was given. While it runs for the
 * first time, somebody else changes the item to `theirs`.
 */
function editorBeside(theirs: string): string {
  const path = commandLine.path("editor");
  const request = `curl -s -X PUT -H 'Content-Type: application/json' -d '${theirs}' ${commandLine.service.origin}/api/todoitems/`;
  writeFileSync(
    path,
    `#!/bin/sh\ncp "$1" "${commandLine.path("seen")}"\n[ -e "${path}.ran" ] || ${request}\ntouch "${path}.ran"\nsed -i s/milk/mine/ "$1"\n`,
  );
  chmodSync(path, 0o755);
  Bun.spawnSync(["rm", "-f", `${path}.ran`]);
  return path;
}

function executable(name: string, script: string): string {
  const path = commandLine.path(name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

test("edit shows what the other person changed, and opens the editor again with both changes", async () => {
  await commandLine.store(item(ids.one, '"Name":"milk","Price":1.0,"Shop":"a"'));
  const editor = editorBeside(item(ids.one, '"Name":"milk","Price":1.50,"Due":"soon"'));
  const { exitCode, output } = await commandLine.runInTerminal("edit", ["1111"], {
    environment: { EDITOR: editor },
    answers: [["[Y/n]", "\n"]],
  });
  expect({ exitCode, output: output.slice(0, output.indexOf("[Y/n]")) }).toEqual({
    exitCode: 0,
    output: [
      "warning: Somebody else changed this item in the meantime:",
      "  Price: 1.0 → 1.50",
      "  Shop: a → (no field)",
      "  Due: (no field) → soon",
      "Edit again, with their changes and yours? ",
    ].join("\n"),
  });
  expect(JSON.parse(readFileSync(commandLine.path("seen"), "utf8"))).toMatchObject({ Name: "mine", Due: "soon" });
  expect(await commandLine.service.list()).toBe(`[${item(ids.one, '"Name":"mine","Price":1.50,"Due":"soon"')}]`);
});

// The launcher passes Ctrl-C on, so the program gets the signal twice: from the terminal and from the launcher.
const launcher = ["node", join(projectFolder, "bin/todoitems.js")];

test.each([
  ["n", "n\n", programCommand()],
  ["Ctrl-C", "\u0003", programCommand()],
  ["Ctrl-C, which the launcher passes on,", "\u0003", launcher],
])(
  "after a conflict, the answer %s leaves the text in a file and keeps the other person's change",
  async (_, typed, program) => {
    await commandLine.store(item(ids.one, '"Name":"milk"'));
    const theirs = item(ids.one, '"Name":"theirs"');
    const { exitCode, output } = await commandLine.runInTerminal("edit", ["1111"], {
      environment: { EDITOR: editorBeside(theirs) },
      answers: [["[Y/n]", typed]],
      columns: 200,
      program,
    });
    const [, path = ""] = /error:\S* The item was not changed\. Your text is in (\S+)/.exec(output) ?? [];
    expect({ exitCode, isKept: existsSync(path), list: await commandLine.service.list() }).toEqual({
      exitCode: 1,
      isKept: true,
      list: `[${theirs}]`,
    });
  },
);

test("a blank before = or := is refused, because it would become part of the field's name", async () => {
  await commandLine.store(item(ids.one, '"Name":"milk","Price":1'));
  for (const field of ["Price =5", "Price := 5", " Price=5"]) {
    const { exitCode, stderr } = await commandLine.run("edit", ["1111", "--field", field]);
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringContaining(`--field "${field}": there is a blank beside the field's name. Write --field Price`),
    ]);
  }
  expect(await commandLine.service.list()).toBe(`[${item(ids.one, '"Name":"milk","Price":1')}]`);
});

const question = (count: number) => new RegExp(`(?:\\[Y/n\\][^]*){${count}}`);

test("edit asks as often as the text is wrong, and waits for each answer", async () => {
  await commandLine.store(item(ids.one, '"Name":"milk"'));
  const runs = commandLine.path("runs");
  // The first three texts are not JSON. The fourth is.
  const editor = executable(
    "clumsy",
    `echo x >> "${runs}"; if [ $(wc -l < "${runs}") -lt 4 ]; then echo wrong > "$1"; else echo '${item(ids.one, '"Name":"mine"')}' > "$1"; fi`,
  );
  const { exitCode } = await commandLine.runInTerminal("edit", ["1111"], {
    environment: { EDITOR: editor },
    answers: [
      [question(1), "y\n"],
      [question(2), "\n"],
      [question(3), "yes\n"],
    ],
  });
  expect([exitCode, await commandLine.service.list()]).toEqual([0, `[${item(ids.one, '"Name":"mine"')}]`]);
});

for (const [fault, wrong, message] of [
  ["without its ID", '{"Name":"mine"}', `The ID of an item cannot be changed. This item's ID is ${ids.one}.`],
  [
    "that the service refuses",
    item(ids.one, `"Name":"${"x".repeat(2_000)}"`),
    "refused this: The body is larger than 1024 bytes",
  ],
] as const)
  test(`after a text ${fault}, edit asks, and opens the same text again`, async () => {
    const small = await Program.start({ args: ["--port", "0", "--store", "memory:", "--body-limit", "1KiB"] });
    try {
      await small.send("POST", "/api/todoitems", item(ids.one, '"Name":"milk"'));
      const second = commandLine.path("second.json");
      writeFileSync(commandLine.path("wrong.json"), wrong);
      const editor = executable(
        "forgetful",
        `if [ -e "${second}.asked" ]; then cp "$1" "${second}"; echo '${item(ids.one, '"Name":"mine"')}' > "$1"; else touch "${second}.asked"; cp "${commandLine.path("wrong.json")}" "$1"; fi`,
      );
      const { exitCode, output } = await commandLine.runInTerminal("edit", ["1111", "--server", small.origin], {
        environment: { EDITOR: editor },
        columns: 200,
        answers: [["[Y/n]", "\n"]],
      });
      expect([exitCode, Bun.stripANSI(output)]).toEqual([0, expect.stringContaining(message)]);
      expect(readFileSync(second, "utf8").replace(/\s/g, "")).toBe(wrong);
      expect(await small.list()).toBe(`[${item(ids.one, '"Name":"mine"')}]`);
    } finally {
      await small.stop();
      Bun.spawnSync(["rm", "-f", commandLine.path("second.json.asked")]);
    }
  });

test("the error before the question begins in red, as the error at the end does", async () => {
  await commandLine.store(item(ids.one, '"Name":"milk"'));
  const { output } = await commandLine.runInTerminal("edit", ["1111"], {
    environment: { EDITOR: executable("wrong", 'echo wrong > "$1"') },
    answers: [["[Y/n]", "n\n"]],
  });
  expect(output).toStartWith("\u001b[31merror:\u001b[39m The text is not a JSON object");
  expect(output.split("\u001b[31merror:")).toHaveLength(3);
});

test("edit waits for the answer to its question, although it has asked for a password before", async () => {
  await commandLine.store(item(ids.one, '"Name":"milk"'));
  const { exitCode, output } = await commandLine.runInTerminal("edit", ["1111", "--username", "ann"], {
    environment: { EDITOR: executable("wrong", 'echo wrong > "$1"') },
    answers: [
      ["Password for ann:", "secret\r"],
      ["[Y/n]", "n\n"],
    ],
    columns: 200,
  });
  expect({ exitCode, output }).toEqual({ exitCode: 1, output: expect.stringContaining("Your text is in ") });
});

test("edit of an item that somebody deleted meanwhile says so, and keeps the text in a file", async () => {
  await commandLine.store(item(ids.one, '"Name":"milk"'));
  const remove = `curl -s -X DELETE ${commandLine.service.origin}/api/todoitems/${ids.one}; sed -i s/milk/mine/`;
  expect(await commandLine.run("edit", ["1111"], { EDITOR: remove })).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/^error: Somebody deleted the item in the meantime\. Your text is in /),
  });
});

test("edit keeps the text in a file and exits with 3 if the service stops meanwhile", async () => {
  const service = await Program.start({ args: ["--port", "0", "--store", "memory:"] });
  await service.send("POST", "/api/todoitems/", item(ids.one, '"Name":"milk"'));
  const { exitCode, stderr } = await commandLine.run("edit", ["1111", "--server", service.origin], {
    EDITOR: `kill -9 ${service.pid}; sed -i s/milk/mine/`,
  });
  const [, path = ""] = /^error: Nothing answers at .* Your text is in (\S+)$/m.exec(stderr) ?? [];
  expect({ exitCode, isKept: existsSync(path) }).toEqual({ exitCode: 3, isKept: true });
});

test("the path of an editor may contain blanks, without quotes", async () => {
  await commandLine.store(item(ids.one, '"Name":"milk"'));
  expect(
    await commandLine.run("edit", ["1111"], { EDITOR: executable("my editor", 'sed -i s/milk/oats/ "$1"') }),
  ).toMatchObject({ exitCode: 0 });
  expect(await commandLine.service.list()).toBe(`[${item(ids.one, '"Name":"oats"')}]`);
});

describe("an editor that fails", () => {
  const unchanged = [item(ids.one, '"Name":"milk"')];
  beforeEach(() => commandLine.store(...unchanged));
  afterEach(async () => expect(await commandLine.service.list()).toBe(`[${unchanged}]`));

  const failure = async (environment: Record<string, string>) => {
    const { exitCode, stdout, stderr } = await commandLine.run("edit", ["1111"], { VISUAL: "", ...environment });
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    return stderr;
  };
  const notChanged = "so the item was not changed. To use another editor, set";

  test("an editor that does not exist is named in one sentence of ours, with the variable that names it", async () => {
    const advice = `${notChanged} EDITOR, for example EDITOR=nano.\n`;
    expect(await failure({ EDITOR: "nosuch --wait" })).toBe(`error: The editor nosuch --wait was not found, ${advice}`);
    expect(await failure({ VISUAL: "/no/such", EDITOR: "true" })).toBe(
      `error: The editor /no/such was not found, ${notChanged} VISUAL, for example VISUAL=nano.\n`,
    );
    expect(await failure({ EDITOR: commandLine.environment["HOME"] ?? "" })).toContain(
      " cannot be started (permission denied), so",
    );
    const nonsense = commandLine.path("nonsense");
    writeFileSync(nonsense, "nonsense", { mode: 0o755 });
    expect(await failure({ EDITOR: nonsense })).toContain(" cannot be started (this system cannot run it), so");
    expect(await failure({ EDITOR: "it's" })).toBe(`error: The editor it's is not a valid command, ${advice}`);
  });

  test("nobody who has no nano is told to set EDITOR to nano", async () => {
    expect(await failure({ EDITOR: "nano-that-is-missing" })).toEndWith("for example EDITOR=vi.\n");
  });

  test("without a terminal and without EDITOR, no editor starts, and the message says what to do", async () => {
    expect(await failure({ EDITOR: "" })).toBe(
      "error: The editor vi needs a terminal, so the item was not changed. Give the change with --name, --notes or --field, or set EDITOR to a program that needs no terminal.\n",
    );
  });

  test("if the text cannot be written for the editor, the message says where, and no folder stays", async () => {
    const launcher = ["bash", "-c", 'trap "" XFSZ; ulimit -f 0; exec "$@"', "limited"];
    const tmp = commandLine.path("full");
    mkdirSync(tmp);
    const { exitCode, stderr } = await runProgram("edit", {
      args: ["1111"],
      launcher,
      environment: { ...commandLine.environment, EDITOR: "true", TMPDIR: tmp },
    });
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringMatching(
        /^error: The item was not changed, because its text cannot be written for the editor\. .*full.*item\.json: /,
      ),
    ]);
    expect(readdirSync(tmp)).toEqual([]);
  });

  test("an editor that a signal ends is reported with the signal, and nothing else is printed", async () => {
    const editor = executable("killed", "kill -KILL $$");
    expect(await failure({ EDITOR: editor })).toStartWith(
      `error: The editor ${editor} was ended by the signal SIGKILL, ${notChanged}`,
    );
  });

  test("if the editor fails after a change, the message says where the text is", async () => {
    const stderr = await failure({ EDITOR: executable("failing", 'sed -i s/milk/mine/ "$1"; exit 3') });
    const [, path = ""] = /failed with exit code 3, .* Your text is in (.*)\n$/.exec(stderr) ?? [];
    expect(readFileSync(path, "utf8")).toContain("mine");
  });

  test("a file that is gone after the editor has ended, or is not UTF-8, is an error that says so", async () => {
    expect(await failure({ EDITOR: "rm" })).toMatch(
      /^error: The item was not changed, because the edited text cannot be read\. \S+: there is no such file or folder\.\n$/,
    );
    const latin = executable("latin", `printf '{"ID":"${ids.one}","Name":"caf\\351"}' > "$1"`);
    expect(await failure({ EDITOR: latin })).toMatch(/Its encoding is not UTF-8\.\nerror: .* Your text is in /);
  });
});

test("an editor may have arguments, and spaces in its path if it is quoted as for a shell", async () => {
  await commandLine.store(item(ids.one, '"Name":"milk"'));
  const editor = executable("my editor", 'sed -i "s/milk/$1/" "$3"');
  for (const [name, quoted] of [
    ["one", `"${editor}"`],
    ["two", `'${editor}'`],
    ["three", editor.replaceAll(" ", "\\ ")],
    ["four", '"$HOME/my editor"'],
    ["five", `MODE=1 "${editor}"`],
  ]) {
    const environment = { EDITOR: `${quoted} ${name} --wait` };
    expect(await commandLine.run("edit", ["1111"], environment)).toMatchObject({ exitCode: 0, stderr: "" });
    expect(await commandLine.service.list()).toBe(`[${item(ids.one, `"Name":"${name}"`)}]`);
    await commandLine.run("edit", ["1111", "-f", "Name=milk"]);
  }
});

test("Ctrl-C while the editor is open reaches the editor only, and what it saves then is stored", async () => {
  await commandLine.store(item(ids.one, '"Name":"milk"'));
  const save = 'sed -i s/milk/mine/ "$1"; exit 0';
  const editor = executable("patient", `trap '${save}' INT\necho open\nread line`);
  const { exitCode } = await commandLine.runInTerminal("edit", ["1111"], {
    environment: { EDITOR: editor },
    answers: [["open", "\u0003"]],
  });
  expect({ exitCode, list: await commandLine.service.list() }).toEqual({
    exitCode: 0,
    list: `[${item(ids.one, '"Name":"mine"')}]`,
  });
});

test("changes of two people are combined field by field, and the own change wins", () => {
  const base = '{"ID":"1","a":1,"b":2,"c":3}';
  const theirs = '{"ID":"1","a":1,"b":5,"d":null}';
  expect(mergeFields(base, '{"ID":"1","a":9,"b":2,"c":3,"e":""}', theirs)).toMatchObject({
    json: '{"ID":"1","a":9,"b":5,"e":"","d":null}',
    conflicts: [],
  });
  expect(mergeFields(base, '{"ID":"1","a":1,"b":6,"c":4}', theirs).conflicts).toEqual(["b", "c"]);
  expect(describeChanges(base, theirs)).toEqual(["  b: 2 → 5", "  c: 3 → (no field)", "  d: (no field) → null"]);
});

describe("an item whose app calls the name title and the mark completed", () => {
  const app = item(ids.one, '"title":"milk","completed":true');
  beforeEach(() => commandLine.store(app));

  test("--name changes the field that holds the name", async () => {
    expect(await commandLine.run("edit", ["1111", "--name", "oat milk"])).toMatchObject({
      exitCode: 0,
      stdout: "Changed: oat milk (11111111)\n",
      stderr: "",
    });
    expect(await commandLine.service.list()).toBe(`[${app.replace("milk", "oat milk")}]`);
  });

  test("--name adds the field Name to an item without a name", async () => {
    await commandLine.clear();
    await commandLine.store(item(ids.one, '"Price":1'));
    await commandLine.run("edit", ["1111", "--name", "milk"]);
    expect(await commandLine.service.list()).toBe(`[${item(ids.one, '"Price":1,"Name":"milk"')}]`);
  });

  test("--name together with the field that holds the name is refused", async () => {
    expect(await commandLine.run("edit", ["1111", "--name", "a", "-f", "Title=b"])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("The field Title is given twice."),
    });
  });

  test("a second field for the name is stored as asked, with a warning", async () => {
    expect(await commandLine.run("edit", ["1111", "-f", "Name=bread"])).toMatchObject({
      exitCode: 0,
      stderr:
        "warning: This item keeps its name in the field title, which is unchanged. Now it has a field Name, too. To change the name, use --name TEXT\n",
    });
    expect(await commandLine.service.list()).toContain('"title":"milk","completed":true,"Name":"bread"');
    expect((await commandLine.run("edit", ["1111", "-f", "Name=rolls"])).stderr).toBe("");
  });

  test("a second mark is stored as asked, with a warning", async () => {
    expect(await commandLine.run("edit", ["1111", "-f", "Done=no"])).toMatchObject({
      exitCode: 0,
      stderr:
        "warning: This item keeps its mark for done in the field completed, which is unchanged. Now it has a field Done, too. To change the mark, use todoitems done ID or todoitems done ID --undo\n",
    });
    expect(await commandLine.service.list()).toContain('"completed":true,"Done":false');
  });

  test("the fields that hold the name and the mark are changed without a warning", async () => {
    expect((await commandLine.run("edit", ["1111", "-f", "Title=bread", "-f", "completed=no"])).stderr).toBe("");
    expect(await commandLine.service.list()).toBe(`[${item(ids.one, '"title":"bread","completed":false')}]`);
  });

  test("add gives an item no Done if another field marks it", async () => {
    await commandLine.clear();
    await commandLine.run("add", ["Task", "-f", "completed=yes"]);
    expect(await commandLine.service.list()).toEndWith('"Name":"Task","completed":true}]');
    expect((await commandLine.run("list")).stdout).toContain("✓");
  });
});
