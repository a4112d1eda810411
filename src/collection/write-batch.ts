// The writes of one commit, and the plan for them. The plan is based on this process's copy of the store. If other
// processes commit first, the engine asks for a new plan, or stores the plan after their changes, with higher versions
// than planned.

import type { Batch, Bookmark, News, Plan } from "./engine.ts";
import type { Replica } from "./replica.ts";
import { type DecidedOutcome, movedPlan, planWrites, type Write, type WritePlan } from "./write-rules.ts";

export interface WriteBatchOptions {
  /** True if the choice of what to write depends on the whole list. */
  readonly dependsOnAll?: boolean;
}

export class WriteBatch implements Batch {
  readonly since: Bookmark;
  readonly #replica: Replica;
  readonly #writes: () => readonly Write[];
  readonly #dependsOnAll: boolean;
  #plan: WritePlan;
  /**
   * True if `moved` did not apply the missed changes to the replica (this process's copy of the store), because a
   * reader had changed the replica since the plan was made.
   */
  #isOvertaken = false;

  /** `writes` is called for each plan. So it can react to changes by others, and add writes that have just arrived. */
  constructor(replica: Replica, writes: () => readonly Write[], { dependsOnAll = false }: WriteBatchOptions = {}) {
    this.since = replica.bookmark;
    this.#replica = replica;
    this.#writes = writes;
    this.#dependsOnAll = dependsOnAll;
    this.#plan = planWrites([], replica.list, this.since);
  }

  /** One outcome for each write of the newest plan, in order. */
  get outcomes(): readonly DecidedOutcome[] {
    const { outcomes, decidedOn } = this.#plan;
    return outcomes.map((outcome) => ({ ...outcome, epoch: decidedOn.epoch }));
  }

  decide(missed: News | undefined): Plan {
    if (missed) this.#replica.take(missed);
    this.#plan = planWrites(this.#writes(), this.#replica.list, this.#replica.bookmark);
    return this.#dependsOnAll ? { changes: this.#plan.changes, dependsOn: undefined } : this.#plan;
  }

  moved(missed: News, by: number): void {
    // A reader may have changed the replica since the plan was made. If the replica now has another history, the missed
    // changes do not belong to it, so do not apply them. If `missed` is the whole store, do not apply it to a replica
    // that has changed at all: it could undo newer changes, and the engine would not report those again.
    const { bookmark } = this.#replica;
    this.#isOvertaken = missed.whole ? bookmark !== this.#plan.decidedOn : bookmark.epoch !== missed.epoch;
    if (!this.#isOvertaken) this.#replica.take(missed);
    this.#plan = movedPlan(this.#plan, by);
  }

  /**
   * Applies the stored plan to the replica, which is this process's copy of the store. Returns false, and applies
   * nothing, if the replica has loaded another history in the meantime. The plan's changes do not belong to that
   * history. Also returns false if the replica may lack changes that others committed before the plan.
   */
  show(): boolean {
    const { decidedOn, changes } = this.#plan;
    const last = changes.at(-1);
    if (this.#isOvertaken || decidedOn.epoch !== this.#replica.bookmark.epoch) return false;
    if (last) this.#replica.take({ epoch: decidedOn.epoch, version: last.version, whole: false, changes });
    return true;
  }
}
