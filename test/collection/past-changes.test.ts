import { expect, test } from "bun:test";
import type { Change } from "../../src/collection/engine.ts";
import { ItemList } from "../../src/collection/item-list.ts";
import { PastChanges } from "../../src/collection/past-changes.ts";
import { smallLimits } from "../small-limits.ts";

const { changesRemembered, changesForgottenAtOnce } = smallLimits;

test("all changes after a version are known, or none: the oldest are forgotten, some at a time", () => {
  const list = new ItemList("as-sent");
  const past = new PastChanges(3, smallLimits);
  const all: Change[] = [];
  for (let version = 4; version < 50; version++) {
    const change = { version, position: version, id: `id ${version}`, json: `{"n":${version}}` };
    list.apply(change);
    past.add(change);
    all.push(change);
    const known = Array.from({ length: version + 1 }, (_, since) => since).filter((since) => past.reachesBackTo(since));
    for (const since of known)
      expect([...past.after(since, list)]).toEqual(all.filter((change) => change.version > since));
    const count = version - (known[0] ?? version);
    expect(count).toBeGreaterThanOrEqual(Math.min(version - 3, changesRemembered));
    expect(count).toBeLessThan(changesRemembered + changesForgottenAtOnce);
  }
  expect(past.reachesBackTo(3)).toBe(false);
});
