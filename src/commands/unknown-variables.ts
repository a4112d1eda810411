// Warns about environment variables that look like settings but are none, because a misspelt one would have no effect.

import type { Environment } from "../serve/environment.ts";
import { unknownVariables } from "../serve/settings.ts";
import { connectionVariables } from "./connection-flags.ts";
import { remark } from "./output.ts";

/** Commands call this where they read their own variables. */
export function warnOfUnknownVariables(environment: Environment): void {
  for (const text of describeUnknownVariables(environment)) remark(`warning: ${text}`);
}

export function describeUnknownVariables(environment: Environment): string[] {
  return unknownVariables(environment, connectionVariables).map((text) => (text.endsWith("?") ? text : `${text}.`));
}
