// Changes the files of a store at random moments, while clients write, and kills the service and `restore` at random
// system calls. An answered item must be in the store or in the backup that the service saves, no two stores may be
// mixed, and the next start must find a store. changed-files.long.test.ts does the same at chosen moments.
//
//   npm run torture -- --only "changed files" --minutes 5

import { copyFileSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { runProgram } from "../program.ts";
import { missingStrace, type Part, type Tally } from "../torture/part.ts";
import type { Random } from "../wire/random.ts";
import { itemsIn, StoredService } from "./stored-service.ts";

const writerCount = 8;

/** The system calls that change files, or make a change durable. */
export const fileCalls = ["^fsync|^fdatasync", "^pwrite64", "^rename", "^unlink", "^ftruncate"];

/** A random system call, and the number of times that it happens before the kill. */
const momentsMax = 40;

const changes: Record<string, (service: StoredService) => void> = {
  "a backup copied over the store": ({ path, file }) => copyFileSync(file("backup.db"), path),
  "a backup moved over the store": ({ path, file }) => renameSync(file("backup.db"), path),
  "the store moved away": ({ path, file }) => renameSync(path, file("away.db")),
  "the store removed": ({ path }) => rmSync(path),
  "all files removed": ({ path }) => {
    for (const ending of ["", "-wal", "-shm"]) rmSync(path + ending);
  },
  "the log removed": ({ path }) => rmSync(`${path}-wal`),
  "the log emptied": ({ path }) => truncateSync(`${path}-wal`),
  "the log overwritten": ({ path }) => writeFileSync(`${path}-wal`, Buffer.alloc(20_000, 1)),
};

export const changedFilesPart: Part = {
  name: "changed files",
  promise:
    "If somebody changes the store's files, or a kill interrupts, nothing answered is lost and no mixture is served.",
  weight: 6,
  shortSeconds: 6,
  missing: missingStrace,
  async run({ random, tally, goOn }) {
    while (goOn()) {
      const call = random.pick(fileCalls);
      const n = 1 + random.below(momentsMax);
      const attacks: [string, (service: StoredService) => Promise<void>][] = [
        ...Object.entries(changes).map(([name, change]): (typeof attacks)[number] => [
          name,
          (service) => changeUnderLoad(service, change, random),
        ]),
        ["a service killed", (service) => killedService(service, call, n)],
        ["restore killed", (service) => killedRestore(service, call, n, random.chance(0.5))],
      ];
      // The order is random, so that short rounds try different attacks.
      while (attacks.length > 0 && goOn()) {
        const [[name, attack] = ["", async () => {}]] = attacks.splice(random.below(attacks.length), 1);
        await attempt(name, tally, attack);
      }
    }
  },
};

export const undisturbedPart: Part = {
  name: "readers of the store",
  promise: "Backups, checks and other programs that only read the store cause no alarm and cost no write.",
  weight: 2,
  async run({ random, tally, goOn }) {
    while (goOn()) await attempt("read by others", tally, (service) => readUnderLoad(service, random, tally));
  },
};

/** Reads the store in many ways while clients write. The service must answer every write. */
async function readUnderLoad(service: StoredService, random: Random, tally: Tally): Promise<void> {
  await service.start();
  let isOver = false;
  const write = async () => {
    while (!isOver) await service.create(1, random.below(4_000));
  };
  const writers = Promise.all(Array.from({ length: writerCount }, write));
  for (const sql of ["VACUUM INTO 'copy.db'", "SELECT count(*) FROM item", "PRAGMA integrity_check"]) {
    for (const [command, ...args] of [["backup", "backup.db", "--force"], ["check"]] as const)
      expectEqual(`the exit code of ${command}`, (await service.run(command, ...args)).exitCode, 0);
    expectEqual(`the exit code of ${sql}`, await service.runSql(sql), 0);
    rmSync(service.file("copy.db"), { force: true });
    tally.faults += 3;
  }
  isOver = true;
  await writers;
  const { exitCode, stderr } = await service.stop(random.pick(["SIGTERM", "SIGKILL"]));
  if (exitCode !== 137) expectEqual("the exit code", exitCode, 0);
  expectEqual("warnings", /warn|error/.exec(stderr)?.[0], undefined);
  await service.start();
  service.expectAll("the items", await service.served());
}

async function attempt(name: string, tally: Tally, attack: (service: StoredService) => Promise<void>): Promise<void> {
  const service = new StoredService();
  tally.faults++;
  tally.count(name);
  try {
    await attack(service);
  } catch (error) {
    tally.noteWrong(`${name}: ${error}`);
  } finally {
    tally.operations += service.ledger.writes.length;
    await service.dispose();
  }
}

async function changeUnderLoad(
  service: StoredService,
  change: (service: StoredService) => void,
  random: Random,
): Promise<void> {
  await service.start();
  await service.create(20);
  expectEqual("the exit code of backup", (await service.run("backup", "backup.db")).exitCode, 0);
  const write = async () => {
    while ((await service.ledger.create(service.program, random.below(2_000))).outcome === "stored");
  };
  const writers = Array.from({ length: writerCount }, write);
  await Bun.sleep(random.below(300));
  change(service);
  await Promise.all(writers);
  const { exitCode, saved } = await service.ended();
  expectEqual("the exit code", exitCode, 1);
  service.expectAll("the saved items", saved);
  if (readdirSync(service.folder).includes("away.db")) {
    renameSync(service.file("away.db"), service.path);
    await service.start();
    service.expectAll("the items after the store was moved back", await service.served());
    return;
  }
  const before = service.files();
  const alone = before.has("store.db") ? itemsIn(service.path) : [];
  if ((await service.startOrRefusal()) === undefined) expectEqual("the items", await service.served(), alone);
  else {
    expectEqual("the files", JSON.stringify([...service.files()]), JSON.stringify([...before]));
    if (!before.has("store.db")) return;
    expectEqual("the exit code of accept", (await service.run("accept")).exitCode, 0);
    await service.start();
    expectEqual("the accepted items", await service.served(), alone);
  }
}

/** Words before a program. It gets SIGKILL when it makes this system call for the nth time. -D: it stays our own child. */
function killAt(call: string, n: number): string[] {
  const inject = `inject=/${call}:signal=SIGKILL:when=${n}`;
  return ["strace", "-D", "-f", "-qq", "-o", "/dev/null", "-e", `trace=/${call}`, "-e", inject];
}

/**
 * Kills a service while it starts, commits, gives up or stops. Every answered item must be there after the next start.
 * Call this again on the same store for other moments.
 */
export async function killedService(service: StoredService, call: string, n: number): Promise<void> {
  const where = `killed at call ${n} of ${call}`;
  await service.startOrRefusal({ launcher: killAt(call, n) });
  if (service.isRunning) await service.ledger.create(service.program, 20);
  if (service.isRunning && n % 2 === 0) {
    renameSync(service.path, service.file("away.db"));
    await service.ledger.create(service.program, 20);
  }
  if (service.isRunning) await service.stop();
  if (readdirSync(service.folder).includes("away.db")) renameSync(service.file("away.db"), service.path);
  const refusal = await service.startOrRefusal();
  expectEqual(`${where}: the refusal of the next start`, refusal, undefined);
  service.expectAll(where, await service.served());
  await service.stop(n % 3 === 0 ? "SIGKILL" : "SIGTERM");
}

/**
 * Kills a restore. Then there must be the old store or the new one, and the other one must be complete under the name
 * that the message gave. A damaged store is refused by the next start, and kept byte for byte.
 */
export async function killedRestore(
  service: StoredService,
  call: string,
  n: number,
  isDamaged: boolean,
): Promise<void> {
  await service.start();
  await service.create(5);
  expectEqual("the exit code of backup", (await service.run("backup", "backup.db")).exitCode, 0);
  const restored = [...service.answered];
  await service.create(5);
  await service.stop("SIGKILL");
  if (isDamaged) writeFileSync(service.path, readFileSync(service.path).fill(0xff, 100, 4_096));
  const old = ["", "-wal", "-record"].map((ending) => [ending, readFileSync(service.path + ending)] as const);
  const { stderr } = await runProgram("restore", {
    args: ["backup.db", "--force", "--store", `sqlite:${service.path}`],
    cwd: service.folder,
    launcher: killAt(call, n),
  });
  // This also finds hard links.
  service.files();
  const where = `restore killed at call ${n} of ${call}`;
  const refusal = await service.startOrRefusal();
  const served = refusal === undefined ? await service.served() : undefined;
  if (isDamaged ? refusal !== undefined : served?.length === service.answered.length) return;
  expectEqual(`${where}: the items`, served, restored);
  const [kept = ""] = /\S*before-restore-\S+/.exec(stderr) ?? [];
  if (!isDamaged) expectEqual(`${where}: the items of ${kept}`, itemsIn(kept), service.answered);
  else
    for (const [ending, bytes] of old)
      expectEqual(`${where}: ${kept}${ending} is the old file`, readFileSync(kept + ending).equals(bytes), true);
}

function expectEqual(what: string, found: unknown, expected: unknown): void {
  if (Bun.deepEquals(found, expected)) return;
  throw new Error(
    `${what}: ${JSON.stringify(found)?.slice(0, 500)} instead of ${JSON.stringify(expected)?.slice(0, 500)}`,
  );
}
