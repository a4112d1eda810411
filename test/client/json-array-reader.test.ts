// The incremental reader finds the same objects as JSON.parse, however the text is split. If the input is not an array
// of objects, the reader says what is wrong.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { JsonArrayReader } from "../../src/client/json-array-reader.ts";

function read(pieces: readonly string[]): string[] {
  const reader = new JsonArrayReader();
  const objects = pieces.flatMap((piece) => [...reader.read(piece)]);
  reader.finish();
  return objects;
}

function split(text: string, at: readonly number[]): string[] {
  const places = [0, ...at.map((place) => place % (text.length + 1)).sort((one, other) => one - other), text.length];
  return places.slice(1).map((end, index) => text.slice(places[index], end));
}

const tricky = [
  '{"a":"}]\\"{[","b":[{"c":"\\\\"},[]]}',
  "{}",
  '{ "é🙂" : "\\ud83d\\ude00 ,]" }',
  '{"n":-1.5e+10,"t":true,"z":null}',
];

describe("JsonArrayReader", () => {
  test("yields the same objects wherever the text is split, even inside escapes", () => {
    const text = ` [ ${tricky.join(" ,\n")}\t]\r\n`;
    for (let first = 0; first <= text.length; first++) expect(read(split(text, [first]))).toEqual(tricky);
    expect(read(text.split(""))).toEqual(tricky);
  });

  test("agrees with JSON.parse on any list of objects, in any pieces", () => {
    const objects = fc.array(fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue()), { maxLength: 8 });
    fc.assert(
      fc.property(objects, fc.array(fc.nat()), fc.constantFrom(undefined, 1, "\t"), (list, at, space) => {
        const text = JSON.stringify(list, undefined, space);
        expect(read(split(text, at)).map((object) => JSON.parse(object))).toEqual(JSON.parse(JSON.stringify(list)));
      }),
    );
  });

  test("yields an object as soon as its closing brace arrives", () => {
    const reader = new JsonArrayReader();
    expect([...reader.read('[{"a":1')]).toEqual([]);
    expect([...reader.read("}")]).toEqual(['{"a":1}']);
  });

  const refused: Readonly<Record<string, string>> = {
    "": 'expected an array of objects at the beginning, found ""',
    "{}": 'at the beginning, found "{}"',
    "[": 'at the beginning, found "["',
    "[{}": 'expected ] after item 1, found ""',
    '[{"a":"': "it ends inside item 1",
    "[{},]": 'after item 1, found ",]"',
    "[,{}]": 'at the beginning, found "[,{}]"',
    "[{}{}]": 'expected , after item 1, found "{}]"',
    "[1]": 'at the beginning, found "[1]"',
    "[{}]]": 'after item 1, found "]]"',
    "<html>": 'expected an array of objects at the beginning, found "<html>"',
  };
  test.each(Object.entries(refused))("refuses %s, and says where the mistake is", (text, message) => {
    expect(() => read([text])).toThrow(SyntaxError);
    expect(() => read([text])).toThrow(message);
  });
});
