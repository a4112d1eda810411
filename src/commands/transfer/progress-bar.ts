// A progress bar for a terminal. It shows how much is done, how fast, and how much time is left. Without a terminal, it
// prints nothing.

import { beforeRemarks, countOf } from "../output.ts";

const redrawMs = 100;
/** Work that is finished sooner than this needs no bar. */
const firstDrawMs = 500;
const barLength = 24;
/** A shorter bar says too little, so it is left out. */
const barLengthMin = 6;
const gap = "  ";

export class ProgressBar {
  readonly #stream: NodeJS.WriteStream;
  readonly #startedAt = performance.now();
  #drawnAt = this.#startedAt + firstDrawMs - redrawMs;
  /** The progress when this run began. It is not zero if an earlier run did part of the work. */
  #begunFraction: number | undefined;
  /** Where and when the count of items began. It begins again if the items are read back. */
  #begin: { readonly items: number; readonly at: number } | undefined;
  #last = { items: 0, at: this.#startedAt };
  #shown = false;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
    beforeRemarks(() => this.clear());
  }

  /** `fraction` is the finished part of the work, from 0 to 1. Undefined if that is not known. */
  update(items: number, fraction: number | undefined): void {
    const now = performance.now();
    this.#begunFraction ??= fraction ?? 0;
    if (!this.#begin || items < this.#last.items) this.#begin = { items: items - 1, at: this.#last.at };
    this.#last = { items, at: now };
    if (!this.#stream.isTTY || now - this.#drawnAt < redrawMs) return;
    this.#drawnAt = now;
    this.#shown = true;
    const perSecond = ((items - this.#begin.items) * 1_000) / (now - this.#begin.at);
    const speed = `${Math.round(perSecond).toLocaleString("en")}/s`;
    const seconds = (now - this.#startedAt) / 1_000;
    const timeLeft =
      fraction !== undefined && fraction > this.#begunFraction
        ? `${duration((seconds * (1 - fraction)) / (fraction - this.#begunFraction))} left`
        : undefined;
    const width = (this.#stream.columns || 80) - 1;
    this.#stream.write(`\r\u001b[K${progressLine(fraction, { count: countOf(items), speed, timeLeft }, width)}`);
  }

  /** Removes the bar, so that other text can be printed. */
  clear(): void {
    if (this.#shown) this.#stream.write("\r\u001b[K");
    this.#shown = false;
  }
}

interface ProgressTexts {
  readonly count: string;
  readonly speed: string;
  readonly timeLeft: string | undefined;
}

/**
 * The progress in one line of at most `width` columns. If there is little room, the bar becomes shorter. If that is not
 * enough, whole parts are left out, the least useful ones first. No part is cut.
 */
export function progressLine(fraction: number | undefined, texts: ProgressTexts, width: number): string {
  const percent = fraction === undefined ? undefined : `${Math.floor(fraction * 100)} %`;
  const { count, speed, timeLeft } = texts;
  const choices = [
    [percent, count, speed, timeLeft],
    [percent, count, timeLeft],
    [percent, timeLeft],
    [percent ?? count],
  ].map((parts) => parts.filter((part) => part !== undefined).join(gap));
  const text = choices.find((choice) => choice.length <= width) ?? "";
  const room = Math.min(barLength, width - text.length - gap.length - "[]".length);
  return fraction === undefined || room < barLengthMin ? text : `${bar(fraction, room)}${gap}${text}`;
}

function bar(fraction: number, length: number): string {
  const full = Math.round(Math.min(1, fraction) * length);
  return `[${"█".repeat(full)}${"░".repeat(length - full)}]`;
}

function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const padded = [minutes, whole % 60].map((part) => String(part).padStart(2, "0")).join(":");
  return hours > 0 ? `${hours}:${padded}` : padded.replace(/^0/, "");
}
