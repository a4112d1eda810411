// Tests in which cases output is coloured.

import { expect, test } from "bun:test";
import { usesColour } from "../../src/terminal/colour.ts";

for (const [where, isTTY, environment, isColoured] of [
  ["on a terminal", true, {}, true],
  ["on a terminal with NO_COLOR", true, { NO_COLOR: "1" }, false],
  ["on a terminal with an empty NO_COLOR", true, { NO_COLOR: "" }, true],
  ["on a dumb terminal", true, { TERM: "dumb" }, false],
  ["on a terminal with FORCE_COLOR=0", true, { FORCE_COLOR: "0" }, false],
  ["in a pipe", false, {}, false],
  ["in a pipe with FORCE_COLOR=1", false, { FORCE_COLOR: "1" }, true],
  ["in a pipe with FORCE_COLOR=1 and NO_COLOR", false, { FORCE_COLOR: "1", NO_COLOR: "1" }, true],
] as const)
  test(`output ${where} is ${isColoured ? "coloured" : "plain"}`, () => {
    expect(usesColour({ isTTY }, environment)).toBe(isColoured);
  });
