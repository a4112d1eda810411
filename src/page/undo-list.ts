// The user's actions that Ctrl+Z undoes, newest last.

const stepsMax = 100;

export class UndoList {
  #steps: (() => void)[] = [];

  /** Adds a step. Returns a function that undoes this step. After that, the step is no longer in the list. */
  add(undo: () => void): () => void {
    const step = () => {
      this.drop(step);
      undo();
    };
    this.#steps = [...this.#steps, step].slice(-stepsMax);
    return step;
  }

  drop(step: () => void): void {
    this.#steps = this.#steps.filter((other) => other !== step);
  }

  clear(): void {
    this.#steps = [];
  }

  /** Undoes the newest step. Returns false if there is none. */
  undoNewest(): boolean {
    const newest = this.#steps.at(-1);
    newest?.();
    return newest !== undefined;
  }
}
