// What a check of `doctor` examines, and what it finds: a verdict, a sentence and, if something is wrong, what to do
// about it.

import type { Settings } from "../../serve/settings-table.ts";
import type { Environment } from "../../terminal/environment.ts";

export type Verdict = "pass" | "warn" | "fail";

export interface Finding {
  readonly verdict: Verdict;
  readonly text: string;
  /** What to do. A finding with the verdict "pass" has no hint. */
  readonly hint?: string;
}

/** What is examined: the settings with which the service would start. */
export interface Subject {
  readonly settings: Settings;
  readonly environment: Environment;
  readonly args: readonly string[];
}

export const pass = (text: string): Finding => ({ verdict: "pass", text });
export const warn = (text: string, hint: string): Finding => ({ verdict: "warn", text, hint });
export const fail = (text: string, hint: string): Finding => ({ verdict: "fail", text, hint });
