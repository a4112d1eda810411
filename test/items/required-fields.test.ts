import { expect, test } from "bun:test";
import { scanObject } from "../../src/items/json-text.ts";
import { checkRequiredFields } from "../../src/items/required-fields.ts";

const check = (json: string, ...required: string[]) => checkRequiredFields(scanObject(json), required);

test("a required field may have any value but null and blank text, and any letter case", () => {
  for (const value of ['"x"', "0", "false", "[]", "{}"]) expect(() => check(`{"nAME":${value}}`, "Name")).not.toThrow();
  for (const value of ["null", '""', '" \\t"'])
    expect(() => check(`{"Name":${value}}`, "name")).toThrow('The item lacks "name": send this field with');
});

test("the last value of a repeated field counts", () => {
  expect(() => check('{"Name":"","name":"x"}', "Name")).not.toThrow();
  expect(() => check('{"Name":"x","name":""}', "Name")).toThrow("lacks");
});

test("all missing fields are named, and none if none is required", () => {
  const message = 'The item lacks "Name", "Notes": send these fields with a value that is not blank.';
  expect(() => check('{"Done":true}', "Name", "Done", "Notes")).toThrow(message);
  expect(() => check("{}")).not.toThrow();
});
