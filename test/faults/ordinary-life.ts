// An ordinary day of a service, with limits so small that each is crossed many times: clients that create, update and
// delete, with pauses, with requests that are refused (404, 409, 412), feeds, health checks and backups. Nothing is
// broken on purpose. The process must live, every answer must be a documented one, and the list must be the clients'.
//
//   npm run torture -- --only "ordinary life" --minutes 1

import { type Program, runProgram } from "../program.ts";
import { itemsOf, Writer } from "../torture/ledger.ts";
import type { Part, Turn } from "../torture/part.ts";
import type { Random } from "../wire/random.ts";
import { StoredService } from "./stored-service.ts";

const address = "/api/todoitems";
const clientCount = 4;
const pauseMsMax = 20;
/** Until so many requests in a row were sent by one client alone, the others wait. */
const aloneCount = 60;

/** Lines of the log that are no reason for alarm. */
const harmless = /reads an old state of the store|The list is longer than/;

export const ordinaryLifePart: Part = {
  name: "ordinary life",
  promise: "A service that nothing happens to answers every request as documented, and goes on.",
  weight: 4,
  secondsMin: 60,
  shortSeconds: 5,
  async run(turn) {
    const service = new StoredService();
    try {
      await live(service, turn);
    } finally {
      turn.tally.operations += service.ledger.writes.length;
      await service.dispose();
    }
  },
};

async function live(service: StoredService, { random, tally, goOn }: Turn): Promise<void> {
  await service.start({ touchesFiles: false });
  const { program, ledger } = service;
  const expectStatus = async (response: Promise<Response>, expected: number) => {
    const { status } = await response;
    tally.count(`responses with ${status}`);
    if (status !== expected) tally.noteWrong(`a response with ${status} instead of ${expected}`);
  };
  // Nobody else writes this item, so the responses about it are certain.
  const { id: taken } = await ledger.create(program, 10);
  const refused = (random: Random) => {
    if (random.chance(0.4))
      return expectStatus(program.fetch(`${address}/${crypto.randomUUID()}`, { method: "DELETE" }), 404);
    const stale = { method: "DELETE", headers: { "If-Match": '"stale"' } };
    if (random.chance(0.5)) return expectStatus(program.fetch(`${address}/${taken}`, stale), 412);
    return expectStatus(program.send("POST", address, `{"ID":"${taken}"}`), 409);
  };
  const others = [
    () => expectStatus(program.fetch("/health/ready"), 200),
    () => expectStatus(program.fetch(address), 200),
    () => readFeed(program, random),
    async () => {
      const { exitCode, stderr } = await backup(service);
      if (exitCode !== 0) tally.noteWrong(`a backup failed: ${stderr}`);
      tally.count("backups");
    },
  ];
  const act = async (writer: Writer) => {
    if (random.chance(0.3)) await refused(random);
    else if (random.chance(0.05)) await random.pick(others)();
    else await writer.write(program);
    if (random.chance(0.3)) await Bun.sleep(random.below(pauseMsMax));
  };
  const writers = Array.from({ length: clientCount }, () => new Writer(ledger, random));
  const [first] = writers;
  for (let count = 0; first && count < aloneCount; count++) await act(first);
  await Promise.all(
    writers.map(async (writer) => {
      while (goOn() && tally.findings.length === 0) await act(writer);
    }),
  );
  for (const moment of ["at the end", "after a restart"]) {
    const before = tally.findings.length;
    ledger.check(itemsOf(await service.program.list()), tally);
    if (tally.findings.length > before) tally.findings.push(`(${moment})`);
    const { exitCode, stderr } = await service.stop();
    // A backup may have kept the log from being copied for a moment.
    const alarms = stderr.split("\n").filter((line) => /\b(?:warn|error)\b/.test(line) && !harmless.test(line));
    if (exitCode !== 0 || alarms.length > 0) tally.noteWrong(`it ended with ${exitCode}: ${stderr}`);
    await service.start({ touchesFiles: false });
  }
}

/** Follows the feed for a moment. */
async function readFeed(program: Program, random: Random): Promise<void> {
  const abort = new AbortController();
  const { body } = await program.fetch("/changes", { signal: abort.signal });
  await body?.getReader().read();
  await Bun.sleep(random.below(pauseMsMax));
  abort.abort();
}

function backup(service: StoredService) {
  const args = ["backup.db", "--force", "--store", `sqlite:${service.path}`];
  return runProgram("backup", { args, cwd: service.folder });
}
