// Ways to break the service on purpose, for `--break NAME`. The simulator must notice each of them.

export interface Break {
  readonly file: string;
  /** A part of the file, and what takes its place. */
  readonly part: string;
  readonly replacement: string;
}

const commit = "src/engines/postgres/postgres-commit.ts";
const engine = "src/engines/postgres/postgres-engine.ts";
const history = "src/engines/postgres/postgres-history.ts";
const statements = "src/engines/postgres/postgres-statements.ts";

export const breaks: Readonly<Record<string, Break>> = {
  // A pull from an older bookmark does not check that the store still has the newest commit that the engine knows. So
  // an instance can hold items of two histories.
  "mixed-histories": {
    file: statements,
    part: "(known.epoch !== clock.epoch || leadsThrough(clock, known, batchAtKnown))",
    replacement: "true",
  },
  // A read does not ask whether others have committed.
  "no-refresh": {
    file: engine,
    part: "return !this.#known.isNewest(clock);",
    replacement: "return !clock;",
  },
  // A commit without an answer counts as one that did not happen.
  "undecided-as-failed": { file: commit, part: "undecided: true", replacement: "undecided: false" },
  // A commit without an answer is sent again, without a look at whether it happened.
  "no-settle": { file: commit, part: "if (unanswered && (await this.#settle(unanswered))) return;", replacement: "" },
  // A commit that is looked up and not found can still happen later.
  "no-void": { file: commit, part: "voidBatch(sql, unanswered).execute(), ", replacement: "" },
  // The state that a plan is made for is not locked.
  "no-lock": {
    file: statements,
    part: "await Promise.all([sql`begin`.execute(), sql`select from todoitems.store for update`.execute()]);",
    replacement: "await sql`begin`;",
  },
  // A plan that was stored after the changes of others keeps the versions that it was planned with.
  "reused-version": {
    file: "src/collection/write-batch.ts",
    part: "this.#plan = movedPlan(this.#plan, by);",
    replacement: "void movedPlan; void by;",
  },
  // A feed reader that reconnects is not sent what it missed.
  "lost-feed-event": {
    file: "src/http/change-feed.ts",
    part: "reader.missed = missed;",
    replacement: "reader.missed = { ...missed, portions: [] };",
  },
  // After a failed commit, the next read does not ask the store what happened.
  "no-doubt": { file: "src/collection/freshness.ts", part: "this.#doubtCount++;", replacement: "" },
  // A store that was rolled back keeps its epoch.
  "no-new-epoch": {
    file: history,
    part: "|| !continues",
    replacement: "|| continues === undefined",
  },
  // An epoch that the store had before is accepted again.
  "returned-epoch": {
    file: history,
    part: "return this.#left.has(epoch);",
    replacement: "return epoch === undefined;",
  },
  // A write is answered with the epoch that the collection has when the answer is sent, instead of the epoch of the
  // write.
  "epoch-of-answer": {
    file: "src/http/item-operations.ts",
    part: "const tag = this.#tag(version, epoch);",
    replacement: "void epoch; const tag = this.#tag(version);",
  },
};
