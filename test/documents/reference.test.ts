// Compares the tables of docs/reference.md with the code.

import { describe, expect, test } from "bun:test";
import { problemStatuses } from "../../src/http/problem.ts";
import { describeSettings } from "../../src/serve/settings.ts";
import { readDocument } from "./markdown.ts";

const reference = readDocument("docs/reference.md");

describe("docs/reference.md", () => {
  test("the reference lists exactly the settings that the code has", () => {
    const quoted = (text: string) => (text === "" ? "" : `\`${text}\``);
    const rows = describeSettings().map(
      ({ flag, variable, default: standard, meaning }) =>
        `| ${quoted(flag)} | ${quoted(variable)} | ${quoted(standard)} | ${meaning} |`,
    );
    const [, table = ""] = /\| flag \| environment variable .*\n\|---.*\n((?:\|.*\n)*)/.exec(reference) ?? [];
    expect(table.trimEnd().split("\n")).toEqual(rows);
  });

  test("the reference lists exactly the error codes and statuses that the code has", () => {
    const rows = [...reference.matchAll(/^\| ([0-9]{3}) \| `(\w+)` \|/gm)].map(([, status, code]) => [
      code,
      Number(status),
    ]);
    expect(Object.fromEntries(rows)).toEqual(problemStatuses);
  });
});
