// Runs three instances on a replicated PostgreSQL under constant load. Each round kills the primary and promotes a
// standby. No answered write may be lost, no item may be there twice, and what the clients saw must be linearizable.
//
//   npm run torture -- --only failover --minutes 5

import { PostgresCluster } from "../engines/postgres/postgres-cluster.ts";
import { check } from "../linearizability/checker.ts";
import { record } from "../linearizability/history.ts";
import { Program } from "../program.ts";
import { itemsOf, Ledger } from "../torture/ledger.ts";
import type { Part, Tally } from "../torture/part.ts";

const instanceCount = 3;
const creatorCount = 12;
const checkedClientCount = 9;

export const failoverPart: Part = {
  name: "failover",
  promise: "When PostgreSQL fails over, no answered write is lost or stored twice, and every read is linearizable.",
  weight: 8,
  secondsMin: 40,
  shortSeconds: 1,
  async run({ tally, goOn }) {
    const cluster = await PostgresCluster.start();
    const programs: Program[] = [];
    const ledger = new Ledger();
    const others = new Set<string>();
    try {
      const args = ["--port", "0", "--store", cluster.url];
      for (let count = 0; count < instanceCount; count++) programs.push(await Program.start({ args }));
      do await failOver(cluster, programs, ledger, others, tally);
      while (goOn() && tally.findings.length === 0);
      for (const program of programs) {
        const { exitCode, stderr } = await program.stop();
        if (exitCode !== 0) tally.noteWrong(`an instance ended with ${exitCode}`);
        if (stderr.includes("another history")) tally.noteWrong(`an instance saw something that was lost: ${stderr}`);
      }
    } finally {
      for (const program of programs) await program.stop("SIGKILL");
      await cluster.dispose();
    }
  },
};

async function failOver(
  cluster: PostgresCluster,
  programs: readonly Program[],
  ledger: Ledger,
  /** The IDs of the items whose history is recorded. They are not in the ledger. */
  others: Set<string>,
  tally: Tally,
): Promise<void> {
  let loading = true;
  const createdBy = programs.map(() => 0);
  const creators = Array.from({ length: creatorCount }, async (_, index) => {
    const instance = index % programs.length;
    while (loading) {
      await create(programs[instance], ledger, tally);
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
  tally.faults++;
  tally.operations = ledger.count("stored");
  tally.count("operations in linearizable order", history.operations.length + history.lists.length);
  const wrong = check(history);
  if (wrong !== undefined) tally.noteWrong(`not linearizable: ${wrong}`);
  for (const { id } of history.operations) others.add(id);
  for (const program of programs) {
    const list = await program.list();
    const found = itemsOf(list);
    if (found.size !== JSON.parse(list).length) tally.noteWrong("an item is there twice");
    ledger.check(new Map([...found].filter(([id]) => !others.has(id))), tally);
  }
}

/** Creates an item as a careful client does: it chooses the ID, and tries until it knows that the item is stored. */
async function create(program: Program | undefined, ledger: Ledger, tally: Tally): Promise<void> {
  if (!program) return;
  let write = await ledger.create(program, 20);
  while (write.outcome !== "stored") {
    tally.count("creates sent again");
    await Bun.sleep(20);
    write = await ledger.create(program, 20, write.id);
  }
}
