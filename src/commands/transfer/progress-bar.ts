// A progress bar for a terminal. It shows how much is done, how fast, and how much time is left. Without a terminal, it
// prints nothing.

import { countOf } from "../output.ts";
import { shorten } from "../terminal.ts";

const redrawMs = 100;
/** Work that is finished sooner than this needs no bar. */
const firstDrawMs = 500;
const barLength = 24;

export class ProgressBar {
  readonly #stream: NodeJS.WriteStream;
  readonly #startedAt = performance.now();
  #drawnAt = this.#startedAt + firstDrawMs - redrawMs;
  /** The progress when this run began. It is not zero if an earlier run did part of the work. */
  #begin: { readonly items: number; readonly fraction: number } | undefined;
  #shown = false;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  /** `fraction` is the finished part of the work, from 0 to 1. Undefined if that is not known. */
  update(items: number, fraction: number | undefined): void {
    this.#begin ??= { items: items - 1, fraction: fraction ?? 0 };
    const now = performance.now();
    if (!this.#stream.isTTY || now - this.#drawnAt < redrawMs) return;
    this.#drawnAt = now;
    this.#shown = true;
    const seconds = (now - this.#startedAt) / 1000;
    const parts = [
      ...(fraction === undefined ? [] : [bar(fraction), `${Math.floor(fraction * 100)} %`]),
      countOf(items),
      `${Math.round((items - this.#begin.items) / seconds).toLocaleString("en")}/s`,
      ...(fraction !== undefined && fraction > this.#begin.fraction
        ? [`${duration((seconds * (1 - fraction)) / (fraction - this.#begin.fraction))} left`]
        : []),
    ];
    this.#stream.write(`\r\u001b[K${shorten(parts.join("  "), (this.#stream.columns || 80) - 1)}`);
  }

  /** Removes the bar, so that other text can be printed. */
  clear(): void {
    if (this.#shown) this.#stream.write("\r\u001b[K");
    this.#shown = false;
  }
}

function bar(fraction: number): string {
  const full = Math.round(Math.min(1, fraction) * barLength);
  return `[${"█".repeat(full)}${"░".repeat(barLength - full)}]`;
}

function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const padded = [minutes, whole % 60].map((part) => String(part).padStart(2, "0")).join(":");
  return hours > 0 ? `${hours}:${padded}` : padded.replace(/^0/, "");
}
