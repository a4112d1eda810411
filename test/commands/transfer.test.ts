// `todoitems export` and `import`, and the formats that they read and write.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { readCsv, writeCsv } from "../../src/commands/transfer/csv.ts";
import { ItemHash } from "../../src/commands/transfer/item-hash.ts";
import { scanObject } from "../../src/items/json-text.ts";
import { runProgram } from "../program.ts";
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
  return commandLine.run(["import", name, ...args]);
}

const idOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const lines = (count: number) => Array.from({ length: count }, (_, n) => item(idOf(n), `"N":${n}`));
const hashIn = (text: string) => /Hash ([0-9a-f]{64})/.exec(text)?.[1];

describe("export and import", () => {
  const odd = [
    item(ids.one, '"Name":"a, \\"b\\"\\n;","n":1.50,"big":12345678901234567890,"text":"12","none":null'),
    item(ids.two, '"Name":"=1+1","":"empty","deep":{"a":[1.0]},"Done":true,"blank":""'),
    item(ids.three, '"Name":"\\u0041 ✓ 😀","tab":"\\t;"'),
  ];

  for (const format of ["json", "ndjson", "csv"])
    test(`as ${format}, every character of every value comes back, and the hashes are equal`, async () => {
      await commandLine.store(...odd);
      const list = await commandLine.service.list();
      const exported = await commandLine.run(["export", `items.${format}`, "--force"]);
      expect(exported.stderr).toStartWith(`Exported 3 items to items.${format}\nHash `);
      await commandLine.clear();
      const imported = await commandLine.run(["import", `items.${format}`]);
      expect(imported.stderr).toStartWith("Imported 3 items: 3 created, 0 present, 0 replaced, 0 skipped\n");
      expect(hashIn(imported.stderr)).toBe(hashIn(exported.stderr) ?? "none");
      const fieldsOf = (text: string) => JSON.parse(text.replaceAll(/:(-?[0-9.]+)/g, ':"#$1"')) as unknown;
      expect(fieldsOf(await commandLine.service.list())).toEqual(fieldsOf(list));
    });

  test("an export replaces a file only with --force, follows a link, and leaves nothing if it fails", async () => {
    writeFileSync(commandLine.path("old.json"), "old");
    symlinkSync("old.json", commandLine.path("link.json"));
    expect(await commandLine.run(["export", "old.json"])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("--force"),
    });
    const away = ["export", "old.json", "--force", "--server", `${commandLine.service.origin}/elsewhere`];
    expect(await commandLine.run(away)).toMatchObject({ exitCode: 1 });
    expect(readFileSync(commandLine.path("old.json"), "utf8")).toBe("old");
    const { stdout } = await commandLine.run(["export", "link.json", "--force", "--json"]);
    expect(JSON.parse(stdout)).toEqual({ items: 0, hash: "0".repeat(64) });
    expect(readFileSync(commandLine.path("old.json"), "utf8")).toBe("[]\n");
    expect(readdirSync(commandLine.path(".")).filter((name) => name.endsWith(".partial"))).toEqual([]);
    for (const words of [["export", "items.txt"], ["export", "--json"], ["import", "nosuch.json"], ["import"]])
      expect((await commandLine.run(words)).exitCode).toBe(2);
  });

  test("without a file, the items go to standard output, and - reads them from standard input", async () => {
    await commandLine.store(...lines(2));
    const { environment } = commandLine;
    const { stdout } = await runProgram("export", { environment, args: ["--format", "ndjson"] });
    expect(stdout).toBe(`${lines(2).join("\n")}\n`);
    await commandLine.clear();
    const args = ["-", "--format", "ndjson"];
    expect(await runProgram("import", { environment, args, input: stdout })).toMatchObject({ exitCode: 0 });
    expect(await commandLine.service.list()).toBe(`[${lines(2).join(",")}]`);
  });
});

describe("import", () => {
  test("keeps the order of the file, and resumes when it is run again after a refused item", async () => {
    const all = lines(6);
    const wrong = all.with(3, '{"ID":"not a UUID"}');
    expect(await importText("items.ndjson", wrong.join("\n"))).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(
        /refused this: .* That is line 4\.\nStopped after item 3: 3 created, .*run the same/s,
      ),
    });
    expect(await commandLine.service.list()).toBe(`[${all.slice(0, 3).join(",")}]`);
    expect((await importText("items.ndjson", all.join("\n"))).stderr).toContain("3 created, 3 present");
    expect(await commandLine.service.list()).toBe(`[${all.join(",")}]`);
  });

  test("gives an item without an ID the same ID in every run, and two equal items two IDs", async () => {
    const text = '[{"Name":"a"},{"Name":"a"}]';
    expect((await importText("same.json", text)).stderr).toContain("2 created");
    expect((await importText("same.json", text, "--json")).stdout).toMatch(
      /^\{"items":2,"created":0,"present":2,"replaced":0,"skipped":0,"hash":"[0-9a-f]{64}"\}\n$/,
    );
    expect(JSON.parse(await commandLine.service.list())).toHaveLength(2);
  });

  test("--on-conflict decides about an item whose ID is taken, with other content", async () => {
    // As numbers of JavaScript, the two would be equal.
    const [mine, theirs] = [
      item(ids.one, `"Serial":12345678901234567891`),
      item(ids.one, `"Serial":12345678901234567890`),
    ];
    for (const [rule, exitCode, kept, counts] of [
      ["fail", 1, theirs, "--on-conflict replace"],
      ["skip", 0, theirs, "1 created, 0 present, 0 replaced, 1 skipped"],
      ["replace", 0, mine, "0 created, 1 present, 1 replaced, 0 skipped"],
    ] as const) {
      await commandLine.store(theirs);
      const result = await importText("conflict.json", `[${mine},${item(ids.two)}]`, "--on-conflict", rule);
      expect(result).toMatchObject({ exitCode, stderr: expect.stringContaining(counts) });
      expect(await commandLine.service.list()).toStartWith(`[${kept}`);
    }
    expect((await commandLine.run(["import", "conflict.json", "--on-conflict", "ask"])).exitCode).toBe(2);
  });

  test("a service that does not respond gives exit code 3, and the advice to run it again", async () => {
    expect(await importText("items.json", `[${item(ids.one)}]`, "--server", "127.0.0.1:1")).toMatchObject({
      exitCode: 3,
      stderr: expect.stringMatching(/\nStopped after item 0: .* run the same command again/),
    });
  });

  for (const [name, text, message] of [
    [
      "one.json",
      '{"Name":"milk"}',
      'one.json is not a list of items: expected an array of objects at the beginning, found "{\\"Name\\":',
    ],
    ["broken.json", '[{"Name":"milk"},{"Name":}]', "broken.json, item 2: "],
    [
      "broken.ndjson",
      '{"a":1}\n\n{"a"}\n',
      "broken.ndjson, line 3: The document is not valid JSON: expected a colon at column 5, ",
    ],
    ["latin.csv", new Uint8Array([0x4e, 0x0a, 0xff]), "latin.csv is not UTF-8 text"],
    ["more.csv", "Name,Notes\na,b\nc,d,e\n", "more.csv, row 3: the first row has no name for cell 3"],
    ["nameless.csv", "Name,,Notes\na,b,c\n", "nameless.csv, row 2: the first row has no name for cell 2"],
    ["twice.csv", "Name,Name\na,b\n", "twice.csv, row 1: two columns are called Name"],
    ["open.csv", 'Name,Notes\na,"b\n', "open.csv, row 2: Quoted field unterminated"],
  ] as const)
    test(`a mistake in ${name} is named with its place, and nothing after it is stored`, async () => {
      expect(await importText(name, text)).toMatchObject({
        exitCode: 1,
        stdout: "",
        stderr: expect.stringContaining(message),
      });
    });
});

describe("CSV", () => {
  for (const [name, text] of Object.entries({
    commas: `ID,Name,Done,Price\n${ids.one},"milk, bread",true,1.50\n`,
    "semicolons and a byte-order mark": `\uFEFF"ID";"Name";"Done";"Price"\r\n${ids.one};milk, bread;true;1.50\r\n;;;\r\n`,
    tabs: `ID\tName\tDone\tPrice\t\n${ids.one}\tmilk, bread\ttrue\t1.50\t`,
  }))
    test(`of other programs is read, with ${name}`, async () => {
      expect(await importText("table.csv", text)).toMatchObject({ exitCode: 0 });
      expect(await commandLine.service.list()).toBe(
        `[{"ID":"${ids.one}","Name":"milk, bread","Done":true,"Price":1.50}]`,
      );
    });

  test("a cell is JSON to the digit if it is JSON, and text otherwise", async () => {
    const cells = ["1.50", "-0", "007", " 1", "True", "true", "null", "yes", '"[1,{""a"":2.0}]"', '"""12"""'];
    await importText("cells.csv", `${cells.map((_, n) => `c${n}`).join(",")}\n${cells.join(",")}\n`);
    expect(await commandLine.service.list()).toEndWith(
      '"c0":1.50,"c1":-0,"c2":"007","c3":" 1","c4":"True","c5":true,"c6":null,"c7":"yes","c8":[1,{"a":2.0}],"c9":"12"}]',
    );
  });

  test("true and false may be in capitals, as spreadsheets save them", async () => {
    await importText("saved.csv", 'Done,Late,Name\nTRUE,FALSE,"""TRUE"""\n');
    expect(await commandLine.service.list()).toEndWith('"Done":true,"Late":false,"Name":"TRUE"}]');
  });

  test("keeps every character of each value", async () => {
    const literal = fc.constantFrom(
      ...["1.0", "-0", "1e400", "12345678901234567890", "null", "true", "[]"],
      ...[
        '"12"',
        '"true"',
        '"TRUE"',
        '"null"',
        '" 1"',
        '""',
        '"\\"x\\""',
        '"\\u0041"',
        '"\\ud800"',
        '"=1"',
        '"a\\r\\nb"',
      ],
    );
    const text = fc.string({ unit: "grapheme" });
    const value = fc.oneof(
      literal,
      fc.json(),
      text.map((one) => JSON.stringify(one)),
    );
    const names = fc.oneof(text, fc.constantFrom("\ud800", "a\udfff", '"12"'));
    const fields = fc.uniqueArray(fc.tuple(names, value), { selector: ([name]) => name });
    await fc.assert(
      fc.asyncProperty(fields, async (some) => {
        const named = [["ID", '"x"'] as const, ...some.filter(([name]) => name !== "ID")];
        const json = scanObject(`{${named.map(([name, one]) => `${JSON.stringify(name)}:${one}`).join(",")}}`).text;
        const file = Buffer.from((await Array.fromAsync(writeCsv(pieces(json)))).join(""));
        const [read] = await Array.fromAsync(readCsv(pieces(file.toString())));
        expect(hashOf(read?.text ?? "{}")).toBe(hashOf(json));
      }),
    );
  });

  test("cannot hold a name twice, so such an item is refused, and the message says what can", async () => {
    await commandLine.store(...lines(2), item(ids.one, '"a":1,"\\u0061":2'));
    expect(await commandLine.run(["export", "repeated.csv"])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(
        "item 3 has two fields with the same name, which CSV cannot hold. Use --format json.",
      ),
    });
  });
});

async function* pieces(...texts: string[]): AsyncGenerator<string> {
  yield* texts;
}

const hashOf = (...items: string[]) => {
  const hash = new ItemHash();
  for (const json of items) hash.add(json);
  return String(hash);
};

test("the hash is the documented sum: any order of items and fields, but every digit counts", () => {
  const [one, two] = ['{"ID":"1","A":1.0}', '{"ID":"2","A":2}'];
  const digest = (text: string) => BigInt(`0x${new Bun.CryptoHasher("sha256").update(text).digest("hex")}`);
  const sum = (digest('{"A":1.0,"ID":"1"}') + digest('{"A":2,"ID":"2"}')) % 2n ** 256n;
  expect(hashOf(one, two)).toBe(sum.toString(16).padStart(64, "0"));
  expect(hashOf(two, '{"A":1.0,"ID":"1"}')).toBe(hashOf(one, two));
  for (const other of [[one], [one, one, two], ['{"ID":"1","A":1}', two], ['{"ID":"1","A":2,"A":1.0}', two]])
    expect(hashOf(...other)).not.toBe(hashOf(one, two));
});
