// Spectral, its OWASP rules and Redocly have no complaint about the description. The rulesets beside this file give the
// reason for each rule that is switched off.

import { beforeAll, test } from "bun:test";
import { run, tool, writeDescription } from "./tool.ts";

beforeAll(async () => {
  await writeDescription("open");
  await writeDescription("guarded", "--auth", "all", "--users", "users");
});

const spectral = (file: string, ruleset: string) =>
  run(tool("@stoplight/spectral-cli/dist/index.js", "lint", file, "--ruleset", ruleset, "--fail-severity", "hint"));

test("Spectral and the OWASP rules accept openapi.yaml and the description of an instance without credentials", async () => {
  await spectral("../../openapi.yaml", "spectral-open.yaml");
  await spectral("generated/open.json", "spectral-open.yaml");
});

test("Spectral and the OWASP rules accept the description of an instance with credentials", async () => {
  await spectral("generated/guarded.json", "spectral.yaml");
});

test("Redocly accepts openapi.yaml and the descriptions for OpenAPI 3.1 and 3.0", async () => {
  const made = ["open", "guarded", "open-3.0", "guarded-3.0"].map((name) => `generated/${name}.json`);
  await run(tool("@redocly/cli/bin/cli.js", "lint", "../../openapi.yaml", ...made, "--config", "redocly.yaml"));
});
