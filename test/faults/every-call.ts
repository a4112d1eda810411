// Lets one system call after another fail: in the life of a service, and in the commands that make or replace a store.
// The disk is full or fails at call number N, or from it on, or the process is killed right before it, for every N
// that a run reaches.
//
//   npm run torture -- --only "every call" --minutes 90

import { Database } from "bun:sqlite";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { missingStrace, type Part, Tally } from "../torture/part.ts";
import type { Random } from "../wire/random.ts";
import { type Care, FaultyCare, prepareCare } from "./faulty-care.ts";
import { type Crash, copyFolder, FaultyLife } from "./faulty-life.ts";
import { type Fault, faults, hasFailed, Recording, recording } from "./file-calls.ts";
import { StoredService } from "./stored-service.ts";

/** Runs at once. Most of the time they wait for a process to start. */
const atOnce = 2;

export const scriptNames = [
  ...["life", "after a kill", "held up"],
  ...["backup", "restore", "restore --force", "restore --force after a kill", "accept", "accept --with-log"],
];

/** What happens to a store, again and again, with another call that fails each time. */
interface Script {
  readonly name: string;
  /** Runs without a fault. */
  record(): Promise<Recording>;
  /** Call number `n` fails. Resolves to false if the run has not come to it. */
  run(recorded: Recording, fault: Fault, n: number, tally: Tally): Promise<boolean>;
}

export const everyCallPart: Part = {
  name: "every call",
  promise: "Whichever call fails, and wherever a kill interrupts, nothing confirmed is lost and nobody has to help.",
  weight: 20,
  shortSeconds: 15,
  missing: missingStrace,
  async run({ random, tally, goOn }) {
    await withScripts((scripts) => failCalls(scripts, { random, tally, goOn }));
  },
};

interface Turn {
  readonly random: Random;
  readonly tally: Tally;
  goOn(): boolean;
  /** Only every so manyth call fails. */
  readonly step?: number;
}

/** Lets calls of all scripts fail, in random order, until the time is over or each of them has failed in each way. */
export async function failCalls(scripts: readonly Script[], { random, tally, goOn, step = 1 }: Turn): Promise<void> {
  const runs: (() => Promise<void>)[] = [];
  await inParallel([...scripts], async (script) => {
    const recorded = await script.record();
    tally.count(`calls of "${script.name}"`, recorded.changes.length);
    const offset = random.below(step);
    for (const fault of faults)
      for (let n = 1 + offset; n <= recorded.changes.length; n += step)
        runs.push(() => runOnce(script, recorded, fault, n, tally));
  });
  tally.count("runs planned", runs.length);
  const shuffled: typeof runs = [];
  while (runs.length > 0) shuffled.push(...runs.splice(random.below(runs.length), 1));
  await inParallel(shuffled, async (run) => {
    if (goOn()) await run();
  });
}

async function runOnce(script: Script, recorded: Recording, fault: Fault, n: number, tally: Tally): Promise<void> {
  const round = new Tally();
  try {
    if (!(await script.run(recorded, fault, n, round))) tally.count("runs that did not come to their call");
  } catch (error) {
    round.noteWrong(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  tally.addFindings(round, `"${script.name}", ${fault.name}, call ${n} (${recorded.changes[n - 1]?.text})`);
  tally.operations++;
  tally.faults++;
  tally.count(`runs of "${script.name}"`);
}

async function inParallel<Task>(tasks: Task[], work: (task: Task) => Promise<void>): Promise<void> {
  const worker = async () => {
    for (let task = tasks.shift(); task !== undefined; task = tasks.shift()) await work(task);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** Prepares the scripts, and removes their files afterwards. */
export async function withScripts(use: (scripts: readonly Script[]) => Promise<void>): Promise<void> {
  const folder = temporaryFolder();
  try {
    const crashed = await prepareCrash(join(folder.path, "long-log"));
    const care = await prepareCare(folder.path);
    await use([...lives(crashed), ...care.map(careScript)]);
  } finally {
    folder.dispose();
  }
}

/** A store with a log that a killed service has left. Another program has then changed the schema in the log. */
async function prepareCrash(template: string): Promise<Crash> {
  const service = new StoredService();
  try {
    await service.start();
    await service.create(8, 4_000);
    await service.stop("SIGKILL");
    analyze(service.path);
    copyFolder(service.folder, template);
    return { template, items: service.ledger.items };
  } finally {
    await service.dispose();
  }
}

/** Commits to the log, and leaves it there: only the last connection copies the log, and this one may only read. */
function analyze(path: string): void {
  const last = new Database(path, { readonly: true });
  last.query("SELECT count(*) FROM item").get();
  const writing = new Database(path);
  writing.run("ANALYZE");
  writing.close();
  last.close();
}

/** What happens to a service, until it is stopped. A long item makes the log so long that it is copied at once. */
function lives(crash: Crash): Script[] {
  return [
    lifeScript("life", async (life) => {
      const first = await life.create();
      await life.changeNothing();
      await life.createLong();
      await life.changeNothing();
      await life.update(first);
      await life.createLong();
      await life.delete(first);
      await life.createLong();
      await life.changeNothing();
      await life.create();
    }),
    lifeScript(
      "after a kill",
      async (life) => {
        await life.create();
        await life.changeNothing();
        await life.create();
        await life.createLong();
        await life.create();
      },
      crash,
    ),
    lifeScript("held up", async (life) => {
      await life.create();
      await life.holdUp();
      await life.createLong();
      await life.create();
      await life.createLong();
      await life.changeNothing();
      life.letGo();
      await life.create();
      await life.createLong();
      await life.create();
    }),
  ];
}

function lifeScript(name: string, act: (life: FaultyLife) => Promise<void>, crash?: Crash): Script {
  const withLife = async <Result>(tally: Tally, use: (life: FaultyLife) => Promise<Result>): Promise<Result> => {
    const life = new FaultyLife(tally, crash);
    try {
      return await use(life);
    } finally {
      await life.dispose();
    }
  };
  return {
    name,
    record: () =>
      withLife(new Tally(), async (life) => {
        const before = readdirSync(life.home);
        await life.start(recording(life.files, life.log));
        await act(life);
        await life.endRecording();
        return new Recording(life.log, before);
      }),
    run: (recorded, fault, n, tally) =>
      withLife(tally, async (life) => {
        await life.start(recorded.failing(fault, n, life.files, life.log));
        await act(life);
        // Neighbouring calls are alike, so half of the services are stopped, and the others are killed.
        return life.judge(fault, n % 2 === 0);
      }),
  };
}

function careScript(care: Care): Script {
  const withCare = async <Result>(tally: Tally, use: (faulty: FaultyCare) => Promise<Result>): Promise<Result> => {
    const faulty = new FaultyCare(tally, care);
    try {
      return await use(faulty);
    } finally {
      faulty.dispose();
    }
  };
  return {
    name: care.name,
    record: () =>
      withCare(new Tally(), async (faulty) => {
        await faulty.endRecording(await faulty.run(recording(faulty.files, faulty.log)));
        return new Recording(faulty.log, readdirSync(care.template));
      }),
    run: (recorded, fault, n, tally) =>
      withCare(tally, async (faulty) => {
        const end = await faulty.run(recorded.failing(fault, n, faulty.files, faulty.log));
        await faulty.judge(end, fault);
        return end.exitCode !== 0 || hasFailed(faulty.log);
      }),
  };
}
