// The commands that read and change items, on a real service.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { eventually } from "../eventually.ts";
import { runProgram } from "../program.ts";
import { ids, item } from "../service.ts";
import { CommandLine, Watching } from "./command-line.ts";

let commandLine: CommandLine;
beforeAll(async () => {
  commandLine = await CommandLine.start();
});
beforeEach(() => commandLine.clear());
afterAll(() => commandLine.dispose());

/** Runs the command, and fails unless it succeeds. Returns what it prints. */
async function run(...words: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await commandLine.run(words);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  return stdout;
}

/** Runs a command that fails. */
async function failure(...words: string[]): Promise<{ exitCode: number; stderr: string }> {
  const { exitCode, stdout, stderr } = await commandLine.run(words);
  expect(stdout).toBe("");
  return { exitCode, stderr };
}

const stored = () => commandLine.service.list();

describe("add", () => {
  test("stores a name of several words, notes, and fields with exact JSON values", async () => {
    const stdout = await run("add", "Buy", "milk", "-n", "2 litres", "--field", "Price:= 1.50", "-f", "Shop=7");
    expect(stdout).toMatch(/^Added: Buy milk \([0-9a-f]{8}\)\n$/);
    expect(await stored()).toMatch(
      /^\[\{"ID":"[^"]+","Name":"Buy milk","Notes":"2 litres","Done":false,"Price":1\.50,"Shop":"7"\}\]$/,
    );
  });

  test("adds no Done if another field marks the item, and needs no name if there are fields", async () => {
    expect(await run("add", "--field", "title=x", "--field", "completed:=true", "--json")).toMatch(
      /^\{"id":"[^"]+","title":"x","completed":true\}\n$/,
    );
  });

  test("refuses a blank name, a field without a sign and a value that is not JSON, and stores nothing", async () => {
    for (const words of [[], [" "], ["x", "--field", "Price"], ["x", "--field", "Price:=cheap"], ["x", "-f", "a =1"]])
      expect((await failure("add", ...words)).exitCode).toBe(2);
    expect(await stored()).toBe("[]");
  });

  test("an ID that is taken is refused in words for people", async () => {
    await commandLine.store(item(ids.one));
    expect(await failure("add", "x", "--field", `ID=${ids.one}`)).toEqual({
      exitCode: 1,
      stderr: expect.stringContaining("An item with this ID exists already"),
    });
  });
});

describe("list", () => {
  test("shows a tick, a short ID, the name and the notes, whatever the app calls these fields", async () => {
    await commandLine.store(
      item("abcd1111-0000-4000-8000-000000000000", '"title":"牛乳","note":"two\\nlines","completed":1'),
      item("abcd1222-0000-4000-8000-000000000000", '"Name":"Buy \\u001b[2J milk","Price":1.50'),
      item(ids.two, '"Count":3'),
    );
    expect(await run("list")).toBe(
      "✓  ID      Name           Notes\n✓  abcd11  牛乳           two⏎lines\n   abcd12  Buy �[2J milk\n   222222\n",
    );
  });

  test("--open, --done and --search choose items, and --json prints them as they are stored", async () => {
    const [one, two] = [item(ids.one, '"Name":"Äpfel","Done":true'), item(ids.two, '"Name":"x","Tags":["ÄPFEL",1.50]')];
    await commandLine.store(one, two);
    expect(await run("list", "--json")).toBe(`${one}\n${two}\n`);
    expect(await run("list", "--done", "--json")).toBe(`${one}\n`);
    expect(await run("list", "--open", "--json")).toBe(`${two}\n`);
    expect(await run("ls", "--search", "äPFEL", "--json")).toBe(`${one}\n${two}\n`);
    expect(await run("list", "--search", "1.50", "--json")).toBe(`${two}\n`);
    expect((await commandLine.run(["list", "--search", "pears"])).stderr).toBe("No item matches.\n");
  });

  test("of an empty store it says how to add the first item", async () => {
    expect((await commandLine.run(["list"])).stderr).toContain("Add one with: todoitems add NAME");
  });

  test("fits the terminal, and dims what is done", async () => {
    await commandLine.store(
      item(ids.one, `"Name":"${"name ".repeat(20)}","Notes":"${"notes ".repeat(20)}","Done":true`),
    );
    const { output } = await commandLine.runInTerminal(["list"], { columns: 50 });
    expect(output).toContain("\n\u001b[2m✓  1111  name ");
    expect(output.split("\n").map((line) => Bun.stringWidth(line))).toEqual([41, 50, 0]);
  });
});

describe("an ID", () => {
  beforeEach(() =>
    commandLine.store(
      item("abcd1111-0000-4000-8000-000000000000", '"Name":"Buy milk"'),
      item("abcd2222-0000-4000-8000-000000000000", '"Name":"Call Bob"'),
      item("dddd3333-0000-4000-8000-000000000000", '"Name":"Call Bob"'),
      item("eeee4444-0000-4000-8000-000000000000", '"Name":"dddd"'),
    ),
  );

  test("may be a whole ID, a beginning of one, or a name, each in any letter case", async () => {
    for (const word of ["ABCD1111-0000-4000-8000-000000000000", "AbCd1", "Buy milk", "buy MILK"])
      expect(await run("show", word)).toMatch(/Name {2}Buy milk\n$/);
  });

  test("that fits two items is refused with both, and nothing is changed", async () => {
    for (const [word, ...both] of [
      ["abcd", "abcd1111", "abcd2222"],
      ["Call Bob", "abcd2222", "dddd3333"],
      ["call bob", "abcd2222", "dddd3333"],
      ["dddd", "dddd3333", "eeee4444"],
    ] as const) {
      const { exitCode, stderr } = await failure("remove", "Buy milk", word);
      expect(exitCode).toBe(2);
      for (const id of both) expect(stderr).toContain(`  ${id}-0000-4000-8000-000000000000  `);
    }
    expect(JSON.parse(await stored())).toHaveLength(4);
  });

  test("that no item has is named, and nothing is changed", async () => {
    for (const word of ["Buy", ids.one, "ffff"])
      expect(await failure("remove", "Buy milk", word)).toEqual({ exitCode: 1, stderr: expect.stringContaining(word) });
    expect((await failure("show", "")).exitCode).toBe(2);
    expect(JSON.parse(await stored())).toHaveLength(4);
  });

  test("that is the exact name of one item is that item, even if another name differs only in letter case", async () => {
    await commandLine.store(item(ids.one, '"Name":"buy milk"'));
    expect(await run("rm", "buy milk")).toBe("Removed: buy milk (11111111)\n");
    expect(await run("rm", "BUY MILK")).toBe("Removed: Buy milk (abcd1111)\n");
  });

  test("that is given twice counts once", async () => {
    expect(await run("rm", "abcd1", "Buy milk", "ABCD1")).toBe("Removed: Buy milk (abcd1111)\n");
  });
});

test("show, which never changes anything, does not say that it changed nothing", async () => {
  for (const words of [
    ["show", "nosuch"],
    ["help", "show"],
  ]) {
    const { stdout, stderr } = await commandLine.run(words);
    expect(stdout + stderr).not.toContain("change");
  }
});

test("show prints every field, and keeps the quotes of a text that would look like another value", async () => {
  await commandLine.store(item(ids.one, '"Name":"a\\u202eb","n":1.50,"text":"1.50","deep":{"a":[1]}'));
  expect(await run("show", "1111")).toBe(
    `  ID    ${ids.one}\n  Name  a�b\n  n     1.50\n  text  "1.50"\n  deep  {\n          "a": [\n            1\n          ]\n        }\n`,
  );
  expect(await run("show", "1111", "--json")).toBe(`${(await stored()).slice(1, -1)}\n`);
});

describe("done and remove", () => {
  test("done keeps the name and the kind of the mark, and every other digit", async () => {
    await commandLine.store(
      item(ids.one, '"completed":0,"n":1.50'),
      item(ids.two, '"isDone":"false"'),
      item(ids.three),
    );
    await run("complete", "1111", "2222", "3333");
    const marks = async () =>
      [...(await stored()).matchAll(/"(?:completed|isDone|Done)":[^,}]*/g)].map(([mark]) => mark);
    expect(await marks()).toEqual(['"completed":1', '"isDone":"true"', '"Done":true']);
    expect(await run("done", "1111", "--undo")).toBe("Not done: (11111111)\n");
    expect(await stored()).toContain('"completed":0,"n":1.50');
  });

  test("remove --done deletes all items that are done, and no other", async () => {
    await commandLine.store(item(ids.one, '"Done":true'), item(ids.two), item(ids.three, '"completed":1'));
    expect(await run("delete", "--done", "--json")).toBe(`{"ID":"${ids.one}"}\n{"ID":"${ids.three}"}\n`);
    expect(await stored()).toBe(`[${item(ids.two)}]`);
    expect((await commandLine.run(["remove", "--done"])).stderr).toBe("No item is done.\n");
    expect((await failure("remove", "--done", "2222")).exitCode).toBe(2);
    expect((await failure("remove")).exitCode).toBe(2);
  });
});

describe("edit", () => {
  const edit = (editor: string) => commandLine.run(["edit", "1111"], { EDITOR: editor });
  const draftIn = (stderr: string) => readFileSync(/Your text is in (.*)$/m.exec(stderr)?.[1] ?? "none", "utf8");

  /** An editor that is a shell script. */
  function script(text: string): string {
    const path = commandLine.path("an editor");
    writeFileSync(path, `#!/bin/sh\n${text}\n`);
    chmodSync(path, 0o755);
    return `'${path}'`;
  }

  test("flags change only these fields, and find them as the item spells them", async () => {
    await commandLine.store(item(ids.one, '"title":"a","price":1.50,"description":"x","n":1.0'));
    const words = ["--name", "b", "--notes", "y", "--field", "Price:=2.50", "--field", "New=z"];
    expect(await run("edit", "a", ...words)).toBe("Changed: b (11111111)\n");
    expect(await stored()).toBe(`[${item(ids.one, '"title":"b","price":2.50,"description":"y","n":1.0,"New":"z"')}]`);
    expect((await failure("edit", "1111", "--field", `ID=${ids.two}`)).exitCode).toBe(2);
    expect((await failure("edit", "1111", "--name", " ")).exitCode).toBe(2);
  });

  test("of two names that differ only in letter case, a flag changes the one that is given", async () => {
    await commandLine.store(item(ids.one, '"price":1,"Price":2'));
    await run("edit", "1111", "--field", "Price:=3");
    expect(await stored()).toBe(`[${item(ids.one, '"price":1,"Price":3')}]`);
  });

  test("without flags it opens the editor on indented JSON once, and stores the edited text", async () => {
    await commandLine.store(item(ids.one, '"Name":"milk","n":1.50'));
    const { exitCode, stdout } = await edit(script(`cp "$1" "${commandLine.path("seen")}"; sed -i s/milk/bread/ "$1"`));
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "Changed: bread (11111111)\n" });
    expect(readFileSync(commandLine.path("seen"), "utf8")).toBe(
      `{\n  "ID": "${ids.one}",\n  "Name": "milk",\n  "n": 1.50\n}\n`,
    );
    expect(await stored()).toBe(`[${item(ids.one, '"Name":"bread","n":1.50')}]`);
    expect((await edit("true")).stderr).toContain("nothing was changed");
  });

  test("without flags, an editor and a terminal, it is refused with the flags", async () => {
    await commandLine.store(item(ids.one));
    const environment = { ...commandLine.environment, VISUAL: "", EDITOR: "" };
    expect(await runProgram("edit", { args: ["1111"], environment })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("--name, --notes or --field"),
    });
  });

  test("a text that cannot be stored stays in a file that the message names, and the item as it was", async () => {
    await commandLine.store(item(ids.one, '"Name":"milk"'));
    for (const [editor, reason] of [
      ["sed -i s/}//", "The text is not a JSON object"],
      [`sed -i s/${ids.one}/${ids.two}/`, "The ID of an item cannot be changed"],
      ["false", "failed with exit code"],
      [script(`printf '{"ID":"%s","Name":"\\377"}' ${ids.one} > "$1"`), "The text is not a JSON object"],
    ] as const) {
      const { exitCode, stderr } = await edit(editor);
      expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining(reason) });
      expect(draftIn(stderr)).toContain("{");
    }
    expect(await stored()).toBe(`[${item(ids.one, '"Name":"milk"')}]`);
  });

  test("somebody else's change is not overwritten, and the text stays in a file", async () => {
    await commandLine.store(item(ids.one, '"Name":"milk"'));
    const theirs = item(ids.one, '"Name":"theirs"');
    const address = `${commandLine.service.origin}/api/todoitems/`;
    const request = `curl -s -X PUT -H 'Content-Type: application/json' -d '${theirs}' ${address}`;
    const { exitCode, stderr } = await edit(script(`${request}; sed -i s/milk/mine/ "$1"`));
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining("Somebody else changed") });
    expect(draftIn(stderr)).toContain("mine");
    expect(await stored()).toBe(`[${theirs}]`);
  });
});

test("watch prints changes until it is interrupted, then exits with 0", async () => {
  await commandLine.store(item(ids.one, '"Name":"old"'));
  const watching = new Watching([], commandLine.environment);
  const { output } = watching;
  await eventually(() => output.stdout.includes("1 item on the list"));
  await commandLine.store(item(ids.two, '"Name":"new\\u001b[2J","Done":true'));
  await commandLine.service.fetch(`/api/todoitems/${ids.one}`, { method: "DELETE" });
  await eventually(() => output.stdout.includes("- 11111111  old"));
  expect(await watching.stop()).toBe(0);
  expect(output.stdout).toContain("+ 22222222  ✓ new�[2J\n");
  expect(output.stderr).toContain("Connected.");
});

describe("a read-only service", () => {
  let demo: CommandLine;
  beforeAll(async () => {
    demo = await CommandLine.start("--read-only", "--seed", await seed());
  });
  afterAll(() => demo.dispose());

  async function seed(): Promise<string> {
    await Bun.write(commandLine.path("seed.json"), `[${item(ids.one, '"Done":true')}]`);
    return commandLine.path("seed.json");
  }

  for (const words of [
    ["add", "x"],
    ["done", ids.one, "--undo"],
    ["edit", ids.one, "--name", "y"],
    ["edit", ids.one],
    ["remove", ids.one],
    ["remove", "--done"],
    ["import", "seed.json", "--on-conflict", "replace"],
  ])
    test(`${words.join(" ")} reports no success, and exits with 4`, async () => {
      writeFileSync(demo.path("seed.json"), `[${item(ids.one)}]`);
      expect(await demo.run(words, { EDITOR: "sed -i s/true/false/" })).toEqual({
        exitCode: 4,
        stdout: "",
        stderr: expect.stringContaining("is read-only: it accepted this, but stored nothing."),
      });
    });
});
