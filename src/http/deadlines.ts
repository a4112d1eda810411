// Time limits for many things at once. A timer for each of them would cost more than most of the things
// themselves, so they wait in line, and one timer looks at the head of the line.

export interface Deadline {
  readonly at: number;
  readonly onReached: () => void;
  /** To be set once the thing is done; the deadline then passes unnoticed. */
  over: boolean;
}

/** How much later than asked a deadline may be noticed. */
const lateMs = 100;

export class Deadlines {
  // In order of time for each duration; callers use one duration, or few.
  readonly #lines = new Map<number, Deadline[]>();
  #timer: Timer | undefined;

  add(durationMs: number, onReached: () => void): Deadline {
    const deadline = { at: performance.now() + durationMs, onReached, over: false };
    const line = this.#lines.get(durationMs);
    if (line) line.push(deadline);
    else this.#lines.set(durationMs, [deadline]);
    this.#timer ??= setInterval(() => this.#look(), lateMs);
    return deadline;
  }

  #look(): void {
    const now = performance.now();
    for (const [durationMs, line] of this.#lines) {
      for (const deadline of line) if (deadline.at <= now && !deadline.over) deadline.onReached();
      const rest = line.filter((deadline) => deadline.at > now && !deadline.over);
      if (rest.length > 0) this.#lines.set(durationMs, rest);
      else this.#lines.delete(durationMs);
    }
    if (this.#lines.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
