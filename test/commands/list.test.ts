// `todoitems list`: the tick comes first, the name is wide, sparse columns are hidden, and done rows are dimmed in a
// terminal. --open and --done choose which items are shown.

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { CommandLine } from "./command-line.ts";

let commandLine: CommandLine;
beforeAll(async () => {
  commandLine = await CommandLine.start();
});
beforeEach(() => commandLine.clear());
afterAll(() => commandLine.dispose());

const id = (digit: number) => `${String(digit).repeat(8)}-0000-4000-8000-000000000000`;
const item = (digit: number, fields: string) => `{"ID":"${id(digit)}",${fields}}`;

test("list shows a tick first, dims what is done, and keeps the name wide at the cost of other columns", async () => {
  const notes = "a long text that says more about the item than anybody wants to read in a list";
  await commandLine.store(
    item(1, `"Notes":"${notes}","Name":"Buy milk and bread and butter","Done":true`),
    item(2, `"Notes":"${notes}","Name":"Call Bob","Done":false`),
  );
  const { output } = await commandLine.runInTerminal("list");
  expect(output).toBe(
    [
      "\u001b[1m✓  ID    Name                           Notes\u001b[22m",
      "\u001b[2m✓  1111  Buy milk and bread and butter  a long text that sa…\u001b[22m",
      "   2222  Call Bob                       a long text that sa…",
      "",
    ].join("\n"),
  );
});

test("list hides columns that few items have, says which, and shows them with --columns", async () => {
  await commandLine.store(
    item(1, '"Name":"one","Done":false,"Price":1.50,"Notes":""'),
    ...[2, 3, 4, 5].map((digit) => item(digit, '"Name":"x","Done":false,"Due":"2030-01-01"')),
  );
  const { stdout, stderr } = await commandLine.run("list");
  expect(stdout.split("\n")[0]).toBe("✓  ID    Name  Due");
  expect(stderr).toBe("Hidden columns: Price, Notes. Use --columns to choose columns.\n");
  expect((await commandLine.run("list", ["--columns", "name, price,"])).stdout.split("\n").slice(0, 3)).toEqual([
    "Name  Price",
    "one   1.50",
    "x",
  ]);
  expect((await commandLine.run("list", ["--columns", "name", "--columns", "price"])).stdout).toBe(
    (await commandLine.run("list", ["--columns", "name,price"])).stdout,
  );
  expect(await commandLine.run("list", ["--columns", ","])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("--columns: needs field names, as in --columns ID,Name."),
  });
  expect(await commandLine.run("list", ["--columns", "Pric"])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("Did you mean Price?"),
  });
});

test("in a column, true is a tick and false is empty, as in the first column, and the help says so", async () => {
  await commandLine.store(item(1, '"Name":"one","Done":true'), item(2, '"Name":"two","Done":false'));
  expect((await commandLine.run("list", ["--columns", "Name,Done"])).stdout).toBe("Name  Done\none   ✓\ntwo\n");
  expect((await commandLine.run("help", ["list"])).stdout).toContain(
    "✓ means true, and an empty cell false or no value",
  );
});

test("a done mark may be a number or a text, as other apps write it", async () => {
  const done = [item(1, '"Done":1'), item(2, '"Done":"true"')];
  const open = [item(3, '"Done":0'), item(4, '"Done":"false"')];
  await commandLine.store(...done, ...open);
  expect((await commandLine.run("list", ["--done", "--json"])).stdout).toBe(`${done.join("\n")}\n`);
  expect((await commandLine.run("list", ["--open", "--json"])).stdout).toBe(`${open.join("\n")}\n`);
});

test("--open and --done choose items, also as JSON, and an ID is as long as all items need", async () => {
  const [open, done] = [
    item(1, '"Name":"open","Done":false'),
    '{"id":"11112222-0000-4000-8000-000000000000","isDone":true}',
  ];
  await commandLine.store(open, done);
  expect((await commandLine.run("list", ["--open", "--json"])).stdout).toBe(`${open}\n`);
  expect((await commandLine.run("list", ["--done", "--json"])).stdout).toBe(`${done}\n`);
  expect((await commandLine.run("list", ["--done"])).stdout).toContain("✓  11112");
  await commandLine.run("done", [id(1)]);
  expect((await commandLine.run("list", ["--open"])).stderr).toBe("All items are done.\n");
  expect(await commandLine.run("list", ["--open", "--done"])).toMatchObject({ exitCode: 2 });
});

test("the items of two apps share one column of names, whatever each app calls that field", async () => {
  await commandLine.store(
    item(1, '"Name":"one","Notes":"n"'),
    item(2, '"Name":"two","Notes":"n"'),
    item(3, '"title":"First from app","completed":true'),
  );
  const { stdout, stderr } = await commandLine.run("list");
  expect(stdout.split("\n")).toEqual([
    "✓  ID    Name            Notes",
    "   1111  one             n",
    "   2222  two             n",
    "✓  3333  First from app",
    "",
  ]);
  expect(stderr).toBe("");
  expect((await commandLine.run("list", ["--columns", "name"])).stdout).toBe("Name\none\ntwo\nFirst from app\n");
  expect((await commandLine.run("list", ["--columns", "title"])).stdout).toBe("title\n\n\nFirst from app\n");
});

test("the column of names has the title that most items use, and --columns Name shows it", async () => {
  await commandLine.store(item(1, '"Name":"one"'), item(2, '"title":"two"'), item(3, '"Title":"three"'));
  const { stdout } = await commandLine.run("list");
  expect(stdout.split("\n").slice(0, 2)).toEqual(["✓  ID    title", "   1111  one"]);
  expect((await commandLine.run("list", ["--columns", "Name"])).stdout).toBe("title\none\ntwo\nthree\n");
});

test("--columns Done shows each item's done-mark, whatever its app calls that field", async () => {
  await commandLine.store(
    item(1, '"title":"one","completed":true'),
    item(2, '"title":"two","completed":false'),
    item(3, '"Name":"three","Done":true'),
  );
  expect((await commandLine.run("list", ["--columns", "Name,Done"])).stdout).toBe(
    "title  completed\none    ✓\ntwo\nthree  ✓\n",
  );
});

test("if an item has two fields for a name, the second one is an ordinary column", async () => {
  await commandLine.store(item(1, '"Title":"Dr","Name":"Ann"'), item(2, '"Title":"Only a title"'));
  const { stdout } = await commandLine.run("list");
  expect(stdout.split("\n")).toEqual([
    "✓  ID    Name          Title",
    "   1111  Ann           Dr",
    "   2222  Only a title",
    "",
  ]);
});

test("if an item has two marks for done, the second one is an ordinary column", async () => {
  await commandLine.store(item(1, '"Name":"a","Done":false,"completed":true'), item(2, '"Name":"b","Done":true'));
  const { stdout } = await commandLine.run("list");
  expect(stdout.split("\n")).toEqual(["✓  ID    Name  completed", "   1111  a     ✓", "✓  2222  b", ""]);
  await commandLine.store(...[3, 4, 5, 6].map((number) => item(number, '"Name":"c","Done":false')));
  expect((await commandLine.run("list")).stderr).toContain("Hidden columns: completed.");
});

test("list --columns ID,Name,Notes, which the advice for searching names, also works if no item has notes", async () => {
  await commandLine.clear();
  await commandLine.store('{"Name":"Buy milk"}');
  expect(await commandLine.run("list", ["--columns", "ID,Name,Notes"])).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining("Buy milk"),
  });
});
