import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ItemError } from "../../src/items/item-error.ts";
import { scanArray, scanObject } from "../../src/items/json-text.ts";

const depthMax = 1_000;

function accepts(text: string): boolean {
  try {
    scanArray(text, depthMax);
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(ItemError);
    return false;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** JSON with white space between its tokens, as people and pretty-printers write it. */
const spacedJson = fc
  .tuple(fc.json(), fc.constantFrom("", " ", "\n", "\t", "  \r\n "))
  .map(([json, space]) => json.replaceAll(/"(?:[^"\\]|\\.)*"|[[\]{}:,]/g, (token) => `${space}${token}${space}`));

describe("JSON text", () => {
  test("everything that JSON.parse accepts is accepted, and has the same meaning", () => {
    fc.assert(
      fc.property(spacedJson, (json) => {
        const [compact = ""] = scanArray(`[${json}]`, depthMax);
        expect(JSON.parse(compact)).toEqual(JSON.parse(json));
        expect(compact).not.toMatch(/^\s|\s$/);
      }),
      { numRuns: 2_000 },
    );
  });

  test("text without insignificant white space comes out unchanged", () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        expect(scanArray(`[${json}]`, depthMax)).toEqual([json]);
      }),
    );
  });

  test("everything that JSON.parse refuses is refused: JSON with one character changed, dropped or added", () => {
    const damage = fc.constantFrom(
      "",
      ",",
      ":",
      '"',
      "[",
      "]",
      "{",
      "}",
      "\\",
      "0",
      "-",
      ".",
      "e",
      "+",
      "t",
      "n",
      " ",
      "\u0000",
      "\u00a0",
      "é",
      "1",
      "/",
    );
    fc.assert(
      fc.property(fc.json(), fc.nat(), fc.nat(1), damage, (json, place, dropped, added) => {
        const array = `[${json}]`;
        const at = place % array.length;
        const text = array.slice(0, at) + added + array.slice(at + dropped);
        expect(accepts(text)).toBe(isJson(text) && text.trim().startsWith("["));
      }),
      { numRuns: 5_000 },
    );
  });

  test("the members of an object are indexed, whatever its white space", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(undefined, 1, "\t"), (object, indent) => {
        const scanned = scanObject(JSON.stringify(object, null, indent), depthMax);
        expect(scanned.text).toBe(JSON.stringify(object));
        const entries = scanned.members.map((member) => [scanned.name(member), JSON.parse(scanned.value(member))]);
        expect(entries).toEqual(Object.entries(JSON.parse(JSON.stringify(object))));
      }),
    );
  });

  test("an error names the line and the column of the mistake", () => {
    expect(() => scanObject('{"a": 1,\n "b": ?}', depthMax)).toThrow(
      'expected a JSON value at line 2, column 7, found "?"',
    );
    expect(() => scanObject('{"a": 1', depthMax)).toThrow(
      "expected a comma or a closing brace at line 1, column 8, found the end",
    );
    expect(() => scanObject('{"a": "x', depthMax)).toThrow(
      "expected a closing quote at line 1, column 9, found the end",
    );
  });

  test.each([
    ["{a:1}", "a field name in double quotes"],
    ['{"a"=1}', "a colon"],
    ['{"a":[1 2]}', "a comma or a closing bracket"],
    ['{"a":"\\q"}', "a valid escape"],
    ['{"a":"\\u00g0"}', "a valid escape"],
    ['{"a":"\n"}', "an escape such as \\n instead of a raw control character"],
    ["{} x", "the end of the document"],
  ])("a mistake in %j is named", (json, expected) => {
    expect(() => scanObject(json, depthMax)).toThrow(`expected ${expected} at line 1, column `);
  });

  test("every kind of escape is accepted and kept", () => {
    const text = String.raw`{"a":"\"\\\/\b\f\n\r\t\u00e9\uD83D\u0000"}`;
    expect(scanObject(text, depthMax).text).toBe(text);
  });

  test("only nesting counts as depth: any number of arrays and objects may follow each other", () => {
    const siblings = Array(10).fill('[],{},[{"a":[]}]').join();
    const text = `{"a":[${siblings}],"b":{"c":[]},"d":[${siblings}]}`;
    expect(scanObject(text, 5).text).toBe(text);
    expect(() => scanObject(text, 4)).toThrow("deeper than 4 levels");
  });

  test("a string of a million characters is accepted", () => {
    const long = `{"a":"${'\\"x'.repeat(300_000)}"}`;
    expect(scanObject(long, depthMax).text).toBe(long);
  });
});
