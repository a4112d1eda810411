// Compares the tables of docs/reference.md with the code and with openapi.yaml.

import { describe, expect, test } from "bun:test";
import { problemStatus } from "../../src/http/problem-table.ts";
import { describeSettings } from "../../src/serve/settings.ts";
import { readDocument } from "./markdown.ts";

const reference = readDocument("docs/reference.md");
const { examples } = (
  Bun.YAML.parse(readDocument("openapi.yaml")) as {
    readonly components: { readonly examples: Readonly<Record<string, { readonly summary: string }>> };
  }
).components;

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

  test("the reference lists exactly the problems that the code has, by status", () => {
    const rows = Object.entries(problemStatus)
      .sort(([, status], [, other]) => status - other)
      .map(([code, status]) => `| ${status} | \`${code}\` | ${examples[code]?.summary} |`);
    const [, table = ""] = /\| status \| `code` \| when \|\n\|---.*\n((?:\|.*\n)*)/.exec(reference) ?? [];
    expect(table.trimEnd().split("\n")).toEqual(rows);
  });
});
