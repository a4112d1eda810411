// The description of a flag, for the parser, the help texts and the shell completions.

import type { FlagShape } from "../terminal/flags.ts";

export interface Flag extends FlagShape {
  readonly meaning: string;
  /** All valid values, if there are only a few. */
  readonly choices?: readonly string[];
  /** Some of the valid values. Shells offer them. */
  readonly examples?: readonly string[];
}
