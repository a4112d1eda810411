// Spectral, its OWASP rules and Redocly have no complaint about the description. The rulesets beside this file give the
// reason for each rule that is switched off.

import { beforeAll, test } from "bun:test";
import { run, tool, writeDescription } from "./tool.ts";

beforeAll(async () => {
  await writeDescription("open");
  await writeDescription("guarded", "--auth", "all", "--users", "users", "--rate-limit", "10");
});

const spectral = (name: string, ruleset: string) =>
  run(
    tool(
      "@stoplight/spectral-cli/dist/index.js",
      "lint",
      `generated/${name}.json`,
      "--ruleset",
      ruleset,
      "--fail-severity",
      "hint",
    ),
  );

test("Spectral and the OWASP rules accept the description of an instance with default settings", async () => {
  await spectral("open", "spectral-open.yaml");
});

test("Spectral and the OWASP rules accept the description of an instance with credentials and a rate limit", async () => {
  await spectral("guarded", "spectral.yaml");
});

test("Redocly accepts the descriptions for OpenAPI 3.1 and 3.0", async () => {
  const files = ["open", "guarded", "open-3.0", "guarded-3.0"].map((name) => `generated/${name}.json`);
  await run(tool("@redocly/cli/bin/cli.js", "lint", ...files, "--config", "redocly.yaml"));
});
