// The codecs.

import { describe, expect, test } from "bun:test";
import { jsonText } from "../../src/client/codecs.ts";

describe("jsonText", () => {
  test("keeps every character except insignificant white space, and refuses a text that is not an object", () => {
    expect(jsonText.parse(' { "a" : 1.0 ,\n"b":"\\u0041 b" } ')).toBe('{"a":1.0,"b":"\\u0041 b"}');
    for (const wrong of ["[]", "{", '{"a":01}']) expect(() => jsonText.parse(wrong)).toThrow();
  });
});
