// JSON laid out for people has the same tokens, on several lines.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { indented } from "../../src/items/indented.ts";
import { scanObject } from "../../src/items/json-text.ts";

describe("indented JSON", () => {
  test("has line breaks, and the same tokens", () => {
    expect(indented('{"a":[1.0,{}],"b":"x,y:{z}","c":{"d":1e400}}')).toBe(
      '{\n  "a": [\n    1.0,\n    {}\n  ],\n  "b": "x,y:{z}",\n  "c": {\n    "d": 1e400\n  }\n}',
    );
  });

  test("is the original text again once its white space is removed", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const json = JSON.stringify(value);
        expect(scanObject(indented(json)).text).toBe(json);
      }),
    );
  });
});
