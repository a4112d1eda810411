// The user's actions that Ctrl+Z undoes, newest last.

const stepsMax = 100;

/** Undoes an action. Returns false if nothing was left to undo, for example because the item is gone. */
export type UndoStep = () => boolean;

/** An edit of an item: its text before and after. */
export interface Change {
  readonly base?: string;
  readonly json: string;
}

interface Kept {
  readonly step: UndoStep;
  /** The edit that the step undoes. Undefined if the step undoes something else. */
  readonly change: Change | undefined;
}

export class UndoList {
  #kept: Kept[] = [];

  /** Adds a step. Returns a function that removes this step from the list and undoes it. */
  add(undo: UndoStep, change?: Change): UndoStep {
    const step = () => {
      this.drop(step);
      return undo();
    };
    this.#kept = [...this.#kept, { step, change }].slice(-stepsMax);
    return step;
  }

  drop(step: UndoStep): void {
    this.#kept = this.#kept.filter((other) => other.step !== step);
  }

  /** Removes the steps that undo this edit. */
  dropChange({ base, json }: Change): void {
    this.#kept = this.#kept.filter(({ change }) => change?.json !== json || change.base !== base);
  }

  clear(): void {
    this.#kept = [];
  }

  /** Undoes the newest step that has something to undo. Returns false if there is none. */
  undoNewest(): boolean {
    for (let newest = this.#kept.at(-1); newest; newest = this.#kept.at(-1)) if (newest.step()) return true;
    return false;
  }
}
