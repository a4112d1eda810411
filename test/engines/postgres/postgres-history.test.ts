// What an instance must ask before it shows what it knows. The simulation tries this in every order of events; this is
// the one that it met once in four million steps.

import { expect, test } from "bun:test";
import { KnownHistory } from "../../../src/engines/postgres/postgres-history.ts";

const pointAt = (clock: number, batch: string) => ({ epoch: "e", clock, batch });

for (const [title, newest] of [
  ["another commit has the same clock now", pointAt(8, "other")],
  ["the store has gone further", pointAt(9, "later")],
] as const)
  test(`a commit whose answer comes late is looked for in the history: ${title}`, () => {
    const known = new KnownHistory(true);
    known.restart(newest);
    expect(known.isNewest(newest)).toBe(true);
    known.learn(pointAt(8, "own"));
    expect(known.isNewest(newest)).toBe(false);
    expect(known.points).toEqual([newest, pointAt(8, "own")]);
    known.learn({ ...newest, checked: known.points });
    expect(known.isNewest(newest)).toBe(true);
  });

test("a commit whose answer comes in time is the newest point", () => {
  const known = new KnownHistory(true);
  known.restart(pointAt(7, "before"));
  known.learn(pointAt(8, "own"));
  expect(known.isNewest(pointAt(8, "own"))).toBe(true);
});
