// `todoitems import`: it keeps the order of the file although it sends several items at once, and it refuses what it
// cannot read.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { Program, runProgram } from "../program.ts";
import { ids, item } from "../service.ts";
import { CommandLine } from "./command-line.ts";

let commandLine: CommandLine;
beforeAll(async () => {
  commandLine = await CommandLine.start();
});
beforeEach(() => commandLine.clear());
afterAll(() => commandLine.dispose());

function importText(name: string, text: string | Uint8Array, ...args: string[]) {
  writeFileSync(commandLine.path(name), text);
  return commandLine.run("import", [commandLine.path(name), ...args]);
}

const idOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const lines = (count: number) => Array.from({ length: count }, (_, n) => item(idOf(n), `"N":${n}`));

/**
 * A proxy that collects creates until no more come, and then passes them on one by one in reverse order. It records the
 * largest number of creates that it held at once.
 */
function reversingProxy() {
  let waiting: (() => Promise<void>)[] = [];
  let timer: Timer | undefined;
  let atOnceMax = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { method, headers } = request;
      const body = await request.text();
      const forward = () =>
        commandLine.service.fetch(new URL(request.url).pathname, { method, headers, ...(body === "" ? {} : { body }) });
      if (method !== "POST") return forward();
      return new Promise<Response>((resolve) => {
        waiting.push(async () => resolve(await forward()));
        clearTimeout(timer);
        timer = setTimeout(release, 20);
      });
    },
  });
  async function release() {
    const creates = waiting.toReversed();
    waiting = [];
    atOnceMax = Math.max(atOnceMax, creates.length);
    for (const create of creates) await create();
  }
  return { server, atOnceMax: () => atOnceMax };
}

describe("order", () => {
  test("an import sends many items at once, and keeps their order even if they arrive reversed", async () => {
    const { server, atOnceMax } = reversingProxy();
    const all = lines(60);
    const { exitCode, stderr } = await importText("many.ndjson", all.join("\n"), "--server", server.url.href);
    await server.stop(true);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("60 created") });
    expect(atOnceMax()).toBeGreaterThan(1);
    expect(await commandLine.service.list()).toBe(`[${all.join(",")}]`);
  });

  test("if the service refuses an item, the items after it are not stored", async () => {
    const all = lines(40);
    all[20] = '{"ID":"not a UUID"}';
    expect(await importText("refused.ndjson", all.join("\n"))).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(
        /^error: The service refused line 21: .*\nStopped after 20 items: 20 created, .* No other item was created\. Once that is fixed/,
      ),
    });
    expect(await commandLine.service.list()).toBe(`[${all.slice(0, 20).join(",")}]`);
  });

  test("if the first item is refused, or the service does not answer, the message says that no item is stored", async () => {
    expect(await importText("first.ndjson", '{"ID":"not a UUID"}')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/^error: The service refused line 1: .*\nNo item was stored\.\n$/),
    });
    expect(await importText("silent.ndjson", item(ids.one), "--server", "127.0.0.1:1")).toMatchObject({
      exitCode: 3,
      stderr: expect.stringMatching(/^error: .*\nNo item is known to be stored\. Run the same command again/),
    });
  });

  test("if the address is wrong, the message is about the address and not about the first item", async () => {
    const elsewhere = `${commandLine.service.origin}/elsewhere/`;
    expect(await importText("elsewhere.ndjson", item(ids.one), "--server", elsewhere)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("there are no to-do items at this address. Check the address"),
    });
  });

  test("of two items with one ID, --on-conflict replace keeps the last", async () => {
    const text = ["a", "b", "c", "d"].map((name) => item(ids.one, `"Name":"${name}"`)).join("\n");
    const { stderr } = await importText("same.ndjson", `${item(ids.two)}\n${text}`, "--on-conflict", "replace");
    expect(stderr).toContain("Imported 5 items: 2 created, 0 already present, 3 replaced");
    expect(await commandLine.service.list()).toBe(`[${item(ids.two)},${item(ids.one, '"Name":"d"')}]`);
  });
});

describe("CSV of other programs", () => {
  const stored = `[{"ID":"${ids.one}","Name":"milk, bread","Done":true,"Price":"1,50"}]`;
  for (const [name, text] of Object.entries({
    commas: `ID,Name,Done,Price\n${ids.one},"milk, bread",true,"1,50"\n`,
    semicolons: `ID;Name;Done;Price\r\n${ids.one};milk, bread;TRUE;1,50\r\n`,
    "semicolons and a byte-order mark": `\uFEFF"ID";"Name";"Done";"Price"\r\n${ids.one};"milk, bread";TRUE;1,50`,
    "a line that declares the separator": `sep=;\r\nID;Name;Done;Price\r\n${ids.one};milk, bread;TRUE;1,50\r\n`,
    "lines of empty cells": `ID,Name,Done,Price\n${ids.one},"milk, bread",yes,"1,50"\n,,,\n,,\n`,
    "columns without a name and without content": `ID,,Name,Done,Price, ,\n${ids.one},,"milk, bread",true,"1,50",,\n`,
    tabs: `ID\tName\tDone\tPrice\n${ids.one}\tmilk, bread\ttrue\t1,50`,
  }))
    test(`import reads CSV with ${name}`, async () => {
      expect(await importText("table.csv", text)).toMatchObject({ exitCode: 0 });
      expect(await commandLine.service.list()).toBe(stored);
    });

  for (const [text, message] of [
    ["sep=,\nName,Notes\na,b\nc,d,e\n", "line 4: there are 3 cells, but the first line names 2 columns"],
    ["Name,Notes\na,b\nc,d,e\n", "line 3: there are 3 cells, but the first line names 2 columns"],
    ['Name,Notes\n"a\nb",c\n"d,e\n', "line 4: a quote is opened here and never closed"],
    ['Name,Notes\n"a"b,c\n', "line 2: there is text after the closing quote of a cell"],
    ["Buy milk,false\nBuy bread,true\n", "line 1: false is a value and not the name of a field. The first line must"],
    [`${ids.one},Buy milk\n`, `line 1: ${ids.one} is a value and not the name of a field`],
    ["Name,Name\na,b\n", "line 1: two columns are called Name"],
    [
      "Task,,Name\na,,b\nc,d,e\n",
      "line 3: column 2 has content, but no name in the first line. Give it a name there, or delete the column",
    ],
    ["Name, \na,b\n", "line 2: column 2 has content, but no name in the first line"],
  ] as const)
    test(`import refuses CSV with a mistake: ${message}`, async () => {
      const { exitCode, stderr } = await importText("wrong.csv", text);
      expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining(`wrong.csv, ${message}`) });
    });
});

test("a field with an empty or blank name, or with quotes in its name, survives an export to CSV and an import", async () => {
  const fields = { "": 1, " ": 2, '""': 3, '"a"': 4, '"b': 5, '"': 6 };
  await commandLine.store(JSON.stringify({ ID: ids.one, Name: "milk", ...fields }));
  const before = await commandLine.service.list();
  const file = commandLine.path("odd-names.csv");
  await commandLine.run("export", [file]);
  await commandLine.clear();
  expect(await commandLine.run("import", [file])).toMatchObject({ exitCode: 0 });
  expect(await commandLine.service.list()).toBe(before);
});

describe("CSV without a usual column", () => {
  test("the message shows what is taken for names, and what a line of names looks like", async () => {
    const { exitCode, stderr } = await importText("texts.csv", "Buy milk,soon\nBuy bread,later\n");
    expect(exitCode).toBe(0);
    expect(stderr).toStartWith(
      "warning: Line 1 is taken for the names of the fields: Buy milk, soon. The first line must name the fields, as in: ID,Name,Notes,Done.",
    );
  });

  test("a column may be called like a value if there is a usual column", async () => {
    const { exitCode, stderr } = await importText("years.csv", "Name,2026,true\nrent,5,6\n");
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.stringMatching(/^Imported 1 item/) });
  });
});

describe("JSON", () => {
  for (const [name, text, message] of [
    ["wrong.ndjson", '{"Name":"a"}\n\n{"Name":\n', "wrong.ndjson, line 3: "],
    ["wrong.json", '[{"Name":"a"},{"Name":]', "wrong.json, item 2: "],
    ["one.json", '{"Name":"a"}', "An array of items was expected"],
    ["empty.json", "", "An array of items was expected"],
    ["a.json.gz", Bun.gzipSync("[]"), "a.json.gz cannot be read: it is compressed. Unpack it first, for example with"],
    ["table.csv", new Uint8Array([0x50, 0x4b, 0x03, 0x04, 0x14]), "it is a ZIP archive or a spreadsheet."],
    ["utf-16.json", Buffer.from("\ufeff[]", "utf16le"), "it is UTF-16 text. Save it as UTF-8."],
    ["utf-16.csv", Buffer.from("Name\nmilk\n", "utf16le"), "it is not UTF-8 text. Save it as UTF-8."],
    ["latin1.csv", new Uint8Array([0x4e, 0x0a, 0xe4, 0x0a]), "is not UTF-8 text. Save it as UTF-8"],
  ] as const)
    test(`import of ${name} says what is wrong: ${message}`, async () => {
      const { exitCode, stderr } = await importText(name, text);
      expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining(message) });
    });
});

test("if the progress cannot be saved, an import warns, and still says why it stopped", async () => {
  mkdirSync(commandLine.path("locked.json.import-progress"));
  expect(await importText("locked.json", '[{"Name":"milk"},{"ID":7}]')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(
      /^warning: The progress of the import cannot be saved: it is a folder, not a file\. .*\nerror: The service refused item 2: .*\nStopped after 1 item: /,
    ),
  });
});

test("an import that stopped begins again if the service has another store now", async () => {
  const args = ["--port", "0", "--store", "memory:"];
  const strict = await Program.start({ args: [...args, "--require", "Name,Notes"] });
  const other = await Program.start({ args });
  let target = strict;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => target.fetch(new URL(request.url).pathname, new Request(request)),
  });
  const text = '[{"Name":"a","Notes":"n"},{"Name":"b"},{"Name":"c","Notes":"n"}]';
  writeFileSync(commandLine.path("mix.json"), text);
  const run = () => commandLine.run("import", [commandLine.path("mix.json")], { TODOITEMS_SERVER: server.url.origin });
  expect(await run()).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("Stopped after 1 item: 1 created"),
  });
  target = other;
  expect(await run()).toMatchObject({
    exitCode: 0,
    stderr: expect.stringMatching(
      /^The service now has another store than in the last run.* begins with the first item.*\nImported 3 items: 3 created/s,
    ),
  });
  expect(JSON.parse(await other.list()).map(({ Name }: { Name: string }) => Name)).toEqual(["a", "b", "c"]);
  await server.stop(true);
  await strict.stop("SIGKILL");
  await other.stop("SIGKILL");
});

describe("if the input is not a JSON array, the message says what to do about it", () => {
  for (const [what, input, advice] of [
    ["CSV", "ID,Name\n,milk\n", "If this is CSV, add --format csv."],
    ["CSV with semicolons", "Name;Done\nmilk;yes\n", "If this is CSV, add --format csv."],
    ["one column of CSV", "Name\nmilk\n", "If this is CSV, add --format csv."],
    [
      "one item per line",
      '{"Name":"milk"}\n{"Name":"bread"}\n',
      "Each line is an item of its own, so add --format ndjson.",
    ],
    ["items with arrays", '{"Steps":[{"a":1}]}\n{"Name":"b"}\n', "so add --format ndjson."],
    [
      "an array in an object",
      '{"count":1,"items":[{"Name":"milk"}]}',
      "The array is in the field items. Import that array alone",
    ],
    ["an array in a larger object", '{\n  "items": [\n    {"Name": "milk"}]\n}', "The array is in the field items."],
    [
      "an array in an object, with an item on each line",
      '{"items":[{"Name":"a"},\n{"Name":"b"}]}',
      "The array is in the field items. Import that array alone.",
    ],
    [
      "an array in an object, with each item on a line of its own",
      '{"items":[\n{"Name":"a"}\n]}',
      "The array is in the field items. Import that array alone.",
    ],
    [
      "items with arrays, and Windows line endings",
      '{"Steps":[{"a":1}]}\r\n{"Name":"b"}\r\n',
      "so add --format ndjson.",
    ],
    ["one item on several lines", '{\n  "Name": "milk"\n}', "This is one object. Put [ before it and ] after it."],
    ["an array that goes wrong", '[{"Name":"milk"} 7]', "expected a comma or a closing bracket"],
  ] as const)
    test(what, async () => {
      const { exitCode, stderr } = await runProgram("import", {
        args: ["-"],
        input,
        environment: commandLine.environment,
      });
      expect({ exitCode, stderr }).toEqual({
        exitCode: 1,
        stderr: expect.stringContaining("standard input is not a list of items: expected"),
      });
      expect(stderr).toContain(advice);
      expect(stderr).toContain("An array of items was expected, as in [{…},{…}].");
      for (const other of ["--format csv", "--format ndjson"])
        expect(stderr.includes(other)).toBe(advice.includes(other));
    });
});

describe("marks for done that are neither true nor false", () => {
  const unclear = (count: string, value: string, place: string) =>
    `warning: In ${count}, the field ${value} (${place}), which does not mark an item as done. For that, use true. The items are stored as they are.\n`;

  test("a text in a CSV column is stored, with one warning after the import", async () => {
    const { exitCode, stderr } = await importText("ja.csv", "Name,Done\na,no\nb,ja\nc,nein\n");
    expect(exitCode).toBe(0);
    expect(stderr).toEndWith(unclear("2 items", "Done has a value such as ja", "line 3"));
    expect(stderr.split("warning:")).toHaveLength(2);
    expect(await commandLine.service.list()).toContain('"Done":"ja"');
  });

  test("JSON is stored exactly as it is, with one warning after the import", async () => {
    const all = ['"completed":"yes"', '"completed":"no"', '"completed":true', '"completed":2'].map((field, n) =>
      item(idOf(n), field),
    );
    const { exitCode, stderr } = await importText("yes.json", `[${all.join(",")}]`);
    expect(exitCode).toBe(0);
    expect(stderr).toEndWith(unclear("3 items", "completed has a value such as yes", "item 1"));
    expect(await commandLine.service.list()).toBe(`[${all.join(",")}]`);
  });

  test("one item and two fields are named, and no value can draw on the screen", async () => {
    const all = [item(idOf(1), '"Done":"\\u001b[31m"'), item(idOf(2), '"isDone":{"at":1}')];
    const { stderr } = await importText("two.ndjson", all.join("\n"));
    expect(stderr).toContain(unclear("1 item", "Done has a value such as �[31m", "line 1"));
    expect(stderr).toContain(unclear("1 item", 'isDone has a value such as {"at":1}', "line 2"));
  });

  test("true, false, 1, 0, their texts, null, an empty text and a missing mark are not worth a warning", async () => {
    const values = ["true", "false", "1", "0", '"true"', '"false"', "null", '""'];
    const all = [...values.map((value, n) => item(idOf(n), `"done":${value}`)), item(ids.one)];
    const { exitCode, stderr } = await importText("clear.ndjson", all.join("\n"));
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.not.stringContaining("warning:") });
  });
});
