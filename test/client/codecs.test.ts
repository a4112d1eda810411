// The codecs: exact numbers, compared with JSON.parse and with their original text, and items as text.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { exactNumbers, jsonText, NumberText } from "../../src/client/codecs.ts";

const exact = exactNumbers<unknown>();

describe("exactNumbers", () => {
  test("parses a number as a number if that prints as it was written, otherwise as a bigint or a NumberText", () => {
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

  test("writes every number back exactly as it was read", () => {
    const digits = fc.stringMatching(/^-?(?:0|[1-9][0-9]{0,30})(?:\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,4})?$/);
    fc.assert(
      fc.property(fc.array(digits), fc.string(), (numbers, name) => {
        const json = `{"list":[${numbers.join(",")}],${JSON.stringify(`x${name}12`)}:"1 \\"2\\" ${numbers.length}"}`;
        expect(exact.stringify(exact.parse(json))).toBe(json);
      }),
    );
  });

  test("agrees with JSON.parse and JSON.stringify on everything but numbers, and refuses what they refuse", () => {
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
  test("keeps every character except insignificant white space, and refuses a text that is not an object", () => {
    expect(jsonText.parse(' { "a" : 1.0 ,\n"b":"\\u0041 b" } ')).toBe('{"a":1.0,"b":"\\u0041 b"}');
    for (const wrong of ["[]", "{", '{"a":01}']) expect(() => jsonText.parse(wrong)).toThrow();
  });
});
