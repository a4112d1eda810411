import { expect, test } from "bun:test";
import { replacedRounds } from "./replaced-rounds.ts";
import { shareFile } from "./shared-file.ts";

test("a backup that is copied over the store while clients write is served exactly after the next start", async () => {
  const totals = await replacedRounds(3);
  expect(totals.backups + totals.whole).toBe(3);
  expect(totals.answered).toBeGreaterThan(0);
}, 60_000);

test("backups and checkpoints of other programs raise no false alarm", async () => {
  const tally = await shareFile(3_000);
  expect(tally.findings).toEqual([]);
  expect(tally.operations).toBeGreaterThan(0);
  expect(tally.faults).toBeGreaterThan(0);
}, 60_000);
