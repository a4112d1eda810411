// CSV represents items exactly, whatever fields they have and however the text is split. The hash of items ignores the
// order of the items and of their fields.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { csvLine, csvRow, itemFromCells } from "../../../src/commands/transfer/csv.ts";
import { CsvReader } from "../../../src/commands/transfer/csv-reader.ts";
import { ItemHash } from "../../../src/commands/transfer/item-hash.ts";
import { scanObject } from "../../../src/items/json-text.ts";

function read(text: string, at: number): (readonly string[])[] {
  const reader = new CsvReader();
  const rows = [...reader.read(text.slice(0, at)), ...reader.read(text.slice(at)), ...reader.finish()];
  return rows.map(({ cells }) => cells);
}

const hashOf = (...items: string[]) => {
  const hash = new ItemHash();
  for (const json of items) hash.add(json);
  return String(hash);
};

describe("CSV", () => {
  test("CSV keeps every character of each value", () => {
    const literal = fc.constantFrom(
      ...["1.0", "-0", "1e400", "12345678901234567890", "null", "true", "[]"],
      ...['"12"', '"true"', '"null"', '" 1"', '""', '"\\"x\\""', '"\\u0041"', '"\\ud800"'],
    );
    const value = fc.oneof(
      literal,
      fc.json(),
      fc.string({ unit: "grapheme" }).map((text) => JSON.stringify(text)),
    );
    const item = fc.uniqueArray(fc.tuple(fc.string({ unit: "grapheme" }), value), { selector: ([name]) => name });
    fc.assert(
      fc.property(item, fc.nat(), (fields, at) => {
        const json = `{${fields.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(",")}}`;
        const columns = [...scanObject(json).toMap().keys()];
        // A single column that is empty would make a blank line, which the reader skips. Real items have an ID, so this
        // adds one.
        const named = ["ID", ...columns.filter((column) => column !== "ID")];
        const text = csvLine(named) + csvRow(json, named);
        const [header = [], row = []] = read(text, at % (text.length + 1));
        expect(header).toEqual(named);
        expect(hashOf(itemFromCells(header, row))).toBe(hashOf(json));
      }),
    );
  });

  test("the reader accepts CSV from other programs: any line ending, a missing last one, quotes, numbers and text", () => {
    const text = 'ID,Name,N,Flag\r\n1,"a ""b"", c\nd",007,true\n\n2,,-1.50,"yes"\r3,x,12,';
    for (let at = 0; at <= text.length; at++)
      expect(
        read(text, at)
          .map((row) => itemFromCells(["ID", "Name", "N", "Flag"], row))
          .slice(1),
      ).toEqual([
        '{"ID":1,"Name":"a \\"b\\", c\\nd","N":"007","Flag":true}',
        '{"ID":2,"N":-1.50,"Flag":"yes"}',
        '{"ID":3,"Name":"x","N":12}',
      ]);
  });

  test("in a column that marks items as done, yes and no are true and false, and the texts are quoted", () => {
    expect(itemFromCells(["Name", "Done", "isDone"], ["yes", "Yes", "no"])).toBe(
      '{"Name":"yes","Done":true,"isDone":false}',
    );
    expect(csvRow('{"Name":"yes","Done":"yes"}', ["Name", "Done"])).toBe('yes,"""yes"""\r\n');
  });

  test("a formula is quoted so that no spreadsheet runs it", () => {
    for (const formula of ["=1+1", "+1", "-x", "@x"])
      expect(csvRow(JSON.stringify({ A: formula }), ["A"])).toBe(`"""${formula}"""\r\n`);
  });
});

describe("the hash of items", () => {
  const one = '{"ID":"1","A":1.0}';
  const two = '{"ID":"2","A":2}';

  test("the hash is the same in any order of items and fields, and differs if a digit differs or an item is added, missing or repeated", () => {
    expect(hashOf(one, two)).toBe(hashOf('{"A":2,"ID":"2"}', one));
    const others = [[one], [one, one, two], ['{"ID":"1","A":1}', two], ['{"ID":"1","A":1.00}', two], [one, two, "{}"]];
    for (const other of others) expect(hashOf(...other)).not.toBe(hashOf(one, two));
  });

  test("the hash is the documented sum", () => {
    const digest = (text: string) => BigInt(`0x${new Bun.CryptoHasher("sha256").update(text).digest("hex")}`);
    const sum = (digest('{"A":1.0,"ID":"1"}') + digest('{"A":2,"ID":"2"}')) % 2n ** 256n;
    expect(hashOf(one, two)).toBe(sum.toString(16).padStart(64, "0"));
  });
});
