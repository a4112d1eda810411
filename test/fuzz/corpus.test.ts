// Repeats every input that once did harm. Random inputs are parts of `npm run torture`, with a short round in
// test/torture/torture.test.ts.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { Tally } from "../torture/part.ts";
import { readStreams } from "./corpus.ts";
import { Target, undocumented } from "./target.ts";

let target: Target;
beforeAll(async () => {
  target = await Target.start();
});
afterAll(async () => {
  const tally = new Tally();
  await target.stop(tally);
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
