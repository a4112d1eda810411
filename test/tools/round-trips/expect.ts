// The smallest possible check, so that the round trips need nothing but the generated clients.

import { isDeepStrictEqual } from "node:util";

export function expectEqual(found: unknown, expected: unknown, what: string): void {
  if (!isDeepStrictEqual(found, expected))
    throw new Error(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`);
}
