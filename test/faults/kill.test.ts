import { expect, test } from "bun:test";
import { killRounds } from "./kill-rounds.ts";

test("a service that is killed at random moments while 50 clients write loses no answered write, and stores no write in part", async () => {
  const totals = await killRounds({ goOn: (round) => round <= 5, writers: 50 });
  expect(totals.answered).toBeGreaterThan(100);
  expect(totals.unanswered).toBeGreaterThan(0);
}, 60_000);
