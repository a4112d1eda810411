// What is measured. In every round, each scene starts its contenders again, and they take turns, so that other load on
// the machine affects all of them.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { bunCommand } from "../test/bun-command.ts";
import { fixture, folder } from "./fixtures.ts";
import { type Load, run } from "./load.ts";
import { fillPostgres, fillSqlite, itemCount, listCount, listPath, walk } from "./many-lists.ts";
import { fileOf, signIn, userCount, usersWithPasswords, usersWithTokens } from "./many-users.ts";
import type { Results, Unit } from "./results.ts";
import {
  benchFolder,
  bunServe,
  type Contender,
  echo,
  fastify,
  floor,
  jsonServer,
  nginx,
  onPostgres,
  residentBytes,
  type Server,
  todoitems,
} from "./servers.ts";

export interface Round {
  readonly number: number;
  /** How long each load lasts. */
  readonly seconds: number;
  readonly results: Results;
}

export interface Scene {
  readonly title: string;
  /** True if a quick run leaves the scene out. */
  readonly isLong?: boolean;
  run(round: Round): Promise<void>;
}

const ours = todoitems();
const peers = [fastify, jsonServer];
/** How often each contender has its turn in a round of `alternate`. */
const turnCount = 3;
/** A turn is as short as wrk can make it. On a virtual machine the speed of the kernel changes from second to second. */
const turn: Load = { connections: 64, seconds: 1 };

/** Starts all contenders and warms them up. Then they take several short turns, one contender at a time. */
async function alternate(
  items: number,
  contenders: readonly Contender[],
  measure: (server: Server, name: string) => Promise<void>,
): Promise<void> {
  const started: { readonly name: string; readonly server: Server }[] = [];
  try {
    for (const { name, start } of contenders) started.push({ name, server: await start(items) });
    // A process that has just started may still be busy compiling its own code.
    for (const { server } of started) await run(server, turn);
    for (let count = 0; count < turnCount; count++) for (const { name, server } of started) await measure(server, name);
  } finally {
    for (const { server } of started) await server.stop();
  }
}

/** A process that has just started spends about this time on compiling its own code, and is slower meanwhile. */
const warmUpSeconds = 2;

/** Runs a load that does not count, and then the load that does. They may differ, because IDs can be created only once. */
async function runWarm(server: Server, load: Load, warmUp = load): ReturnType<typeof run> {
  await run(server, { ...warmUp, seconds: warmUpSeconds });
  return run(server, load);
}

/** Starts, measures and stops one contender after the other. */
async function inTurn(
  items: number,
  contenders: readonly Contender[],
  measure: (server: Server, name: string) => Promise<void>,
): Promise<void> {
  for (const { name, start } of contenders) {
    const server = await start(items);
    try {
      await measure(server, name);
    } finally {
      await server.stop();
    }
  }
}

function lists(items: number, contenders: readonly Contender[]): Scene {
  const title = `list of ${items.toLocaleString("en")}`;
  return {
    title,
    run: ({ results }) =>
      alternate(items, contenders, async (server, name) => {
        const { perSecond, cpuMicroseconds } = await run(server, turn);
        results.add(title, name, perSecond);
        results.add(`CPU time of a ${title}`, name, cpuMicroseconds, "µs");
      }),
  };
}

const gzipLists: Scene = {
  title: "gzip list of 1,000",
  run: ({ results }) =>
    alternate(1_000, [ours, nginx(), floor({ gzip: true })], async (server, name) => {
      const { perSecond } = await run(server, { ...turn, headers: ["Accept-Encoding: gzip"] });
      results.add(gzipLists.title, name, perSecond);
    }),
};

const notModified: Scene = {
  title: "list not modified (304)",
  run: ({ results }) =>
    alternate(100, [ours, nginx()], async (server, name) => {
      // nginx has another tag for its compressed file. With that tag, it would send the whole list.
      const response = await fetch(`${server.url}${server.listPath}`, { headers: { "Accept-Encoding": "identity" } });
      await response.arrayBuffer();
      const headers = [`If-None-Match: ${response.headers.get("etag")}`];
      results.add(notModified.title, name, (await run(server, { ...turn, headers })).perSecond);
    }),
};

const https: Scene = {
  title: "list of 100 over HTTPS",
  run({ results }) {
    const secure = { scheme: "https" } as const;
    const contenders = [todoitems(secure), nginx("https"), floor(secure), bunServe(secure)];
    return alternate(100, contenders, async (server, name) => {
      results.add(https.title, name, (await run(server, turn)).perSecond);
      const { perSecond } = await run(server, { ...turn, headers: ["Connection: close"] });
      results.add("TLS handshakes, each with a list of 100", name, perSecond);
    });
  },
};

/** Updates random items, and requests the list in between. */
function updates({ listPath, itemPath }: Server, items: number, percent: number): readonly string[] {
  return ["update.lua", listPath, itemPath, fixture(items).idsFile, String(percent)];
}

const mixed: Scene = {
  title: "9 lists to 1 update, 1,000 items",
  run: ({ seconds, results }) =>
    inTurn(1_000, [ours, ...peers], async (server, name) => {
      const { perSecond } = await runWarm(server, { connections: 64, seconds, script: updates(server, 1_000, 10) });
      results.add(mixed.title, name, perSecond);
    }),
};

/** Each run makes the IDs of its items from a number of its own. */
function creates({ listPath }: Server, runNumber: number): readonly string[] {
  return ["create.lua", listPath, String(runNumber)];
}

const writes: Scene = {
  title: "create, 64 connections",
  async run({ number, seconds, results }) {
    await inTurn(0, [ours, echo, bunServe(), ...peers, onPostgres()], async (server, name) => {
      const create = (connections: number, seriesNumber = connections): Load => {
        return { connections, seconds, script: creates(server, number * 1_000 + seriesNumber) };
      };
      const { perSecond, cpuMicroseconds } = await runWarm(server, create(64), create(64, 0));
      results.add(writes.title, name, perSecond);
      results.add("CPU time of a create", name, cpuMicroseconds, "µs");
      results.add("create, one connection", name, (await run(server, create(1))).perSecond);
    });
    const database = join(folder, `raw-${number}.db`);
    const command = [...bunCommand, join(benchFolder, "peers/raw-sqlite.ts"), database, String(seconds * 1_000)];
    const child = Bun.spawn(command, { stdout: "pipe" });
    results.add(writes.title, "raw SQLite, batches of 64", Number(await new Response(child.stdout).text()));
    await inTurn(100, [ours, ...peers], async (server, name) => {
      const { perSecond } = await runWarm(server, { connections: 64, seconds, script: updates(server, 100, 100) });
      results.add("update, 64 connections, 100 items", name, perSecond);
    });
  },
};

const million: Scene = {
  title: "1,000,000 items",
  isLong: true,
  async run({ seconds, results }) {
    await inTurn(0, [ours], async ({ startMs }, name) => results.add("start of an empty store", name, startMs, "ms"));
    await inTurn(1_000_000, [ours], async (server, name) => {
      results.add("start of 1,000,000 items", name, server.startMs, "ms");
      await (await fetch(`${server.url}${server.listPath}`)).arrayBuffer();
      // The process returns the memory that it needed only for starting after some seconds.
      await Bun.sleep(3_000);
      results.add("memory for each of 1,000,000 items", name, residentBytes(server.pid) / 1_000_000, "bytes");
      const load = { connections: 64, seconds, script: updates(server, 1_000_000, 100) };
      const { perSecond } = await runWarm(server, load);
      results.add("update, 64 connections, 1,000,000 items", name, perSecond);
    });
  },
};

/** So many lists are read one after the other, each for the first time. */
const coldCount = 5_000;

/** strace delays every sync. -D: the service stays our own child. --seccomp-bpf: only syncs are traced. */
const slowSyncs = [
  ...["strace", "-D", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null"],
  ...["-e", "trace=fsync,fdatasync", "-e", "inject=fsync,fdatasync:delay_enter=10000"],
];

const slowDisk: Scene = {
  title: "syncs of 10 ms",
  run: ({ number, seconds, results }) =>
    inTurn(100, [todoitems({ under: slowSyncs })], async (server, name) => {
      const [id] = readFileSync(fixture(100).idsFile, "utf8").split("\n");
      const reading: Load = { connections: 1, seconds, path: `${server.itemPath}${id}` };
      const creating = (seriesNumber: number): Load => {
        return { connections: 64, seconds, script: creates(server, seriesNumber) };
      };
      await run(server, { ...creating(number * 1_000), seconds: warmUpSeconds });
      const [{ p99Ms }, { perSecond }] = await Promise.all([run(server, reading), run(server, creating(number))]);
      results.add("create, 64 connections, syncs of 10 ms", name, perSecond);
      results.add("p99 of a read beside them", name, p99Ms, "ms");
    }),
};

/** 100,000 lists of 50 items, beside a service with a single list of 50. */
const manyLists: Scene = {
  title: `${listCount.toLocaleString("en")} lists`,
  isLong: true,
  async run({ number, seconds, results }) {
    const flags = ["--lists", "many"];
    const contenders = [todoitems({ fill: fillSqlite, flags }), onPostgres({ fill: fillPostgres, flags })];
    const create = (server: Server, path: string, seriesNumber: number): Load => {
      const script = creates({ ...server, listPath: path }, number * 1_000 + seriesNumber);
      return { connections: 64, seconds, script };
    };
    await inTurn(0, contenders, async (server, name) => {
      const add = (work: string, value: number, unit?: Unit) =>
        results.add(`${manyLists.title}: ${work}`, name, value, unit);
      add("start", server.startMs, "ms");
      add("memory at the start", residentBytes(server.pid) / 1024 ** 2, "MiB");
      const cold = await walk(server, 0, coldCount);
      add("CPU time of a cold list", cold.cpuMicroseconds, "µs");
      const hot = { ...server, listPath: listPath(listCount - 1) };
      await run(hot, { ...turn, seconds: warmUpSeconds });
      add("a hot list", (await run(hot, turn)).perSecond);
      await run(server, { ...create(server, "/lists/LIST/api/todoitems/", 1), seconds: warmUpSeconds });
      add("create in 64 lists", (await run(server, create(server, "/lists/LIST/api/todoitems/", 2))).perSecond);
      add("create in one list", (await run(server, create(server, listPath(0), 3))).perSecond);
      await walk(server, coldCount, listCount);
      add("memory after all lists", residentBytes(server.pid) / 1024 ** 2, "MiB");
    });
    await inTurn(itemCount, [ours, onPostgres()], async (server, name) => {
      await run(server, { ...turn, seconds: warmUpSeconds });
      results.add(`${manyLists.title}: a hot list, --lists one`, name, (await run(server, turn)).perSecond);
    });
  },
};

/** Every request of a connection is of another user, as behind a proxy. Beside them, one user with one list. */
const manyUsers: Scene = {
  title: `${userCount.toLocaleString("en")} users in turn`,
  isLong: true,
  async run({ results }) {
    const passwords = await usersWithPasswords();
    const tokens = await usersWithTokens();
    const contenders = [
      {
        work: "one user",
        ...passwords,
        flags: ["--auth", "all", ...passwords.flags],
        fill: undefined,
        headers: passwords.headers.slice(0, 1),
      },
      { work: "passwords", ...passwords, flags: ["--lists", "user", ...passwords.flags] },
      { work: "tokens", ...tokens, flags: ["--lists", "user", ...tokens.flags] },
    ];
    const started = [];
    try {
      for (const { work, flags, fill, headers } of contenders) {
        const server = await todoitems({ flags, fill }).start(fill ? 0 : itemCount);
        const load = { ...turn, script: ["users.lua", server.listPath, fileOf(headers)] };
        started.push({ work, server, load });
        await signIn(server, headers);
        await run(server, { ...load, seconds: warmUpSeconds });
      }
      for (let count = 0; count < turnCount; count++) {
        for (const { work, server, load } of started) {
          const { perSecond, cpuMicroseconds } = await run(server, load);
          results.add(`${manyUsers.title}: ${work}`, ours.name, perSecond);
          results.add(`${manyUsers.title}: ${work}, CPU time`, ours.name, cpuMicroseconds, "µs");
        }
      }
    } finally {
      for (const { server } of started) await server.stop();
      tokens.stop();
    }
  },
};

export const scenes: readonly Scene[] = [
  lists(100, [ours, nginx(), floor(), bunServe(), ...peers, onPostgres()]),
  lists(1_000, [ours, nginx(), floor(), ...peers]),
  gzipLists,
  notModified,
  https,
  mixed,
  writes,
  slowDisk,
  million,
  manyLists,
  manyUsers,
];
