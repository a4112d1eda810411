// Version tokens (an epoch and a version) are written in one way. They are read with or without quotes and suffixes,
// and never guessed from other texts.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { fieldNameStyles } from "../../src/items/field-names.ts";
import { formatToken, isNotKept, parseToken, withoutCoding } from "../../src/items/token.ts";

const state = { epoch: "0123456789abcdef", version: 42 };

describe("a version token", () => {
  test("names the epoch and the version, and the spelling of names if it is not the sender's", () => {
    expect(fieldNameStyles.map((style) => formatToken(state, style))).toEqual([
      "0123456789abcdef-42",
      "0123456789abcdef-42-pascal",
      "0123456789abcdef-42-camel",
    ]);
    expect(formatToken(state)).toBe("0123456789abcdef-42");
  });

  test("is read back as the state it was written for, in any spelling, with and without quotes", () => {
    const epoch = fc.stringMatching(/^[0-9a-z]{1,64}$/);
    const version = fc.integer({ min: 0, max: 999_999_999_999_999 });
    fc.assert(
      fc.property(epoch, version, fc.constantFrom(...fieldNameStyles), (epoch, version, style) => {
        const token = formatToken({ epoch, version }, style);
        expect([parseToken(token), parseToken(`"${token}"`)]).toEqual([
          { epoch, version },
          { epoch, version },
        ]);
      }),
    );
  });

  test("may be in upper case", () => {
    expect(parseToken("ABC-7-CAMEL")).toEqual({ epoch: "ABC", version: 7 });
  });

  test("may be a weak entity tag, which a proxy that compresses answers makes of ours", () => {
    expect(parseToken(`W/"${formatToken(state)}"`)).toEqual(state);
    expect(parseToken(`W/"${formatToken(state, "camel")}-gzip"`)).toEqual(state);
  });

  test("may be the tag of a read-only instance's document", () => {
    expect(parseToken(`"${formatToken(state)}-read-only"`)).toEqual(state);
    expect(parseToken(`W/"${formatToken(state, "camel")}-read-only-gzip"`)).toEqual(state);
  });

  test("of a state that was not stored cannot be read", () => {
    expect(parseToken(`"${formatToken(state)}-not-kept"`)).toBeUndefined();
    expect(parseToken(`"${formatToken(state, "camel")}-not-kept"`)).toBeUndefined();
    expect([`"${formatToken(state)}"`, `"${formatToken(state)}-gzip"`, null].map(isNotKept)).toEqual([
      false,
      false,
      false,
    ]);
    for (const suffix of ["", "-gzip", "--gzip", ";gzip", "-br"])
      expect(isNotKept(`W/"${formatToken(state)}-not-kept${suffix}"`)).toBe(true);
  });

  test("of a compressed response is the same without the suffix, with and without quotes", () => {
    for (const suffix of ["-gzip", "--gzip", ";gzip", "-br"]) {
      expect(withoutCoding(`"${formatToken(state)}${suffix}"`)).toBe(`"${formatToken(state)}"`);
      expect(withoutCoding(`${formatToken(state)}${suffix}`)).toBe(formatToken(state));
    }
  });

  test("has a version of at most 15 digits, which a number holds exactly", () => {
    expect(parseToken("e-999999999999999")).toEqual({ epoch: "e", version: 999_999_999_999_999 });
    expect(parseToken("e-9999999999999999")).toBeUndefined();
  });

  test("has an epoch of at most 64 characters", () => {
    expect(parseToken(`${"e".repeat(64)}-1`)).toEqual({ epoch: "e".repeat(64), version: 1 });
    expect(parseToken(`${"e".repeat(65)}-1`)).toBeUndefined();
  });

  const others = ["", '""', "*", "e", "e-", "-1", "e--1", "e-1.5", "e-1e3", "e 1", "é-1", "e-1-snake", "W/e-1"];
  for (const text of [...others, "e-1\n", " e-1", '""e-1""', "e-1-camel-camel", 'W/W/"e-1"', '"e-1", "e-2"']) {
    test(`is not read from ${JSON.stringify(text)}`, () => expect(parseToken(text)).toBeUndefined());
  }
});
