// Reads the members of an object's text, and changes some of them without touching any other character.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { scanIfObject, scanObject } from "../../src/items/json-text.ts";
import { type Member, type ObjectText, stringOf, unquote } from "../../src/items/object-text.ts";
import { isIdName, withId } from "../../src/items/todo-item.ts";

function member(object: ObjectText, index: number): Member {
  const found = object.members[index];
  if (!found) throw new Error(`there is no member ${index}`);
  return found;
}

describe("the members of an object", () => {
  const object = scanObject(' { "a" : 1.0 ,\n\t"\\u0062\\n" : { "x" : [ ] } , "a":"\\u0041 b" } ');

  test("have names without escapes, and name literals as they were written", () => {
    expect(object.members.map((one) => object.name(one))).toEqual(["a", "b\n", "a"]);
    expect(object.members.map((one) => object.nameLiteral(one))).toEqual(['"a"', '"\\u0062\\n"', '"a"']);
  });

  test("have values as they were written, without insignificant white space", () => {
    expect(object.members.map((one) => object.value(one))).toEqual(["1.0", '{"x":[]}', '"\\u0041 b"']);
  });

  test("are found by name, and the first one is found if a name repeats", () => {
    expect(object.find((name) => name === "a")).toBe(member(object, 0));
    expect(object.find((name) => name === "b\n")).toBe(member(object, 1));
    expect(object.find((name) => name === "\\u0062\\n")).toBeUndefined();
  });

  test("are all listed if a name repeats, but a map has only its last value", () => {
    const [first, second, third] = object.entries();
    expect([first, second, third]).toEqual([
      ["a", "1.0"],
      ["b\n", '{"x":[]}'],
      ["a", '"\\u0041 b"'],
    ]);
    expect([...object.toMap()]).toEqual([
      ["a", '"\\u0041 b"'],
      ["b\n", '{"x":[]}'],
    ]);
  });

  test("may have names that mean something to JavaScript", () => {
    const names = ["__proto__", "constructor", "", "toString"];
    const json = `{${names.map((name, index) => `"${name}":${index}`).join(",")}}`;
    expect([...scanObject(json).toMap()]).toEqual(names.map((name, index) => [name, String(index)]));
  });

  test("do not exist in an empty object", () => {
    for (const empty of [scanObject("{}"), scanObject(" {\n} ")]) {
      expect(empty.text).toBe("{}");
      expect([empty.entries(), [...empty.toMap()], empty.find(() => true)]).toEqual([[], [], undefined]);
    }
  });
});

describe("a change to an object's text", () => {
  const object = scanObject('{"a":1.0,"\\u0061":{"a":[1e400]},"b":"\\ud800"}');

  test("replaces one value and keeps every other character", () => {
    expect(object.withValue(member(object, 0), "[2]")).toBe('{"a":[2],"\\u0061":{"a":[1e400]},"b":"\\ud800"}');
    expect(object.withValue(member(object, 1), "null")).toBe('{"a":1.0,"\\u0061":null,"b":"\\ud800"}');
    expect(object.withValue(member(object, 2), '""')).toBe('{"a":1.0,"\\u0061":{"a":[1e400]},"b":""}');
  });

  test("adds a member at the end, with the escapes that its name needs", () => {
    expect(object.withMember('c"\n', "-0")).toBe('{"a":1.0,"\\u0061":{"a":[1e400]},"b":"\\ud800","c\\"\\n":-0}');
    expect(scanObject(" { } ").withMember("a", "1")).toBe('{"a":1}');
  });

  test("sets a field in the member that was found, or in a new one", () => {
    const found = object.find((name) => name === "b");
    expect(object.withField(found, "B", "2")).toBe('{"a":1.0,"\\u0061":{"a":[1e400]},"b":2}');
    expect(scanObject('{"a":1}').withField(undefined, "B", "2")).toBe('{"a":1,"B":2}');
  });

  test("adds a member at the start, and drops the given members", () => {
    const { members } = object;
    expect(object.withFirst('"z":0', [])).toBe('{"z":0,"a":1.0,"\\u0061":{"a":[1e400]},"b":"\\ud800"}');
    expect(object.withFirst('"z":0', [member(object, 1)])).toBe('{"z":0,"a":1.0,"b":"\\ud800"}');
    expect(object.withFirst('"z":0', members)).toBe('{"z":0}');
    expect(scanObject("{}").withFirst('"z":0', [])).toBe('{"z":0}');
  });

  test("leaves the object itself as it was", () => {
    const before = object.text;
    object.withValue(member(object, 0), "2");
    object.withMember("c", "3");
    expect(object.text).toBe(before);
  });

  test("has the same effect as changing the parsed value, for any object and any white space", () => {
    const dictionary = fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 });
    fc.assert(
      fc.property(dictionary, fc.constantFrom(undefined, 1, "\t"), fc.nat(), (value, space, place) => {
        const names = Object.keys(value);
        const name = names[place % names.length] ?? "";
        const scanned = scanObject(JSON.stringify(value, null, space));
        const found = scanned.find((candidate) => candidate === name);
        const replaced = names.map((one) => [one, one === name ? "new" : value[one]] as const);
        const json = `{${replaced.map(([one, part]) => `${JSON.stringify(one)}:${JSON.stringify(part)}`).join(",")}}`;
        expect(scanned.withField(found, name, '"new"')).toBe(json);
      }),
    );
  });
});

describe("an item that is given a new ID", () => {
  test("has the new ID as its first field, and no other ID in any letter case or with any escapes", () => {
    const object = scanObject('{"a":1.0,"ID":null,"iD":5,"\\u0049d":"x","Idea":2}');
    expect(withId(object, "new")).toBe('{"id":"new","a":1.0,"Idea":2}');
    expect(withId(scanObject("{}"), "new")).toBe('{"ID":"new"}');
    expect(withId(scanObject('{"id":null}'), "new")).toBe('{"ID":"new"}');
  });

  test("keeps its other fields character for character", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (fields) => {
        const others = Object.entries(fields).filter(([name]) => !isIdName(name));
        const rest = others.map(([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`).join("");
        const text = withId(scanObject(JSON.stringify(fields)), "new");
        expect([`{"ID":"new"${rest}}`, `{"id":"new"${rest}}`]).toContain(text);
      }),
    );
  });
});

describe("a text that may be an object or a string", () => {
  test("is scanned if it is an object, and gives undefined otherwise", () => {
    expect(scanIfObject(' {"a": 1}')?.text).toBe('{"a":1}');
    for (const other of ["", "[]", '"{}"', "{", "<html>", "[".repeat(5_000)])
      expect(scanIfObject(other)).toBeUndefined();
  });

  test("has a string value if it is a string, and gives undefined otherwise", () => {
    expect([stringOf('"\\u0041\\n"'), stringOf('""')]).toEqual(["A\n", ""]);
    for (const other of [undefined, "null", "1", "[]", '{"a":"b"}']) expect(stringOf(other)).toBeUndefined();
    fc.assert(fc.property(fc.string(), (text) => expect(unquote(JSON.stringify(text))).toBe(text)));
  });
});
