// The user's actions that Ctrl+Z undoes, newest last.

const stepsMax = 100;

/** Undoes an action. Returns false if nothing was left to undo, for example because the item is gone. */
export type UndoStep = () => boolean;

export class UndoList {
  #steps: UndoStep[] = [];

  /** Adds a step. Returns a function that removes this step from the list and undoes it. */
  add(undo: UndoStep): UndoStep {
    const step = () => {
      this.drop(step);
      return undo();
    };
    this.#steps = [...this.#steps, step].slice(-stepsMax);
    return step;
  }

  drop(step: UndoStep): void {
    this.#steps = this.#steps.filter((other) => other !== step);
  }

  clear(): void {
    this.#steps = [];
  }

  /** Undoes the newest step that has something to undo. Returns false if there is none. */
  undoNewest(): boolean {
    for (let newest = this.#steps.at(-1); newest; newest = this.#steps.at(-1)) if (newest()) return true;
    return false;
  }
}
