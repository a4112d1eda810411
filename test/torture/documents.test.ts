// Checks that the documents about reliability and security name parts and tests that exist. Also checks what is
// reported after a long run.

import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { projectFolder } from "../program.ts";
import { parts } from "./parts.ts";
import { type Figures, isBroken, textReport, withFigures } from "./report.ts";

const read = (name: string) => readFileSync(join(projectFolder, name), "utf8");
const reliability = read("docs/reliability.md");

describe("the documents about reliability and security", () => {
  test("the documents name only parts of npm run torture that exist", () => {
    const named = [...reliability.matchAll(/^\| .* \| `([^`]+)` \|$/gm)].map(([, name]) => name);
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((name) => !parts.some((part) => part.name === name))).toEqual([]);
  });

  test("the documents name only tests that exist", () => {
    const texts = [read("docs/security.md"), read("test/fuzz/corpus/README.md")];
    const named = texts.flatMap((text) => [...text.matchAll(/`(test\/[\w./-]+)`/g)].map(([, path = ""]) => path));
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((path) => !existsSync(join(projectFolder, path)))).toEqual([]);
  });
});

describe("the figures of a long run", () => {
  const part = { name: "kill -9", promise: "", seconds: 60, skipped: undefined, operations: 12_345, faults: 7 };
  const figures: Figures = {
    command: "npm run torture -- --minutes 1 --seed 5",
    date: "2026-11-15",
    seed: 5,
    parts: [{ ...part, lost: 0, wrong: 0, notes: { stored: 3 }, findings: [] }],
  };

  test("the figures of a long run replace the generated section of docs/reliability.md and nothing else", () => {
    const once = withFigures(reliability, figures);
    expect(once).toContain("| kill -9 | 60 | 12,345 | 7 | 0 | 0 |\n");
    expect(withFigures(once, figures)).toBe(once);
    const [before = ""] = reliability.split("<!-- torture");
    const after = reliability.split("<!-- end of torture -->")[1] ?? "";
    expect(once.startsWith(before) && once.endsWith(after)).toBeTrue();
  });

  test("the report says that a promise was broken, and how", () => {
    const broken: Figures = { ...figures, parts: [{ ...part, lost: 1, wrong: 0, notes: {}, findings: ["x is lost"] }] };
    expect([isBroken(figures), isBroken(broken)]).toEqual([false, true]);
    expect(textReport(broken)).toContain("BROKEN kill -9: x is lost");
  });
});
