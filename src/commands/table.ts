// A table that fits the terminal. If there is no room for all of its content, columns are shortened. If they would
// become too narrow, optional columns are left out.

import { padEnd, type Style, shorten } from "../terminal/text.ts";

const gap = "  ";
/** If a column would become narrower than this, optional columns are left out, beginning with the last. */
const narrowest = 12;
/** The same limit for a column with `wide`. */
const narrowestWide = 32;

export interface Column {
  readonly title: string;
  readonly cells: readonly string[];
  /** If true, this column may be left out if there is no room. */
  readonly optional: boolean;
  /** If true, this column gets at least half of the room, if it needs it. */
  readonly wide?: boolean;
}

export interface Table {
  readonly lines: readonly string[];
  /** The titles of the columns that were left out. */
  readonly leftOut: readonly string[];
}

/** Lays out a table. `dims` says which rows are printed dimmed, because they are less important. */
export function layOut(
  columns: readonly Column[],
  width: number,
  style: Style,
  dims: (row: number) => boolean = () => false,
): Table {
  const shown = [...columns];
  const roomFor = (column: Column) => Math.min(naturalWidth(column), column.wide ? narrowestWide : narrowest);
  const leastWidth = () => sumOf(shown.map(roomFor)) + gap.length * (shown.length - 1);
  while (leastWidth() > width && shown.some(({ optional }) => optional))
    shown.splice(
      shown.findLastIndex(({ optional }) => optional),
      1,
    );
  const widths = widthsOf(shown, width - gap.length * (shown.length - 1));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, index) => padEnd(shorten(cell, widths[index] ?? 0), widths[index] ?? 0))
      .join(gap)
      .trimEnd();
  const rowCount = Math.max(0, ...shown.map(({ cells }) => cells.length));
  const rows = Array.from({ length: rowCount }, (_, row) => line(shown.map(({ cells }) => cells[row] ?? "")));
  return {
    lines: [
      style.bold(line(shown.map(({ title }) => title))),
      ...rows.map((text, row) => (dims(row) ? style.dim(text) : text)),
    ],
    leftOut: columns.filter((column) => !shown.includes(column)).map(({ title }) => title),
  };
}

function naturalWidth({ title, cells }: Column): number {
  return cells.reduce((widest, cell) => Math.max(widest, Bun.stringWidth(cell)), Bun.stringWidth(title));
}

/**
 * The width of each column. The columns with `wide` get half of the room, or more if the others do not need their half.
 * In a narrow terminal they get `narrowestWide`, if each of the others still gets `narrowest`.
 */
function widthsOf(columns: readonly Column[], sumMax: number): number[] {
  const naturalIf = (wide: boolean) =>
    columns.map((column) => (Boolean(column.wide) === wide ? naturalWidth(column) : 0));
  const others = naturalIf(false);
  const share = Math.max(sumMax - sumOf(others), Math.ceil(sumMax / 2), narrowestWide);
  const spare = sumMax - sumOf(others.map((width) => Math.min(width, narrowest)));
  const wide = shrink(naturalIf(true), Math.min(share, spare));
  const shrunk = shrink(others, sumMax - sumOf(wide));
  return shrunk.map((width, index) => width + (wide[index] ?? 0));
}

function sumOf(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0);
}

/** Narrows the widest columns until the sum of all widths is small enough. */
function shrink(widths: readonly number[], sumMax: number): number[] {
  const sumAt = (cap: number) => sumOf(widths.map((width) => Math.min(width, cap)));
  if (sumAt(Number.POSITIVE_INFINITY) <= sumMax) return [...widths];
  let cap = Math.max(...widths);
  while (cap > 1 && sumAt(cap) > sumMax) cap--;
  let spare = sumMax - sumAt(cap);
  return widths.map((width) => (width > cap && spare-- > 0 ? cap + 1 : Math.min(width, cap)));
}
