// Exact numbers, held against JSON.parse and against the text they came from.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { exactNumbers, jsonText, NumberText } from "../../src/client/codecs.ts";

const exact = exactNumbers<unknown>();

describe("exactNumbers", () => {
  test("gives numbers that print as written, bigints for long integers, digits for the rest", () => {
    const parsed = exact.parse(
      '{"a":1,"b":-1.5,"c":9007199254740993,"d":1.0,"e":-0,"f":1e400,"g":1E2,"h":-12345678901234567890}',
    );
    expect(parsed).toEqual({
      a: 1,
      b: -1.5,
      c: 9007199254740993n,
      d: new NumberText("1.0"),
      e: new NumberText("-0"),
      f: new NumberText("1e400"),
      g: new NumberText("1E2"),
      h: -12345678901234567890n,
    });
    expect(Number(new NumberText("1.50"))).toBe(1.5);
  });

  test("writes back what it read, to the digit", () => {
    const digits = fc.stringMatching(/^-?(?:0|[1-9][0-9]{0,30})(?:\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,4})?$/);
    fc.assert(
      fc.property(fc.array(digits), fc.string(), (numbers, name) => {
        const json = `{"list":[${numbers.join(",")}],${JSON.stringify(`x${name}12`)}:"1 \\"2\\" ${numbers.length}"}`;
        expect(exact.stringify(exact.parse(json))).toBe(json);
      }),
    );
  });

  test("is JSON.parse and JSON.stringify where no number is involved, and takes nothing they refuse", () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        const plain = JSON.parse(json) as unknown;
        expect(JSON.parse(exact.stringify(exact.parse(json)))).toEqual(plain);
      }),
    );
    for (const wrong of ["[01]", "[1 2]", "{", '{"a":-}', "[1.]", ""]) expect(() => exact.parse(wrong)).toThrow();
    expect(exact.stringify({ a: Number.NaN, b: undefined, __proto__: null })).toBe('{"a":null}');
  });
});

describe("jsonText", () => {
  test("keeps an item to the character, without insignificant white space, and refuses what is no object", () => {
    expect(jsonText.parse(' { "a" : 1.0 ,\n"b":"\\u0041 b" } ')).toBe('{"a":1.0,"b":"\\u0041 b"}');
    for (const wrong of ["[]", "{", '{"a":01}']) expect(() => jsonText.parse(wrong)).toThrow();
  });
});
