// Warns about environment variables that look like settings but are none, because a misspelt one would have no effect.

import { unknownVariables } from "../serve/settings.ts";
import type { Environment } from "../terminal/environment.ts";
import { connectionVariables } from "./connection-flags.ts";
import { remark } from "./output.ts";

/** Commands call this where they read their own variables. */
export function warnOfUnknownVariables(environment: Environment): void {
  for (const text of describeUnknownVariables(environment)) remark(`warning: ${text}`);
}

export function describeUnknownVariables(environment: Environment): string[] {
  return unknownVariables(environment, connectionVariables).map((text) => (text.endsWith("?") ? text : `${text}.`));
}
