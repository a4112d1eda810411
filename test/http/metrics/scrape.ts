// Reads metrics in the text format of Prometheus. Throws if a line does not follow the format or has the same series
// as an earlier line.

import { checkedFetch } from "../../description/checked-answer.ts";
import type { Program } from "../../program.ts";

export interface Scrape {
  readonly text: string;
  /** The names of all metrics, as in the lines `# TYPE`. */
  readonly names: ReadonlySet<string>;
  /** The value of a line, such as `name` or `name{label="value"}`. Undefined if there is no such line. */
  value(line: string): number | undefined;
  /** The sum of all lines with this name and all of these `labels`. */
  sum(name: string, ...labels: string[]): number;
}

const linePattern = /^([a-z_]+(?:\{[a-z_]+="[^"\n]*"(?:,[a-z_]+="[^"\n]*")*\})?) (\S+)$/;

export function parseScrape(text: string): Scrape {
  const names = new Set<string>();
  const values = new Map<string, number>();
  for (const line of text.split("\n")) {
    const [, type] = /^# TYPE ([a-z_]+) (?:counter|gauge|histogram)$/.exec(line) ?? [];
    if (type !== undefined) names.add(type);
    if (line === "" || line.startsWith("# HELP ") || type !== undefined) continue;
    const [, key, value] = linePattern.exec(line) ?? [];
    if (key === undefined || values.has(key) || Number.isNaN(Number(value)))
      throw new Error(`not a line of metrics: ${line}`);
    values.set(key, Number(value));
  }
  return {
    text,
    names,
    value: (line) => values.get(line),
    sum: (name, ...labels) =>
      [...values]
        .filter(([key]) => key.split("{")[0] === name && labels.every((label) => key.includes(label)))
        .reduce((sum, [, value]) => sum + value, 0),
  };
}

export async function scrape(url: string): Promise<Scrape> {
  const response = await checkedFetch(url);
  if (response.status !== 200) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return parseScrape(await response.text());
}

/** The address of a service's metrics, which its start-up text shows. */
export async function metricsUrl(program: Program): Promise<string> {
  for (let line = await program.stdoutLine(); !line.includes("Ctrl-C"); line = await program.stdoutLine()) {
    const [, url] = /Metrics +(http\S+)/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error("the greeting does not show where the metrics are");
}
