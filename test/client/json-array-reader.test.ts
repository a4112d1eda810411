// The incremental reader finds the same objects as JSON.parse, however the bytes are split. If the input is not an
// array of objects, the reader says what is wrong.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { JsonArrayReader, NotAnArrayError } from "../../src/client/json-array-reader.ts";

function read(chunks: readonly Uint8Array[]): string[] {
  const reader = new JsonArrayReader();
  const objects = chunks.flatMap((chunk) => [...reader.read(chunk)]);
  reader.finish();
  return objects;
}

const encode = (text: string) => new TextEncoder().encode(text);

function split(bytes: Uint8Array, at: readonly number[]): Uint8Array[] {
  const places = [0, ...at.map((place) => place % (bytes.length + 1)).sort((one, other) => one - other), bytes.length];
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end));
}

const tricky = [
  '{"a":"}]\\"{[","b":[{"c":"\\\\"},[]]}',
  "{}",
  '{ "é🙂" : "\\ud83d\\ude00 ,]" }',
  '{"n":-1.5e+10,"t":true,"z":null}',
];

describe("JsonArrayReader", () => {
  test("yields the same objects wherever the bytes are split, even inside characters and escapes", () => {
    const bytes = encode(`\ufeff [ ${tricky.join(" ,\n")}\t]\r\n`);
    for (let first = 0; first <= bytes.length; first++) expect(read(split(bytes, [first]))).toEqual(tricky);
    expect(read(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(tricky);
  });

  test("agrees with JSON.parse on any list of objects, in any chunks", () => {
    const objects = fc.array(fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue()), { maxLength: 8 });
    fc.assert(
      fc.property(objects, fc.array(fc.nat()), fc.constantFrom(undefined, 1, "\t"), (list, at, space) => {
        const bytes = encode(JSON.stringify(list, undefined, space));
        expect(read(split(bytes, at)).map((text) => JSON.parse(text))).toEqual(JSON.parse(JSON.stringify(list)));
      }),
    );
  });

  test("yields an object as soon as its closing brace arrives", () => {
    const reader = new JsonArrayReader();
    expect([...reader.read(encode('[{"a":1'))]).toEqual([]);
    expect([...reader.read(encode("}"))]).toEqual(['{"a":1}']);
  });

  const refused: Readonly<Record<string, string>> = {
    "": "the document ends after 0 bytes",
    "{}": 'expected an opening bracket at byte 1, found "{"',
    "[": "expected an object or a closing bracket, but the document ends after 1 bytes",
    "[{}": "expected a comma or a closing bracket, but",
    '[{"a":"': "expected a closing brace, but",
    "[{},": "expected an object, but",
    "[{},]": 'expected an object at byte 5, found "]"',
    "[,{}]": 'at byte 2, found ","',
    "[{}{}]": 'expected a comma or a closing bracket at byte 4, found "{"',
    "[1]": 'expected an object or a closing bracket at byte 2, found "1"',
    "[{}]]": 'expected nothing more at byte 5, found "]"',
    "<html>": 'expected an opening bracket at byte 1, found "<"',
  };
  for (const [text, message] of Object.entries(refused)) {
    test(`refuses ${text === "" ? "an empty document" : text}, and says where the mistake is`, () => {
      expect(() => read([encode(text)])).toThrow(NotAnArrayError);
      expect(() => read([encode(text)])).toThrow(message);
    });
  }

  test("refuses bytes that are not UTF-8", () => {
    expect(() => read([encode('[{"a":"'), Uint8Array.of(0xff), encode('"}]')])).toThrow("not valid UTF-8");
  });
});
