// The clock and the event loop of a simulation. Nothing happens at a real time: each step runs the event that is due
// next, and the clock jumps to the time of that event. The globals that code uses to tell the time, to wait and to get
// random numbers are replaced. So everything that the code under test does follows from the seed.

import type { SeededRandom } from "./random.ts";

interface ScheduledEvent {
  readonly atMs: number;
  readonly order: number;
  readonly run: () => void;
  isCancelled: boolean;
}

const afterMicrotasks = globalThis.setImmediate;

export class VirtualTime {
  readonly #random: SeededRandom;
  /** A binary heap: the event that is due next comes first. */
  readonly #events: ScheduledEvent[] = [];
  #nowMs = 0;
  #stepCount = 0;
  #order = 0;

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  /** How many events have run. */
  get stepCount(): number {
    return this.#stepCount;
  }

  /** Calls `run` after `ms` milliseconds of virtual time. Returns a function that cancels the call. */
  after(ms: number, run: () => void): () => void {
    // Without the small random part, events that are due at the same time would always run in the same order.
    const atMs = this.#nowMs + Math.max(0, ms) + this.#random.next() / 100;
    const event = { atMs, order: this.#order++, run, isCancelled: false };
    this.#push(event);
    return () => {
      event.isCancelled = true;
    };
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.after(ms, resolve));
  }

  /**
   * Runs events until there are none left or `goOn` returns false. After each event, waits for everything that the
   * event causes at once.
   */
  async run(goOn: () => boolean): Promise<void> {
    while (goOn()) {
      const event = this.#pop();
      if (!event) return;
      if (event.isCancelled) continue;
      this.#nowMs = Math.max(this.#nowMs, event.atMs);
      this.#stepCount++;
      event.run();
      // The real event loop goes on only after all callbacks of promises have run.
      await new Promise<void>((resolve) => afterMicrotasks(resolve));
    }
  }

  /** Replaces the globals. They cannot be restored, so do this only in a separate process. */
  install(): void {
    Object.assign(globalThis, {
      setTimeout: (run: () => void, ms = 0) => this.#timer((fire) => this.after(ms, fire), run),
      setImmediate: (run: () => void) => this.#timer((fire) => this.after(0, fire), run),
      setInterval: (run: () => void, ms: number) => this.#interval(run, ms),
      clearTimeout: cancelTimer,
      clearImmediate: cancelTimer,
      clearInterval: cancelTimer,
    });
    performance.now = () => this.#nowMs;
    Math.random = () => this.#random.next();
    Object.assign(Bun, { sleep: (ms: number) => this.sleep(ms) });
    crypto.randomUUID = () => this.#uuid();
  }

  #timer(start: (fire: () => void) => () => void, run: () => void): VirtualTimer {
    return new VirtualTimer(start(run));
  }

  #interval(run: () => void, ms: number): VirtualTimer {
    let cancel = () => {};
    const repeat = () => {
      cancel = this.after(ms, repeat);
      run();
    };
    cancel = this.after(ms, repeat);
    return new VirtualTimer(() => cancel());
  }

  #uuid(): `${string}-${string}-${string}-${string}-${string}` {
    const digits = (count: number) =>
      Math.floor(this.#random.next() * 16 ** count)
        .toString(16)
        .padStart(count, "0");
    return `${digits(8)}-${digits(4)}-${digits(4)}-${digits(4)}-${digits(12)}`;
  }

  #push(event: ScheduledEvent): void {
    const heap = this.#events;
    let index = heap.push(event) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.#isBefore(index, parent)) return;
      this.#swap(index, parent);
      index = parent;
    }
  }

  #pop(): ScheduledEvent | undefined {
    const heap = this.#events;
    this.#swap(0, heap.length - 1);
    const event = heap.pop();
    for (let index = 0; ; ) {
      const [left, right] = [2 * index + 1, 2 * index + 2];
      const child = this.#isBefore(right, left) ? right : left;
      if (!this.#isBefore(child, index)) return event;
      this.#swap(index, child);
      index = child;
    }
  }

  /**
   * True if the event at the first index is due before the one at the second. An index without an event comes after
   * every event.
   */
  #isBefore(first: number, second: number): boolean {
    const [a, b] = [this.#events[first], this.#events[second]];
    if (!a || !b) return a !== undefined;
    return a.atMs === b.atMs ? a.order < b.order : a.atMs < b.atMs;
  }

  #swap(first: number, second: number): void {
    const [a, b] = [this.#events[first], this.#events[second]];
    if (!a || !b) return;
    this.#events[first] = b;
    this.#events[second] = a;
  }
}

class VirtualTimer {
  readonly cancel: () => void;

  constructor(cancel: () => void) {
    this.cancel = cancel;
  }

  unref(): this {
    return this;
  }

  ref(): this {
    return this;
  }
}

function cancelTimer(timer: unknown): void {
  if (timer instanceof VirtualTimer) timer.cancel();
}
