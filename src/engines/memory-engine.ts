// The engine that forgets: for demonstrations and tests. It is also the shortest telling of what an
// engine does.

import {
  type Bookmark,
  type Change,
  type Engine,
  type News,
  newEpoch,
  type PlannedChange,
  tombstonesMax,
  type Version,
} from "../collection/engine.ts";

export class MemoryEngine implements Engine {
  readonly #epoch = newEpoch();
  // The newest change of each item, in order of version: an update leaves its old place for the end.
  readonly #changes = new Map<Version, Change>();
  readonly #tombstones = new Set<Version>();
  #version: Version = 0;
  #prunedThrough: Version = 0;

  hasNews(): boolean {
    return false;
  }

  async pull(since?: Bookmark): Promise<News> {
    const whole = since?.epoch !== this.#epoch || since.version < this.#prunedThrough;
    const wanted = (change: Change) => (whole ? change.json !== null : change.version > since.version);
    return { epoch: this.#epoch, version: this.#version, whole, changes: [...this.#changes.values()].filter(wanted) };
  }

  async commit(since: Bookmark, plan: (missed: News | undefined) => readonly PlannedChange[]): Promise<void> {
    const missed = since.epoch === this.#epoch && since.version === this.#version ? undefined : await this.pull(since);
    for (const { version, position, id, json } of plan(missed)) {
      this.#changes.delete(position);
      this.#changes.set(position, { version, position, id, json });
      if (json === null) this.#tombstones.add(position);
      this.#version = version;
    }
    this.#pruneTombstones();
  }

  async close(): Promise<void> {}

  #pruneTombstones(): void {
    for (const position of this.#tombstones) {
      if (this.#tombstones.size <= tombstonesMax) return;
      this.#prunedThrough = this.#changes.get(position)?.version ?? this.#prunedThrough;
      this.#tombstones.delete(position);
      this.#changes.delete(position);
    }
  }
}
