// Messages about edits that the service has refused. If several edits in a row are refused for the same reason, such as
// the lines of a pasted list, they share one message. A message closes when it is no longer true.

import type { Edit } from "./edit.ts";
import { named, readFields } from "./item-fields.ts";
import type { NoticeList } from "./notice-list.ts";

export interface RefusalNoticesParts {
  readonly notices: NoticeList;
  /**
   * True if this edit is still refused: the user has not edited its item again and has not discarded the edit. If the
   * edit is a deletion, its item must also still be there.
   */
  readonly isRefused: (edit: Edit) => boolean;
}

interface RefusedEdits {
  readonly key: number;
  readonly edits: readonly Edit[];
  readonly problem: string;
}

export class RefusalNotices {
  readonly #parts: RefusalNoticesParts;
  #latest: RefusedEdits | undefined;

  constructor(parts: RefusalNoticesParts) {
    this.#parts = parts;
  }

  add(edit: Edit, problem: string): void {
    const { notices, isRefused } = this.#parts;
    const edits = [...this.#withdrawSame(edit, problem), edit];
    const key = notices.add("problem", textOf(edits, problem), undefined, () => !edits.some(isRefused));
    this.#latest = { key, edits, problem };
  }

  /**
   * If the latest message gives the same reason for the same kind of edit, removes it and returns its edits that are
   * still refused. An earlier edit of the same item is left out.
   */
  #withdrawSame({ id, kind }: Edit, problem: string): readonly Edit[] {
    const { notices, isRefused } = this.#parts;
    const latest = this.#latest;
    if (latest?.problem !== problem || latest.edits[0]?.kind !== kind || !notices.withdraw(latest.key)) return [];
    return latest.edits.filter((edit) => edit.id !== id && isRefused(edit));
  }
}

const participles = { create: "added", update: "saved", delete: "deleted" };

function textOf(edits: readonly Edit[], problem: string): string {
  const [edit] = edits;
  if (!edit) return problem;
  const participle = participles[edit.kind];
  if (edits.length > 1) return `${edits.length} items were not ${participle}: ${problem}`;
  const what = edit.kind === "delete" ? "The item" : named(readFields(edit.json));
  return `${what} was not ${participle}: ${problem}`;
}
