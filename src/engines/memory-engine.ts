// The engine that stores nothing on disk: for demonstrations and tests. It is also the shortest example of what
// an engine does.

import {
  type Batch,
  type Bookmark,
  type Change,
  type Engine,
  type News,
  newEpoch,
  type Version,
  type WholeStore,
} from "../collection/engine.ts";
import { type Limits, realLimits } from "../collection/limits.ts";

export class MemoryEngine implements Engine {
  readonly #epoch = newEpoch();
  // The newest change of each item, by position. The map is in order of version: a change moves its item to the end.
  readonly #changes = new Map<Version, Change>();
  readonly #tombstones = new Set<Version>();
  #version: Version = 0;
  #prunedThrough: Version = 0;
  readonly #limits: Limits;

  constructor(limits = realLimits) {
    this.#limits = limits;
  }

  hasNews(): false | Promise<boolean> {
    return false;
  }

  async pull(since: Bookmark): Promise<News | undefined> {
    return this.#newsSince(since);
  }

  #newsSince(since: Bookmark): News | undefined {
    if (since.epoch !== this.#epoch || since.version < this.#prunedThrough) return undefined;
    const changes = [...this.#changes.values()].filter(({ version }) => version > since.version);
    return { epoch: this.#epoch, version: this.#version, changes };
  }

  async load(): Promise<WholeStore> {
    const page = [...this.#changes.values()];
    const pages = (async function* () {
      yield page;
    })();
    return { epoch: this.#epoch, version: this.#version, prunedThrough: this.#prunedThrough, pages };
  }

  async commit(batch: Batch): Promise<boolean> {
    const missed = this.#newsSince(batch.since);
    if (!missed) return false;
    const isNewest = missed.version === batch.since.version;
    for (const { version, position, id, json } of batch.decide(isNewest ? undefined : missed)) {
      this.#changes.delete(position);
      this.#changes.set(position, { version, position, id, json });
      if (json === null) this.#tombstones.add(position);
      this.#version = version;
    }
    this.#pruneTombstones();
    return true;
  }

  async close(): Promise<void> {}

  #pruneTombstones(): void {
    for (const position of this.#tombstones) {
      if (this.#tombstones.size <= this.#limits.tombstonesMax) return;
      this.#prunedThrough = this.#changes.get(position)?.version ?? this.#prunedThrough;
      this.#tombstones.delete(position);
      this.#changes.delete(position);
    }
  }
}
