// Mistakes in how instances share a PostgreSQL. The simulator must notice them, except for those that it would hardly ever
// see. Most of those of the database itself are made in the simulator's model of it. If a simulation passes
// that should fail, more seeds are tried: what a seed leads to changes with every change of the program.

import type { Break, NoticingTest } from "./table.ts";

const simulation = (seed: number): NoticingTest => ({
  file: "test/simulation/simulation.test.ts",
  environment: { SIMULATION_SEED: String(seed), SIMULATION_COUNT: "40" },
});

const lostPoint: NoticingTest = {
  file: "test/engines/postgres/postgres-engine.test.ts",
  title: "a list or names that were read at a point which is lost later",
};

export const sharedStoreBreaks: readonly Break[] = [
  {
    name: "an instance mixes the items of two histories",
    file: "src/engines/postgres/postgres-statements.ts",
    text: "point.epoch !== epoch || leadsThrough(",
    replacement: "point.epoch === epoch || leadsThrough(",
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
    tests: [{ file: "test/engines/postgres/postgres-engine.test.ts", title: "is reported as undecided" }],
  },
  {
    name: "a commit without an answer is sent again, without checking whether it happened",
    file: "src/engines/postgres/postgres-commit.ts",
    text: "if (unanswered && (await this.#settle(unanswered))) return true;",
    replacement: "",
    isQuick: true,
    tests: [simulation(1)],
  },
  {
    name: "a batch that was decided before others committed is stored after their commits",
    file: "src/engines/postgres/postgres-commit.ts",
    text: "this.#decide(isMissed ? news : undefined)",
    replacement: "this.#decide(undefined)",
    isQuick: true,
    tests: [simulation(1)],
  },
  {
    name: "the database stores a batch on the right version of another history",
    file: "src/engines/postgres/postgres-tables.ts",
    text: " AND batch = since_batch",
    replacement: "",
    tests: [{ file: "test/engines/postgres/postgres-engine.test.ts", title: "stores nothing if another batch" }],
  },
  {
    name: "the database stores a batch on the right version and batch of another epoch",
    file: "test/simulation/store-state.ts",
    text: "state.epoch === batch.sinceEpoch && ",
    replacement: "",
    isQuick: true,
    tests: [simulation(19)],
  },
  {
    name: "a feed reader that reconnects is not sent what it missed",
    file: "src/http/list-feed.ts",
    text: "reader.reached = isKnown ? since : { epoch, version };",
    replacement: "reader.reached = { epoch, version };",
    isQuick: true,
    tests: [simulation(3)],
  },
  {
    name: "after a failed commit, the next read does not ask the store what happened",
    file: "src/collection/freshness.ts",
    text: "this.#doubtCount++;",
    replacement: "",
    isQuick: true,
    tests: [{ file: "test/collection/todo-collection.test.ts", title: "after a failed commit" }],
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
    tests: [simulation(7)],
  },
  {
    name: "an instance keeps a list that it read at a point which the store has lost",
    file: "src/engines/postgres/postgres-engine.ts",
    text: "if (continues) this.#known.note(page);",
    replacement: "",
    tests: [lostPoint],
  },
  {
    name: "a batch is stored although the store may have lost a point at which a list was read",
    file: "src/engines/postgres/postgres-history.ts",
    text: "clock === this.#newest.clock && this.#unchecked.length === 0;",
    replacement: "clock === this.#newest.clock;",
    tests: [lostPoint],
  },
  {
    name: "a list is used although the store was rolled back before it was read",
    file: "src/engines/postgres/postgres-engine.ts",
    text: "storeEpoch = continues && fits ? epoch",
    replacement: "storeEpoch = fits ? epoch",
    tests: [
      {
        file: "test/engines/postgres/postgres-engine.test.ts",
        title: "a list that is read after the store was rolled back",
      },
    ],
  },
  {
    name: "a reader takes what a load under way has read, without a look whether the store has lost it",
    file: "src/collection/todo-collection.ts",
    text: "if (isUnderWay) await this.#host.refresh();",
    replacement: "",
    isQuick: true,
    tests: [{ file: "test/collection/todo-store.test.ts", title: "has to ask once more" }],
  },
  {
    name: "a list is forgotten while somebody is about to load it",
    file: "src/collection/todo-collection.ts",
    text: "return this.#uses === 0 && this.#loading === undefined;",
    replacement: "return this.#loading === undefined;",
    isQuick: true,
    tests: [{ file: "test/collection/todo-store.test.ts", title: "whose refresh waits" }],
  },
  {
    name: "a change that arrives twice while a list is being loaded is applied twice",
    file: "src/collection/replica.ts",
    text: "if (change.version <= version) continue;",
    replacement: "if (change.version <= known) continue;",
    isQuick: true,
    tests: [{ file: "test/collection/replica.test.ts", title: "skips changes that it has already taken" }],
  },
  {
    name: "changes that arrive while a list is being loaded are forgotten",
    file: "src/collection/todo-collection.ts",
    text: "replica.take(this.#arrived);",
    replacement: "",
    isQuick: true,
    tests: [{ file: "test/collection/todo-store.test.ts", title: "gets the changes that arrive in the meantime" }],
  },
  {
    name: "a batch is decided on a list that has to be loaded again",
    file: "src/collection/todo-store.ts",
    text: "if (writes.some(({ target }) => !this.list(target.key).isCurrent)) throw new StaleListError();",
    replacement: "",
    isQuick: true,
    tests: [{ file: "test/collection/todo-store.test.ts", title: "decides no write before that" }],
  },
  {
    name: "the names of lists are kept although the store has lost the commit that made them so",
    file: "src/engines/postgres/postgres-engine.ts",
    text: "this.#known.note(moment);",
    replacement: "void moment;",
    tests: [lostPoint],
  },
  {
    name: "the rows of a new list land in the list that was written before it in the same batch",
    file: "test/simulation/store-state.ts",
    text: "const list = keys[Number(nth) - 1] ?? -1;",
    replacement: "const list = keys[0] ?? Number(nth);",
    isQuick: true,
    tests: [simulation(3)],
  },
  {
    name: "the answer to a write has the epoch at the time of the answer",
    file: "src/http/item-operations.ts",
    text: "const ETag = this.#tagOfWrite(outcome);",
    replacement: "const ETag = this.#tagOfWrite({ ...outcome, epoch: this.#store.list(key).epoch });",
    isQuick: true,
    tests: [{ file: "test/http/entity-tags.test.ts" }],
  },
];
