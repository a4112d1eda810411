// What a benchmark scenario is, and how its contenders take turns.

import type { Results } from "./results.ts";
import type { Contender, Server } from "./servers.ts";

export interface Round {
  readonly number: number;
  /** How long each load lasts. */
  readonly seconds: number;
  readonly results: Results;
}

export interface Scene {
  readonly title: string;
  /** True if a quick run leaves the scene out. */
  readonly long?: boolean;
  run(round: Round): Promise<void>;
}

/** How often each contender has its turn in a round of `alternate`. */
const turnCount = 3;
/** How long each load of such a turn lasts. wrk cannot make a shorter one. */
export const turnSeconds = 1;

/**
 * Starts all contenders that can run here, and lets them take several short turns, one contender at a time. On a
 * virtual machine the speed of the kernel changes from second to second. Long turns would compare good seconds with bad
 * ones.
 */
export async function alternate(
  items: number,
  contenders: readonly Contender[],
  warmUp: (server: Server) => Promise<unknown>,
  turn: (server: Server, contender: Contender) => Promise<void>,
): Promise<void> {
  const started: { readonly contender: Contender; readonly server: Server }[] = [];
  try {
    for (const contender of contenders.filter(({ missing }) => missing === undefined))
      started.push({ contender, server: await contender.start(items) });
    for (const { server } of started) await warmUp(server);
    for (let count = 0; count < turnCount; count++)
      for (const { contender, server } of started) await turn(server, contender);
  } finally {
    for (const { server } of started) await server.stop();
  }
}

/** For each contender that can run here: starts it, measures it with `turn`, and stops it. */
export async function side(
  items: number,
  contenders: readonly Contender[],
  turn: (server: Server, contender: Contender) => Promise<void>,
): Promise<void> {
  for (const contender of contenders.filter(({ missing }) => missing === undefined)) {
    const server = await contender.start(items);
    try {
      await turn(server, contender);
    } finally {
      await server.stop();
    }
  }
}
