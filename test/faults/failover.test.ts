import { expect, test } from "bun:test";
import { failoverRounds } from "./failover-rounds.ts";

test("when PostgreSQL's primary is killed under load and a standby promoted, nothing answered is lost or doubled, and three instances go on", async () => {
  const totals = await failoverRounds({ rounds: 1 });
  expect(totals.created).toBeGreaterThan(100);
  expect(totals.repeated).toBeGreaterThan(0);
}, 120_000);
