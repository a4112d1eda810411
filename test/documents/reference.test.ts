// Compares docs/reference.md with the code and with openapi.yaml.

import { describe, expect, test } from "bun:test";
import { problemStatus } from "../../src/http/problem-table.ts";
import { type Definition, definitions } from "../../src/serve/settings-table.ts";
import { variableOf } from "../../src/terminal/environment.ts";
import { runProgram } from "../program.ts";
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
    const rows = Object.values<Definition>(definitions).map(
      ({ flag, placeholder = "", default: standard = "", meaning }) =>
        `| ${quoted(`--${flag} ${placeholder}`.trimEnd())} | ${quoted(variableOf(flag))} | ${quoted(standard)} | ${meaning} |`,
    );
    const [, table = ""] = /\| flag \| environment variable .*\n\|---.*\n((?:\|.*\n)*)/.exec(reference) ?? [];
    expect(table.trimEnd().split("\n")).toEqual(rows);
  });

  test("wrong settings are reported as the reference shows", async () => {
    const [, shown = ""] = /^```console\n\$ TODOITEMS_LOG=xml .*\n([^`]*)^```$/m.exec(reference) ?? [];
    const environment = { TODOITEMS_LOG: "xml", npm_lifecycle_event: "npx" };
    const { exitCode, stderr } = await runProgram("serve", {
      args: ["--port", "70000", "--auth", "writes"],
      environment,
    });
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: shown });
  });

  test("the reference lists exactly the problems that the code has, by status", () => {
    const rows = Object.entries(problemStatus)
      .sort(([, status], [, other]) => status - other)
      .map(([code, status]) => `| ${status} | \`${code}\` | ${examples[code]?.summary} |`);
    const [, table = ""] = /\| status \| `code` \| when \|\n\|---.*\n((?:\|.*\n)*)/.exec(reference) ?? [];
    expect(table.trimEnd().split("\n")).toEqual(rows);
  });
});
