// What `check` has found out about a store, and how it is printed.

import { labelledRows } from "../../terminal/wrapped-text.ts";

/** More findings than this are only counted. */
const findingsShown = 20;
const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];

export class CheckReport {
  readonly facts: [label: string, text: string][] = [];
  readonly findings: string[] = [];
  #findingCount = 0;

  fact(label: string, text: string): void {
    this.facts.push([label, text]);
  }

  finding(text: string): void {
    this.#findingCount++;
    if (this.findings.length < findingsShown) this.findings.push(text);
  }

  get isSound(): boolean {
    return this.#findingCount === 0;
  }

  lines(columns: number): string[] {
    const moreCount = this.#findingCount - this.findings.length;
    return [
      ...labelledRows(this.facts, columns),
      ...this.findings.map((finding) => `  damaged: ${finding}`),
      ...(moreCount > 0 ? [`  and ${moreCount.toLocaleString("en")} more`] : []),
    ];
  }
}

export function formatBytes(bytes: number): string {
  const power = bytes < 1024 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  return `${Number((bytes / 1024 ** power).toFixed(1))} ${units[power]}`;
}
