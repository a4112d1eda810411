// The line of the progress bar: it fits the terminal, and no part of it is cut.

import { expect, test } from "bun:test";
import { ProgressBar, progressLine } from "../../../src/commands/transfer/progress-bar.ts";
import { eventually } from "../../eventually.ts";

const texts = { count: "12,345 items", speed: "1,234/s", timeLeft: "10:12 left" };

test("the bar becomes shorter so that all texts fit, and is left out if there is no room for it", () => {
  expect([80, 59, 50, 42].map((width) => progressLine(0.5, texts, width))).toEqual([
    "[████████████░░░░░░░░░░░░]  50 %  12,345 items  1,234/s  10:12 left",
    "[████████░░░░░░░░]  50 %  12,345 items  1,234/s  10:12 left",
    "[████░░░]  50 %  12,345 items  1,234/s  10:12 left",
    "50 %  12,345 items  1,234/s  10:12 left",
  ]);
});

test("in a very narrow terminal, whole parts are left out", () => {
  expect([38, 29, 20, 10, 3].map((width) => progressLine(0.5, texts, width))).toEqual([
    "50 %  12,345 items  10:12 left",
    "[█████░░░░]  50 %  10:12 left",
    "50 %  10:12 left",
    "50 %",
    "",
  ]);
});

test("no line is wider than the terminal, whatever is known", () => {
  for (let width = 0; width <= 100; width++)
    for (const fraction of [undefined, 0, 0.33, 1])
      for (const timeLeft of [undefined, "1:00:00 left"])
        expect(Bun.stringWidth(progressLine(fraction, { ...texts, timeLeft }, width))).toBeLessThanOrEqual(width);
});

test("the speed is never negative, even if the count starts again because the items are read back", async () => {
  const written: string[] = [];
  const stream = Object.assign(Object.create(process.stderr), {
    isTTY: true,
    columns: 80,
    write: (text: string) => written.push(text) > 0,
  });
  const bar = new ProgressBar(stream);
  const counts = [1_000, 2_000, 1, 2];
  await eventually(() => {
    bar.update(counts[Math.min(written.length, counts.length - 1)] ?? 0, 0.5);
    expect(written.length).toBeGreaterThan(counts.length);
  });
  bar.clear();
  expect(written.slice(0, 4).map((text) => /(\S+) items? {2}(\S+)\/s/.exec(text)?.[1])).toEqual([
    "1,000",
    "2,000",
    "1",
    "2",
  ]);
  expect(written.filter((text) => text.includes("-"))).toEqual([]);
});
