// Which lists have items. The names are read from the engine once, and then kept up to date with this process's own
// commits, so that asking for them does not hold up commits. If another process has changed them, they are read again.

import { firstIndexWhere } from "./binary-search.ts";
import type { ListNames, PlannedList, StoreState } from "./engine.ts";
import { partsOf } from "./list-key.ts";

/** The names of this many owners are kept. When there are more, all are forgotten. */
const ownersMax = 100;

export class NamesInUse {
  readonly #read: (owner: string) => Promise<ListNames>;
  #known = new Map<string, ListNames>();

  constructor(read: (owner: string) => Promise<ListNames>) {
    this.#read = read;
  }

  /** The names of the lists that have items in this state of the store, or in a newer one, sorted. */
  async of(owner: string, { listsMark }: StoreState): Promise<readonly string[]> {
    const all = this.#known;
    const known = all.get(owner);
    if (known?.listsMark === listsMark) return known.names;
    const read = await this.#read(owner);
    if (all.size >= ownersMax) all.clear();
    const names = [...read.names].sort();
    all.set(owner, { listsMark: read.listsMark, names });
    return names;
  }

  /** Notes a commit of this process, which led from one state to another. */
  note(lists: readonly PlannedList[], before: StoreState, after: StoreState): void {
    if (before.listsMark === after.listsMark) return;
    for (const [owner, known] of this.#known) {
      if (known.listsMark !== before.listsMark) continue;
      const changed = lists.filter(({ list, hasItems }) => hasItems !== undefined && partsOf(list).owner === owner);
      let { names } = known;
      // Whoever has got the array before must not see it change.
      if (changed.length > 0) names = withChanges([...names], changed);
      this.#known.set(owner, { listsMark: after.listsMark, names });
    }
  }

  /** Call this if the store has another history now, even if its marks are the same. */
  forget(): void {
    // What is being read at this moment goes into the old map.
    this.#known = new Map();
  }
}

function withChanges(names: string[], lists: readonly PlannedList[]): readonly string[] {
  for (const { list, hasItems } of lists) {
    const { name } = partsOf(list);
    const index = firstIndexWhere(names, (other) => other >= name);
    const wasThere = names[index] === name;
    names.splice(index, wasThere ? 1 : 0, ...(hasItems ? [name] : []));
  }
  return names;
}
