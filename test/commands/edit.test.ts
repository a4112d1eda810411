// `todoitems edit` when two people edit one item: nobody's change is lost.

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { combineChanges, describeChanges } from "../../src/commands/field-changes.ts";
import { ids, item } from "../service.ts";
import { CommandLine } from "./command-line.ts";

let commandLine: CommandLine;
beforeAll(async () => {
  commandLine = await CommandLine.start();
});
beforeEach(() => commandLine.clear());
afterAll(() => commandLine.dispose());

/**
 * An editor that changes `Name` to "mine". The first time it runs, somebody else changes the item meanwhile. It keeps a
 * copy of what it was given.
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
      "Somebody else changed this item in the meantime:",
      "  Price: 1.0 → 1.50",
      "  Shop: a → (no field)",
      "  Due: (no field) → soon",
      "Edit again, with their changes and yours? ",
    ].join("\n"),
  });
  expect(JSON.parse(readFileSync(commandLine.path("seen"), "utf8"))).toMatchObject({ Name: "mine", Due: "soon" });
  expect(await commandLine.service.list()).toBe(`[${item(ids.one, '"Name":"mine","Price":1.50,"Due":"soon"')}]`);
});

test("whoever does not want to edit again finds the text in a file, and the other person's change is kept", async () => {
  await commandLine.store(item(ids.one, '"Name":"milk"'));
  const theirs = item(ids.one, '"Name":"theirs"');
  const { exitCode, output } = await commandLine.runInTerminal("edit", ["1111"], {
    environment: { EDITOR: editorBeside(theirs) },
    answers: [["[Y/n]", "n\n"]],
    columns: 200,
  });
  const [, path = ""] = /error:\S* The item was not changed\. Your text is in (\S+)/.exec(output) ?? [];
  expect({ exitCode, isKept: existsSync(path), list: await commandLine.service.list() }).toEqual({
    exitCode: 1,
    isKept: true,
    list: `[${theirs}]`,
  });
});

test("edit of an item that somebody deleted meanwhile says so, and keeps the text in a file", async () => {
  await commandLine.store(item(ids.one, '"Name":"milk"'));
  const remove = `curl -s -X DELETE ${commandLine.service.origin}/api/todoitems/${ids.one}; sed -i s/milk/mine/`;
  expect(await commandLine.run("edit", ["1111"], { EDITOR: remove })).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/^error: Somebody deleted the item in the meantime\. Your text is in /),
  });
});

test("changes of two people are combined field by field, and the own change wins", () => {
  const base = '{"ID":"1","a":1,"b":2,"c":3}';
  const theirs = '{"ID":"1","a":1,"b":5,"d":null}';
  expect(combineChanges(base, '{"ID":"1","a":9,"b":2,"c":3,"e":""}', theirs)).toBe(
    '{"ID":"1","a":9,"b":5,"e":"","d":null}',
  );
  expect(describeChanges(base, theirs)).toEqual(["  b: 2 → 5", "  c: 3 → (no field)", "  d: (no field) → null"]);
});
