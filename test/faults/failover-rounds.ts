// Runs three instances on a replicated PostgreSQL under constant load. Each round kills the primary and promotes a
// standby. It then checks three things: no answered write is lost, no item is there twice, and what the clients saw is
// linearizable. `npm test` runs one round. For a long run:
//
//   npm run test:failover -- 20

import { PostgresCluster } from "../engines/postgres/postgres-cluster.ts";
import { check } from "../linearizability/checker.ts";
import { record } from "../linearizability/history.ts";
import { Program } from "../program.ts";
import { LostWrite } from "../torture/part.ts";

export interface FailoverOptions {
  /** Called before each round. Returns true if the round should be run. Rounds count from 1. */
  readonly goOn: (round: number) => boolean;
  readonly onRound?: (round: number, totals: FailoverTotals) => void;
}

export interface FailoverTotals {
  /** Items that are stored: a create was answered with 201, or a later attempt with 409. */
  created: number;
  /** Attempts that were answered with 503 or not at all. After each, the create was sent again. */
  repeated: number;
  /** Items that were stored by an attempt that got 503 or no answer: a later attempt was answered with 409. */
  happened: number;
  /** Operations, of all kinds, whose order was checked. */
  checked: number;
}

const instanceCount = 3;
const creatorCount = 12;
const checkedClientCount = 9;

export async function failoverRounds({ goOn, onRound }: FailoverOptions): Promise<FailoverTotals> {
  const cluster = await PostgresCluster.start();
  const programs: Program[] = [];
  const totals: FailoverTotals = { created: 0, repeated: 0, happened: 0, checked: 0 };
  const kept = new Set<string>();
  try {
    const args = ["--port", "0", "--store", cluster.url];
    for (let count = 0; count < instanceCount; count++) programs.push(await Program.start({ args }));
    for (let round = 1; goOn(round); round++) {
      await runRound(cluster, programs, kept, totals);
      onRound?.(round, totals);
    }
    for (const program of programs) {
      const { exitCode, stderr } = await program.stop();
      if (exitCode !== 0) throw new Error(`an instance ended with ${exitCode}`);
      if (stderr.includes("another history")) throw new Error(`an instance saw something that was lost: ${stderr}`);
    }
  } finally {
    for (const program of programs) await program.stop("SIGKILL");
    await cluster.dispose();
  }
  return totals;
}

async function runRound(
  cluster: PostgresCluster,
  programs: readonly Program[],
  kept: Set<string>,
  totals: FailoverTotals,
): Promise<void> {
  let loading = true;
  const createdBy = programs.map(() => 0);
  const creators = Array.from({ length: creatorCount }, async (_, index) => {
    const instance = index % programs.length;
    while (loading) {
      await create(programs[instance], kept, totals);
      createdBy[instance] = (createdBy[instance] ?? 0) + 1;
    }
  });
  const recording = record({
    origins: programs.map(({ origin }) => origin),
    clientCount: checkedClientCount,
    goOn: () => loading,
  });
  const progress = async () => {
    const before = [...createdBy];
    while (createdBy.some((count, instance) => count < (before[instance] ?? 0) + 30)) await Bun.sleep(10);
  };
  await progress();
  // Fail over at a random moment, perhaps in the middle of a commit.
  await Bun.sleep(Math.random() * 100);
  await cluster.failOver();
  // Every instance must recover by itself.
  await progress();
  loading = false;
  const [history] = await Promise.all([recording, ...creators]);
  totals.checked += history.operations.length + history.lists.length;
  const wrong = check(history);
  if (wrong !== undefined) throw new Error(`not linearizable: ${wrong}`);
  for (const program of programs) verify(await program.list(), kept);
}

/** Creates an item as a careful client does: it chooses the ID, and tries until it knows that the item is stored. */
async function create(program: Program | undefined, kept: Set<string>, totals: FailoverTotals): Promise<void> {
  const id = crypto.randomUUID();
  for (let attempt = 1; ; attempt++) {
    const response = await program?.send("POST", "/api/todoitems/", `{"ID":"${id}"}`, {}).then(
      ({ status }) => status,
      () => undefined,
    );
    if (response === 201 || (response === 409 && attempt > 1)) {
      kept.add(id);
      totals.created++;
      if (response === 409) totals.happened++;
      return;
    }
    if (response !== 503 && response !== undefined) throw new Error(`a create was answered ${response}`);
    totals.repeated++;
    await Bun.sleep(20);
  }
}

function verify(list: string, kept: ReadonlySet<string>): void {
  const ids = (JSON.parse(list) as { ID: string }[]).map(({ ID }) => ID);
  const stored = new Set(ids);
  if (stored.size !== ids.length) throw new Error("an item is there twice");
  for (const id of kept) if (!stored.has(id)) throw new LostWrite(`an answered write is lost: ${id}`);
}

if (import.meta.main) {
  const rounds = Number(process.argv[2] ?? 20);
  if (!(rounds >= 1)) throw new Error("say how many rounds, as in: npm run test:failover -- 20");
  const totals = await failoverRounds({
    goOn: (round) => round <= rounds,
    onRound: (round, so) => console.log(`round ${round} of ${rounds}: ${JSON.stringify(so)}`),
  });
  console.log(`Nothing lost, nothing twice, all linearizable in ${rounds} failovers: ${JSON.stringify(totals)}`);
}
