// One round of each part of `npm run torture` that takes too long for `npm test`. Two parts have long
// tests of their own: test/client/offline-simulation.long.test.ts and test/breaks/breaks.long.test.ts.

import { expect, test } from "bun:test";
import { breaksPart } from "../breaks/breaks-part.ts";
import { Random } from "../wire/random.ts";
import { Tally } from "./part.ts";
import { parts } from "./parts.ts";
import { offlinePart } from "./simulations.ts";

const seed = Math.floor(Math.random() * 2 ** 31);

for (const part of parts) {
  const { name, promise, secondsMin = 2 } = part;
  if (part.shortSeconds !== undefined || part === offlinePart || part === breaksPart) continue;
  test.skipIf(part.missing?.() !== undefined)(`${name}: ${promise} (seed ${seed})`, async () => {
    const tally = new Tally();
    const startedAt = performance.now();
    const goOn = () => performance.now() - startedAt < secondsMin * 1_000;
    await part.run({ random: new Random(seed), tally, seconds: secondsMin, goOn });
    expect(tally.findings).toEqual([]);
    expect(tally.operations).toBeGreaterThan(0);
  });
}
