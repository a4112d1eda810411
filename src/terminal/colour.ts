// Decides whether to print in colour.

import type { Environment } from "./environment.ts";

/**
 * Colour is used on a terminal, unless `NO_COLOR` is set (no-color.org) or `TERM` is `dumb`. `FORCE_COLOR` overrides
 * all of this, as it does in Node: 0 and false switch colour off, and any other value switches it on.
 */
export function usesColour(stream: { readonly isTTY?: boolean }, environment: Environment): boolean {
  const forced = environment["FORCE_COLOR"];
  if (forced !== undefined) return !["0", "false"].includes(forced);
  return Boolean(stream.isTTY) && !environment["NO_COLOR"] && environment["TERM"] !== "dumb";
}
