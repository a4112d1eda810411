// The API description of an instance with default settings, at its default address.

import { describeApi } from "../src/description/api-description.ts";
import type { ApiDescription } from "../src/description/document.ts";
import { writeYaml } from "../src/description/yaml.ts";
import { describedInstance } from "../src/serve/described-instance.ts";
import { readSettings } from "../src/serve/settings.ts";

export function defaultDescription(): ApiDescription {
  const result = readSettings([], {});
  if (!("settings" in result)) throw new Error(result.problems.join("\n"));
  return describeApi(describedInstance(result.settings), "http://localhost:5000");
}

/** The content of openapi.yaml. */
export function defaultDescriptionText(): string {
  return `# Written by \`npm run describe\`. An instance serves its own description at /openapi.yaml.\n${writeYaml(defaultDescription())}`;
}
