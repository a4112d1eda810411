// Existing clients must keep working. So the description must keep its promises, and demand nothing new. promises.txt
// lists the promises and the demands of the last release. `npm run describe` adds new promises to it. Only a person
// removes a promise or adds a demand.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defaultDescription } from "../../scripts/default-description.ts";
import { demandsOf, promisesOf } from "../../scripts/promises.ts";

const known = readFileSync(join(import.meta.dir, "promises.txt"), "utf8")
  .trimEnd()
  .split("\n");
const isDemand = (sentence: string) => sentence.includes(" needs ");
const promises = promisesOf(defaultDescription());

test("every promise of promises.txt is kept", () => {
  const kept = new Set(promises);
  expect(known.filter((sentence) => !isDemand(sentence) && !kept.has(sentence))).toEqual([]);
});

test("no request needs anything that promises.txt does not list", () => {
  expect(demandsOf(defaultDescription()).filter((sentence) => !known.includes(sentence))).toEqual([]);
});

test("promises.txt has every promise of the description", () => {
  expect(promises.filter((sentence) => !known.includes(sentence))).toEqual([]);
});
