// Remembers which items changed last, so that readers who were away get what they missed without a question to the
// store. Only the places of the changes are kept here: the items themselves are in the list.
// Why: docs/decisions/0040-a-feed-reader-is-a-version.md

import { firstIndexWhere } from "./binary-search.ts";
import type { Change, Version } from "./engine.ts";
import type { ItemList } from "./item-list.ts";
import type { Limits } from "./limits.ts";

interface PastChange extends Omit<Change, "json"> {
  readonly isDeletion: boolean;
}

export class PastChanges {
  /** In order of version. */
  readonly #changes: PastChange[] = [];
  /** All changes after this version are remembered. */
  #since: Version;
  readonly #limits: Limits;

  constructor(since: Version, limits: Limits) {
    this.#since = since;
    this.#limits = limits;
  }

  get count(): number {
    return this.#changes.length;
  }

  add({ version, position, id, json }: Change): void {
    this.#changes.push({ version, position, id, isDeletion: json === null });
    const { changesRemembered, changesForgottenAtOnce } = this.#limits;
    if (this.#changes.length < changesRemembered + changesForgottenAtOnce) return;
    const forgotten = this.#changes.splice(0, changesForgottenAtOnce);
    this.#since = forgotten.at(-1)?.version ?? this.#since;
  }

  reachesBackTo(version: Version): boolean {
    return version >= this.#since;
  }

  /**
   * The latest change of each item that has changed after a version, in order of version. Items are spelled as the list
   * sends them. Iterate over the result before the list changes again.
   */
  *after(version: Version, list: ItemList): Generator<Change> {
    const first = firstIndexWhere(this.#changes, (change) => change.version > version);
    for (let index = first; index < this.#changes.length; index++) {
      const change = this.#changes[index];
      if (!change) return;
      const { isDeletion, ...place } = change;
      if (isDeletion) yield { ...place, json: null };
      else {
        const item = list.find(change.id);
        // If the item has another version now, a later change of this item follows.
        if (item?.version === change.version) yield { ...place, json: list.json(item) };
      }
    }
  }
}
