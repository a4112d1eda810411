// Does for a few seconds what `npm run test:fuzz` does for minutes, except for the comparison with llhttp: that is in
// test/wire/llhttp.test.ts. Also repeats every past finding.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Program } from "../program.ts";
import { Tally } from "../torture/part.ts";
import { Random } from "../wire/random.ts";
import { fuzzStreams } from "./connections.ts";
import { readStreams } from "./corpus.ts";
import { fuzzRequests } from "./requests.ts";
import { Target, undocumented } from "./target.ts";

const requestCount = 2_500;
const roundCount = 5;
const seed = Math.floor(Math.random() * 2 ** 31);

describe(`fuzz with seed ${seed}`, () => {
  let target: Target;
  const tally = new Tally();
  beforeAll(async () => {
    target = await Target.start();
  });
  afterAll(async () => {
    await target.stop(tally);
    expect(tally.findings).toEqual([]);
  });

  test(`${requestCount} random requests get the documented answers and change only what they say`, async () => {
    const requests = new Tally();
    const program = await Program.start({ args: ["--port", "0", "--store", "memory:"] });
    await fuzzRequests(program, new Random(seed), requests, () => requests.operations < requestCount);
    expect(requests.findings).toEqual([]);
    expect((await program.stop()).stderr).not.toContain("error");
  });

  test("random streams of bytes are answered or closed, and another client is answered after them", async () => {
    const random = new Random(seed);
    for (let round = 0; round < roundCount; round++) await fuzzStreams(target, random, tally);
    expect(tally.findings).toEqual([]);
  });

  for (const { title, text, status } of readStreams()) {
    test(`a past finding is answered or closed: ${title}`, async () => {
      const statuses = (await target.sendStream([text])) ?? [];
      expect(statuses.length).toBeGreaterThan(0);
      expect(undocumented(statuses)).toEqual([]);
      if (status !== undefined) expect(statuses[0]).toBe(status);
      expect(await target.findHarm()).toBeUndefined();
    });
  }
});
