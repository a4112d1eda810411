// A short round of each part of `npm run torture`: every promise of docs/reliability.md is tried in every `npm test`.

import { expect, test } from "bun:test";
import { Random } from "../wire/random.ts";
import { Tally } from "./part.ts";
import { parts } from "./parts.ts";

const seed = Math.floor(Math.random() * 2 ** 31);

for (const part of parts) {
  const { name, promise, shortSeconds } = part;
  if (shortSeconds === undefined) continue;
  test.skipIf(part.missing?.() !== undefined)(`${name}: ${promise} (seed ${seed})`, async () => {
    const tally = new Tally();
    const startedAt = performance.now();
    const goOn = () => performance.now() - startedAt < shortSeconds * 1_000;
    await part.run({ random: new Random(seed), tally, seconds: shortSeconds, goOn });
    expect(tally.findings).toEqual([]);
    expect(tally.operations).toBeGreaterThan(0);
  });
}
