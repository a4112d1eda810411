// A progress bar for a terminal. Without a terminal, it prints nothing.

import { beforeRemarks, countOf } from "../command-line/output.ts";

const redrawMs = 100;
/** Work that is finished sooner than this needs no bar. */
const firstDrawMs = 500;
const barLength = 24;

export class ProgressBar {
  readonly #stream = process.stderr;
  readonly #startedAt = performance.now();
  #drawnAt = this.#startedAt + firstDrawMs - redrawMs;
  #shown = false;

  constructor() {
    beforeRemarks(() => this.clear());
  }

  /** `fraction` is the finished part of the work, from 0 to 1. Undefined if that is not known. */
  update(items: number, fraction: number | undefined): void {
    const now = performance.now();
    if (!this.#stream.isTTY || now - this.#drawnAt < redrawMs) return;
    this.#drawnAt = now;
    this.#shown = true;
    this.#stream.write(`\r\u001b[K${progressLine(items, fraction, now - this.#startedAt)}`);
  }

  /** Removes the bar, so that other text can be printed. */
  clear(): void {
    if (this.#shown) this.#stream.write("\r\u001b[K");
    this.#shown = false;
  }
}

export function progressLine(items: number, fraction: number | undefined, elapsedMs: number): string {
  if (!fraction) return countOf(items);
  const full = Math.round(Math.min(1, fraction) * barLength);
  const secondsLeft = Math.round((elapsedMs * (1 / fraction - 1)) / 1_000);
  const left = `${Math.floor(secondsLeft / 60)}:${String(secondsLeft % 60).padStart(2, "0")} left`;
  return `[${"█".repeat(full)}${"░".repeat(barLength - full)}]  ${Math.floor(fraction * 100)} %  ${countOf(items)}  ${left}`;
}
