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
