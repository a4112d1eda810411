// The figures of a run of `npm run torture`: as text for the terminal, and as the section of docs/reliability.md that
// is made from the JSON of the last long run.

export interface PartFigures {
  readonly name: string;
  readonly promise: string;
  readonly seconds: number;
  /** Why the part did not run. Undefined if it did. */
  readonly skipped: string | undefined;
  readonly operations: number;
  readonly faults: number;
  readonly lost: number;
  readonly wrong: number;
  readonly notes: Readonly<Record<string, number>>;
  readonly findings: readonly string[];
}

export interface Figures {
  readonly command: string;
  readonly date: string;
  readonly seed: number;
  readonly parts: readonly PartFigures[];
}

const columns = ["part", "seconds", "operations", "faults", "lost", "wrong"] as const;
const [start, end] = ["<!-- torture: written by npm run torture -- --publish -->", "<!-- end of torture -->"];

export function isBroken({ parts }: Figures): boolean {
  return parts.some(({ lost, wrong }) => lost + wrong > 0);
}

/** A table for the terminal, and below it what was found and what was skipped. */
export function textReport(figures: Figures): string {
  const rows = [columns, ...figures.parts.map(cells)];
  const widths = columns.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const table = rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join("  "),
  );
  const remarks = figures.parts.flatMap(({ name, skipped, notes, findings }) => [
    ...(skipped === undefined ? [] : [`${name} was skipped: ${skipped}`]),
    ...(Object.keys(notes).length > 0 ? [`${name}: ${listOf(notes)}`] : []),
    ...findings.map((finding) => `BROKEN ${name}: ${finding}`),
  ]);
  return [...table, "", ...remarks, `seed ${figures.seed}`].join("\n");
}

/** The document with its generated section replaced. */
export function withFigures(document: string, figures: Figures): string {
  const from = document.indexOf(start);
  const to = document.indexOf(end);
  if (from === -1 || to < from) throw new Error(`docs/reliability.md has no section between ${start} and ${end}`);
  return `${document.slice(0, from)}${start}\n\n${markdownReport(figures)}\n\n${document.slice(to)}`;
}

function markdownReport(figures: Figures): string {
  const minutes = Math.round(figures.parts.reduce((sum, { seconds }) => sum + seconds, 0) / 60);
  const rows = figures.parts.map((part) => `| ${cells(part).join(" | ")} |`);
  return [
    `\`${figures.command}\` on ${figures.date}, ${minutes} minutes, seed ${figures.seed}. A fault is a kill, a failed sync, a power cut, a damaged file and so on. *Lost* counts answered writes that were gone; *wrong* counts other broken promises.`,
    "",
    `| ${columns.join(" | ")} |`,
    "|---|--:|--:|--:|--:|--:|",
    ...rows,
  ].join("\n");
}

function cells({ name, seconds, skipped, operations, faults, lost, wrong }: PartFigures): string[] {
  if (skipped !== undefined) return [name, "skipped", "", "", "", ""];
  return [name, ...[Math.round(seconds), operations, faults, lost, wrong].map((number) => number.toLocaleString("en"))];
}

function listOf(notes: Readonly<Record<string, number>>): string {
  return Object.entries(notes)
    .map(([what, number]) => `${what}: ${number.toLocaleString("en")}`)
    .join(", ");
}
