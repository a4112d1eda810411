// A table that fits the terminal: as wide as its content if there is room, otherwise with its widest columns shortened.

import { padEnd, type Style, shorten } from "./terminal.ts";

const gap = "  ";
/** If columns would become narrower than this, optional ones are left out, beginning with the last. */
const narrowest = 12;

export interface Column {
  readonly title: string;
  readonly cells: readonly string[];
  /** May be left out if there is no room. */
  readonly optional: boolean;
}

export interface Table {
  readonly lines: readonly string[];
  /** The titles of the columns that were left out. */
  readonly leftOut: readonly string[];
}

export function layOut(columns: readonly Column[], width: number, style: Style): Table {
  const shown = [...columns];
  const leastWidth = () =>
    shown.reduce((sum, column) => sum + Math.min(naturalWidth(column), narrowest) + gap.length, -gap.length);
  while (leastWidth() > width && shown.some(({ optional }) => optional))
    shown.splice(
      shown.findLastIndex(({ optional }) => optional),
      1,
    );
  const widths = shrink(shown.map(naturalWidth), width - gap.length * (shown.length - 1));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, index) => padEnd(shorten(cell, widths[index] ?? 0), widths[index] ?? 0))
      .join(gap)
      .trimEnd();
  const rowCount = Math.max(0, ...shown.map(({ cells }) => cells.length));
  const rows = Array.from({ length: rowCount }, (_, row) => line(shown.map(({ cells }) => cells[row] ?? "")));
  return {
    lines: [style.bold(line(shown.map(({ title }) => title))), ...rows],
    leftOut: columns.filter((column) => !shown.includes(column)).map(({ title }) => title),
  };
}

function naturalWidth({ title, cells }: Column): number {
  return cells.reduce((widest, cell) => Math.max(widest, Bun.stringWidth(cell)), Bun.stringWidth(title));
}

/** Narrows the widest columns until the sum of all widths is small enough. */
function shrink(widths: readonly number[], sumMax: number): number[] {
  const sumAt = (cap: number) => widths.reduce((sum, width) => sum + Math.min(width, cap), 0);
  if (sumAt(Number.POSITIVE_INFINITY) <= sumMax) return [...widths];
  let cap = Math.max(...widths);
  while (cap > 1 && sumAt(cap) > sumMax) cap--;
  let spare = sumMax - sumAt(cap);
  return widths.map((width) => (width > cap && spare-- > 0 ? cap + 1 : Math.min(width, cap)));
}
