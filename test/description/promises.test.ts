// Existing clients must keep working. So the description must keep its promises, and demand nothing new. promises.txt
// lists the promises and the demands so far. `UPDATE_PROMISES=1 npm test -- test/description/promises.test.ts` adds new
// promises to it. Only a person removes a promise or adds a demand.

import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeApi } from "../../src/description/api-description.ts";
import { demandsOf, promisesOf } from "./promises.ts";

const file = join(import.meta.dir, "promises.txt");
const readKnown = () => readFileSync(file, "utf8").trimEnd().split("\n");
const description = describeApi({ forms: "both", auth: "off", fieldNames: "as-sent", lists: "many" }, "/");
const promises = promisesOf(description);
if (process.env["UPDATE_PROMISES"])
  writeFileSync(file, `${[...new Set([...readKnown(), ...promises])].sort().join("\n")}\n`);
const known = readKnown();
const isDemand = (sentence: string) => sentence.includes(" needs ");

test("every promise of promises.txt is kept", () => {
  const kept = new Set(promises);
  expect(known.filter((sentence) => !isDemand(sentence) && !kept.has(sentence))).toEqual([]);
});

test("no request needs anything that promises.txt does not list", () => {
  expect(demandsOf(description).filter((sentence) => !known.includes(sentence))).toEqual([]);
});

test("promises.txt has every promise of the description", () => {
  expect(promises.filter((sentence) => !known.includes(sentence))).toEqual([]);
});
