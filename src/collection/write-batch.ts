// The writes of one commit, and the plan for them. The plan is based on this process's copy of the store. If other
// processes commit first, the engine asks for a new plan.

import type { Batch, Bookmark, News, PlannedChange } from "./engine.ts";
import type { Replica } from "./replica.ts";
import { type DecidedOutcome, planWrites, type Write, type WritePlan } from "./write-rules.ts";

export class WriteBatch implements Batch {
  readonly since: Bookmark;
  readonly #replica: Replica;
  readonly #writes: () => readonly Write[];
  #plan: WritePlan;

  /** `writes` is called for each plan. So it can react to changes by others, and add writes that have just arrived. */
  constructor(replica: Replica, writes: () => readonly Write[]) {
    this.since = replica.bookmark;
    this.#replica = replica;
    this.#writes = writes;
    this.#plan = planWrites([], replica.list, this.since);
  }

  /** One outcome for each write of the newest plan, in order. */
  get outcomes(): readonly DecidedOutcome[] {
    const { outcomes, decidedOn } = this.#plan;
    return outcomes.map((outcome) => ({ ...outcome, epoch: decidedOn.epoch }));
  }

  decide(missed: News | undefined): readonly PlannedChange[] {
    if (missed) this.#replica.take(missed);
    this.#plan = planWrites(this.#writes(), this.#replica.list, this.#replica.bookmark);
    return this.#plan.changes;
  }

  /**
   * Applies the stored plan to the replica. Returns false, and applies nothing, if the replica has loaded another
   * history in the meantime, to which the plan's changes do not belong.
   */
  show(): boolean {
    const { decidedOn, changes } = this.#plan;
    const last = changes.at(-1);
    if (decidedOn.epoch !== this.#replica.bookmark.epoch) return false;
    if (last) this.#replica.take({ epoch: decidedOn.epoch, version: last.version, changes });
    return true;
  }
}
