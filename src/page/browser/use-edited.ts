// Remembers which items are being edited. Several can be edited at once, so opening an editor never closes another one
// with typed text in it. An item that somebody else deletes, or that a sign-out hides, stays in the list as long as its
// editor is open.

import { useMemo, useRef, useState } from "preact/hooks";
import type { Draft } from "../draft.ts";
import type { ShownItem } from "../overlay.ts";

export interface Edited {
  readonly ids: ReadonlySet<string>;
  /** True if the item is being edited but somebody has deleted it. */
  readonly isGone: (id: string) => boolean;
  /** Returns these items and, at their old places, the edited items that are missing from the list. */
  readonly withMissing: (shown: readonly ShownItem[]) => readonly ShownItem[];
  /** Opens an editor. If there is a draft, the user goes on with it. */
  readonly open: (item: ShownItem, draft?: Draft) => void;
  /** How the editor was opened. Undefined if it is not open. */
  readonly openingOf: (id: string) => Opening | undefined;
  readonly close: (id: string) => void;
}

interface Opening {
  /** Differs each time an editor is opened. */
  readonly number: number;
  /** The draft that the editor was opened with. */
  readonly draft: Draft | undefined;
}

interface Place {
  /** The item as it was when it was last in the list. */
  readonly item: ShownItem;
  readonly index: number;
}

/** `loaded` is false while the list is not known. Then no item counts as deleted, and edited items keep their rows. */
export function useEdited(items: readonly ShownItem[], loaded: boolean): Edited {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const places = useRef(new Map<string, Place>()).current;
  const openings = useRef(new Map<string, Opening>()).current;
  const openingCount = useRef(0);
  const present = useMemo(() => new Set(ids.size === 0 ? [] : items.map(({ id }) => id)), [items, ids]);
  const isMissing = (id: string) => ids.has(id) && !present.has(id);
  return {
    ids,
    isGone: (id) => loaded && isMissing(id),
    withMissing: (shown) => {
      for (const [index, item] of ids.size === 0 ? [] : shown.entries())
        if (ids.has(item.id)) places.set(item.id, { item, index });
      const missing = [...ids].filter(isMissing).flatMap((id) => places.get(id) ?? []);
      return missing.reduce((rows, { item, index }) => rows.toSpliced(Math.min(index, rows.length), 0, item), shown);
    },
    open: (item, draft) => {
      openings.set(item.id, { number: openingCount.current++, draft });
      // If the item has been deleted, its editor comes first in the list.
      places.set(item.id, { item, index: 0 });
      setIds((before) => new Set([...before, item.id]));
    },
    openingOf: (id) => openings.get(id),
    close: (id) => {
      places.delete(id);
      openings.delete(id);
      setIds((before) => new Set([...before].filter((other) => other !== id)));
    },
  };
}
