// Mistakes in how instances share a PostgreSQL. The simulator must notice them, except for the last one, which it would
// hardly ever see. Those of the database itself are made in the simulator's model of it. If a change lets a simulation
// pass that should fail, find another seed with `SIMULATION_SEED=N`.

import type { Break, NoticingTest } from "./table.ts";

const simulation = (seed: number): NoticingTest => ({
  file: "test/simulation/simulation.test.ts",
  environment: { SIMULATION_SEED: String(seed) },
});

export const sharedStoreBreaks: readonly Break[] = [
  {
    name: "an instance mixes the items of two histories",
    file: "src/engines/postgres/postgres-statements.ts",
    text: "known.epoch !== epoch || leadsThrough(clock, known, batchAtKnown)",
    replacement: "known.epoch !== epoch || batchAtKnown !== undefined",
    isQuick: true,
    tests: [simulation(7)],
  },
  {
    name: "a read ignores that other instances have committed",
    file: "src/engines/postgres/postgres-engine.ts",
    text: "return !this.#known.isNewest(clock);",
    replacement: "return !clock;",
    isQuick: true,
    tests: [simulation(1)],
  },
  {
    name: "a commit without an answer counts as one that did not happen",
    file: "src/engines/postgres/postgres-commit.ts",
    text: "undecided: true",
    replacement: "undecided: false",
    isQuick: true,
    tests: [simulation(4)],
  },
  {
    name: "a commit without an answer is sent again, without checking whether it happened",
    file: "src/engines/postgres/postgres-commit.ts",
    text: "if (unanswered && (await this.#settle(unanswered))) return true;",
    replacement: "",
    isQuick: true,
    tests: [simulation(2)],
  },
  {
    name: "a batch that was decided before others committed is stored after their commits",
    file: "src/engines/postgres/postgres-commit.ts",
    text: "this.#batch.decide(isMissed ? news : undefined)",
    replacement: "this.#batch.decide(undefined)",
    isQuick: true,
    tests: [simulation(1)],
  },
  {
    name: "the database stores a batch on the right version of another history",
    file: "test/simulation/store-state.ts",
    text: " && state.batch === batch.sinceBatch",
    replacement: "",
    isQuick: true,
    tests: [simulation(51)],
  },
  {
    name: "the database stores a batch on the right version and batch of another epoch",
    file: "test/simulation/store-state.ts",
    text: "state.epoch === batch.sinceEpoch && ",
    replacement: "",
    isQuick: true,
    tests: [simulation(15)],
  },
  {
    name: "a feed reader that reconnects is not sent what it missed",
    file: "src/http/change-feed.ts",
    text: "reader.reached = isKnown ? since : { epoch, version };",
    replacement: "reader.reached = { epoch, version };",
    isQuick: true,
    tests: [simulation(1)],
  },
  {
    name: "after a failed commit, the next read does not ask the store what happened",
    file: "src/collection/freshness.ts",
    text: "this.#doubtCount++;",
    replacement: "",
    isQuick: true,
    tests: [simulation(8)],
  },
  {
    name: "a store that was rolled back keeps its epoch",
    file: "src/engines/postgres/postgres-history.ts",
    text: "if (!continues) this.#left.add(epoch);",
    replacement: "void continues;",
    isQuick: true,
    tests: [simulation(7)],
  },
  {
    name: "an epoch that the store had before is accepted again",
    file: "src/engines/postgres/postgres-history.ts",
    text: "return this.#left.has(epoch);",
    replacement: "return !continues;",
    isQuick: true,
    tests: [simulation(8)],
  },
  {
    name: "the answer to a write has the epoch at the time of the answer",
    file: "src/http/item-operations.ts",
    text: "const tag = this.#tag(version, epoch);",
    replacement: "void epoch; const tag = this.#tag(version);",
    isQuick: true,
    tests: [{ file: "test/http/entity-tags.test.ts" }],
  },
];
