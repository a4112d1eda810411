// Ways to break the service on purpose, for `--break NAME`. The simulator must notice each of them. What the database
// does is broken in the simulator's model of it.

export interface Break {
  readonly file: string;
  /** The text in the file that `replacement` replaces. */
  readonly part: string;
  readonly replacement: string;
}

const commit = "src/engines/postgres/postgres-commit.ts";
const engine = "src/engines/postgres/postgres-engine.ts";
const history = "src/engines/postgres/postgres-history.ts";
const statements = "src/engines/postgres/postgres-statements.ts";
const state = "test/simulation/store-state.ts";

export const breaks: Readonly<Record<string, Break>> = {
  // Broken: if the engine reads changes, it does not check that the store still has the newest commit that the engine
  // knows. So an instance can hold items of two histories.
  "mixed-histories": {
    file: statements,
    part: "known.epoch !== epoch || leadsThrough(clock, known, batchAtKnown)",
    replacement: "known.epoch !== epoch || batchAtKnown !== undefined",
  },
  // Broken: a read asks the store whether other instances have committed, but ignores the answer.
  "no-refresh": {
    file: engine,
    part: "return !this.#known.isNewest(clock);",
    replacement: "return !clock;",
  },
  // Broken: a commit without an answer counts as one that did not happen.
  "undecided-as-failed": { file: commit, part: "undecided: true", replacement: "undecided: false" },
  // Broken: a commit without an answer is sent again, without checking whether it happened.
  "no-settle": {
    file: commit,
    part: "if (unanswered && (await this.#settle(unanswered))) return true;",
    replacement: "",
  },
  // Broken: the store is not locked while the engine decides what to write.
  "no-lock": {
    file: statements,
    part: "await Promise.all([sql`begin`.execute(), sql`select from todoitems.store for update`.execute()]);",
    replacement: "await sql`begin`;",
  },
  // Broken: a batch that was decided before others committed is stored after their commits.
  "old-decision": {
    file: commit,
    part: "this.#batch.decide(isMissed ? news : undefined)",
    replacement: "this.#batch.decide(undefined)",
  },
  // Broken: the database stores a batch on a state with the right version, but from another history.
  "other-batch": { file: state, part: " && state.batch === batch.sinceBatch", replacement: "" },
  // Broken: the database stores a batch on a state with the right version and the right batch, but with another epoch.
  "other-epoch": { file: state, part: "state.epoch === batch.sinceEpoch && ", replacement: "" },
  // Broken: a feed reader that reconnects is not sent what it missed.
  "lost-feed-event": {
    file: "src/http/change-feed.ts",
    part: "reader.reached = isKnown ? since : { epoch, version };",
    replacement: "reader.reached = { epoch, version };",
  },
  // Broken: after a failed commit, the next read does not ask the store what happened.
  "no-doubt": { file: "src/collection/freshness.ts", part: "this.#doubtCount++;", replacement: "" },
  // Broken: a store that was rolled back keeps its epoch, the name of its history.
  "no-new-epoch": {
    file: history,
    part: "if (!continues) this.#left.add(epoch);",
    replacement: "void continues;",
  },
  // Broken: an epoch (the name of a history) that the store had before is accepted again.
  "returned-epoch": {
    file: history,
    part: "return this.#left.has(epoch);",
    replacement: "return !continues;",
  },
  // Broken: the answer to a write has the epoch (the name of the store's history) at the time of the answer. It should
  // have the epoch in which the write was stored.
  "epoch-of-answer": {
    file: "src/http/item-operations.ts",
    part: "const tag = this.#tag(version, epoch);",
    replacement: "void epoch; const tag = this.#tag(version);",
  },
};
