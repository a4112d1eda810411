import { describe, expect, test } from "bun:test";
import { mergeFields, sameFields } from "../../src/items/field-merge.ts";

describe("merging the changes of two people", () => {
  const base = '{"ID":"1","Name":"a","Notes":"b","Done":false}';

  test("keeps the fields that each of them changed, added and removed", () => {
    const mine = '{"ID":"1","Name":"mine","Done":false,"Due":1}';
    const theirs = '{"Tag":2,"Done":true,"Notes":"b","Name":"a","ID":"1"}';
    const json = '{"Tag":2,"Done":true,"Name":"mine","ID":"1","Due":1}';
    expect(mergeFields(base, mine, theirs)).toEqual({ json, conflicts: [], isDone: false });
  });

  test("names the fields that both changed to different values, and uses mine", () => {
    const mine = '{"ID":"1","Name":"mine","Notes":"same","Done":false}';
    const theirs = '{"ID":"1","Name":"theirs","Notes":"same","Done":true}';
    const json = '{"ID":"1","Name":"mine","Notes":"same","Done":true}';
    expect(mergeFields(base, mine, theirs)).toEqual({ json, conflicts: ["Name"], isDone: false });
  });

  test("a field that one changed and the other removed is a conflict", () => {
    const { conflicts } = mergeFields(base, '{"ID":"1","Done":false,"Notes":"b"}', base.replace('"a"', '"theirs"'));
    expect(conflicts).toEqual(["Name"]);
  });

  test("is done if the other state has all my changes, whatever else it has", () => {
    const mine = base.replace("false", "true");
    const theirs = mine.replace('"b"', '"theirs"');
    expect(mergeFields(base, mine, theirs)).toEqual({ json: theirs, conflicts: [], isDone: true });
  });

  test("never changes the ID", () => {
    expect(mergeFields(base, base.replace('"1"', '"2"'), base)).toEqual({ json: base, conflicts: [], isDone: true });
  });

  test("ignores the letter case of names, and keeps that of the other state", () => {
    const theirs = '{"id":"1","name":"a","notes":"theirs","done":false}';
    const { json, conflicts } = mergeFields(base, base.replace("false", "true"), theirs);
    expect([json, conflicts]).toEqual(['{"id":"1","name":"a","notes":"theirs","done":true}', []]);
  });

  test("keeps names that repeat, and their escapes; of several, the last one is changed, as JSON.parse reads it", () => {
    const exact = (value: string) => `{"a":1,"\\u0041b":true,"a":${value}}`;
    const change = (mine: string) => mergeFields('{"a":2,"Ab":true}', mine, exact("2")).json;
    expect(change('{"a":2,"Ab":true,"New":1}')).toBe(exact("2").replace("}", ',"New":1}'));
    expect(change('{"a":3,"Ab":true}')).toBe(exact("3"));
    expect(change('{"Ab":true}')).toBe('{"\\u0041b":true}');
  });

  test("two names in one item that differ only in letter case are two fields", () => {
    expect(mergeFields('{"a":1,"A":2}', '{"a":3,"A":2}', '{"a":1,"A":4}').json).toBe('{"a":3,"A":4}');
    expect(mergeFields('{"a":1}', '{"a":1,"A":2}', '{"a":3}').json).toBe('{"a":3,"A":2}');
  });
});

test("two states are the same in any order of fields, and not if a value, a name or a field differs", () => {
  expect(sameFields('{"a":1,"b":"x"}', '{"B":"x","A":1}')).toBe(true);
  for (const other of ['{"a":1.0,"b":"x"}', '{"a":1}', '{"a":1,"b":"x","c":null}', '{"a":1,"c":"x"}'])
    expect(sameFields('{"a":1,"b":"x"}', other)).toBe(false);
});
