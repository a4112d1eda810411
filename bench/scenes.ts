// The benchmark scenarios, called scenes. Most have several contenders. In every round, each scene is set up again and
// its contenders take turns, so that other load on the machine affects all of them.

import { join } from "node:path";
import { bunCommand } from "../test/bun-command.ts";
import { fixture, folder, user } from "./fixtures.ts";
import { type Load, type Measured, run } from "./load.ts";
import { alternate, type Scene, side, turnSeconds } from "./scene.ts";
import { newConnections, overHttps } from "./secure.ts";
import {
  benchFolder,
  type Contender,
  echo,
  fastify,
  floor,
  jsonServer,
  nginx,
  pocketbase,
  residentBytes,
  type Server,
  todoitems,
} from "./servers.ts";
import { slowDisk } from "./slow-disk.ts";

export const peers = [fastify, jsonServer, pocketbase];
const ours = todoitems();
const writeConnections = [1, 64, 256];
export const updateSizes = [100, 10_000, 1_000_000];
/**
 * How many items a scene adds in order to delete them. Each of its three runs lasts a second and has a third of these
 * items, which is more than the service can delete in that time.
 */
const deletable = 200_000;

export const work = {
  list: (items: number) => `list of ${items.toLocaleString("en")}`,
  gzipList: (items: number) => `gzip list of ${items.toLocaleString("en")}`,
  notModified: "list not modified (304)",
  unmixed: "list of 1,000 by the same script",
  mixed: "9 lists to 1 update, 1,000 items",
  listAfterWrite: "updates and lists of 1,000, half and half, one connection",
  gzipAfterWrite: "updates and gzip lists of 1,000, half and half, one connection",
  gzipBytes: (items: number) => `bytes of a gzip list of ${items.toLocaleString("en")}, with its head`,
  listAlone: "p99 of a list",
  listBesideWriters: "p99 of a list beside 64 writers",
  cpu: (of: string) => `CPU per request, ${of}`,
  ownCpu: (of: string) => `CPU per request without the kernel's part, ${of}`,
  create: (items: number, connections: number) => `create, ${connections} connections, ${size(items)}`,
  update: (items: number, connections: number) => `update, ${connections} connections, ${size(items)}`,
  delete: (items: number, connections: number) => `delete, ${connections} connections, ${size(items)}`,
  rawRows: "rows in batches of 64",
  start: (items: number) => `start to first answer, ${size(items)}`,
  memory: "bytes of memory an item, 1,000,000 items",
  memoryListed: "bytes of memory an item, 1,000,000 items, after a list",
  slowReaders: "megabytes added by 100 slow readers of 14 MB",
} as const;

function size(items: number): string {
  return items === 0 ? "empty store" : `${items.toLocaleString("en")} items`;
}

/** Runs a load that is not measured. A process that has just started may still be busy compiling its own code. */
function warmUp(server: Server): Promise<Measured> {
  return run(server, { connections: 64, seconds: turnSeconds });
}

function lists(items: number, contenders: readonly Contender[]): Scene {
  return {
    title: work.list(items),
    async run({ results }) {
      await alternate(items, contenders, warmUp, async (server, { name }) => {
        const measured = await run(server, { connections: 64, seconds: turnSeconds });
        results.add(work.list(items), name, items < 100_000 ? measured.perSecond : measured.bytesPerSecond);
        results.add(work.cpu(work.list(items)), name, measured.cpuMicroseconds);
      });
    },
  };
}

function gzipLists(items: number): Scene {
  return {
    title: work.gzipList(items),
    async run({ results }) {
      const load = { connections: 64, seconds: turnSeconds, headers: ["Accept-Encoding: gzip"] };
      const warmUp = (server: Server) => run(server, load);
      await alternate(items, [ours, nginx, floor({ gzip: true })], warmUp, async (server, { name }) => {
        const measured = await run(server, load);
        results.add(work.gzipList(items), name, measured.perSecond);
        results.add(work.gzipBytes(items), name, measured.bytesPerSecond / measured.perSecond);
      });
    },
  };
}

const notModified: Scene = {
  title: work.notModified,
  async run({ results }) {
    await alternate(100, [ours, nginx], warmUp, async (server, { name }) => {
      // Take the tag of the uncompressed list. nginx has another tag for its compressed file. With that tag, the
      // requests below would be answered with the whole list.
      const uncompressed = { headers: { "Accept-Encoding": "identity" } };
      const response = await fetch(`${server.url}${server.listPath}`, uncompressed);
      await response.arrayBuffer();
      const headers = [`If-None-Match: ${response.headers.get("etag")}`];
      const { perSecond } = await run(server, { connections: 64, seconds: turnSeconds, headers });
      results.add(work.notModified, name, perSecond);
    });
  },
};

function updates(server: Server, items: number, percent: number): readonly string[] {
  return ["update.lua", server.listPath, server.itemPath, fixture(items).idsFile, String(percent)];
}

const mixed: Scene = {
  title: work.mixed,
  async run({ seconds, results }) {
    await side(1_000, [ours, fastify, jsonServer], async (server, { name }) => {
      const percents = [
        [work.unmixed, 0],
        [work.mixed, 10],
      ] as const;
      for (const [title, percent] of percents) {
        const { perSecond } = await run(server, { connections: 64, seconds, script: updates(server, 1_000, percent) });
        results.add(title, name, perSecond);
      }
      if (name !== ours.name) return;
      const oneByOne = { connections: 1, seconds, script: updates(server, 1_000, 50) };
      results.add(work.listAfterWrite, name, (await run(server, oneByOne)).perSecond);
      const gzip = { ...oneByOne, headers: ["Accept-Encoding: gzip"] };
      results.add(work.gzipAfterWrite, name, (await run(server, gzip)).perSecond);
    });
  },
};

const latency: Scene = {
  title: work.listBesideWriters,
  async run({ seconds, results }) {
    await side(100, [ours], async (server, { name }) => {
      const reading: Load = { connections: 64, seconds };
      results.add(work.listAlone, name, (await run(server, reading)).p99Ms);
      const [{ p99Ms }] = await Promise.all([
        run(server, reading),
        run(server, { connections: 64, seconds, script: updates(server, 100, 100) }),
      ]);
      results.add(work.listBesideWriters, name, p99Ms);
    });
  },
};

const guarded: Scene = {
  title: "list of 100 with credentials, and over HTTPS",
  async run({ results }) {
    const { usersFile, header } = await user();
    const contenders = [
      todoitems({ name: "credentials", flags: ["--auth", "all", "--users", usersFile], headers: [header] }),
      todoitems({ name: "open" }),
      todoitems({ name: "HTTPS", scheme: "https" }),
    ];
    await alternate(100, contenders, warmUp, async (server, { name }) => {
      const { perSecond } = await run(server, { connections: 64, seconds: turnSeconds });
      results.add(work.list(100), name, perSecond);
    });
  },
};

function writes(items: number, contenders: readonly Contender[], connectionCounts = writeConnections): Scene {
  return {
    title: `create, update and delete, ${size(items)}`,
    long: items > 10_000,
    async run({ number, seconds, results }) {
      const record = (name: string, title: string, { perSecond, cpuMicroseconds }: Measured) => {
        results.add(title, name, perSecond);
        results.add(work.cpu(title), name, cpuMicroseconds);
      };
      await side(items, contenders, async (server, { name }) => {
        for (const connections of connectionCounts) {
          const id = String(number * 1_000 + connections);
          const create: Load = { connections, seconds, script: ["create.lua", server.listPath, id] };
          record(name, work.create(items, connections), await run(server, create));
        }
        // This scene measures updates of our own service only; `smallUpdates` compares them with those of others. An
        // empty store has nothing to update.
        if (name !== ours.name || items === 0) return;
        for (const connections of connectionCounts) {
          const update: Load = { connections, seconds, script: updates(server, items, 100) };
          record(name, work.update(items, connections), await run(server, update));
        }
      });
    },
  };
}

function deletions(items: number): Scene {
  return {
    title: `delete, ${size(items)}`,
    long: items > 10_000,
    async run({ results }) {
      const { idsFile } = fixture(items + deletable);
      await side(items + deletable, [ours], async (server, { name }) => {
        for (const [index, connections] of writeConnections.entries()) {
          const first = String(items + Math.round((index * deletable) / writeConnections.length));
          const script = ["delete.lua", server.itemPath, idsFile, first];
          const { perSecond } = await run(server, { connections, seconds: 1, script });
          results.add(work.delete(items, connections), name, perSecond);
        }
      });
    },
  };
}

const smallUpdates: Scene = {
  title: `update, ${size(100)}`,
  async run({ seconds, results }) {
    await side(100, [ours, fastify, jsonServer], async (server, { name }) => {
      for (const connections of name === ours.name ? writeConnections : [64]) {
        const { perSecond } = await run(server, { connections, seconds, script: updates(server, 100, 100) });
        results.add(work.update(100, connections), name, perSecond);
      }
    });
  },
};

const measured: Scene = {
  title: "list of 100 with metrics",
  async run({ results }) {
    const contenders = [
      todoitems({ name: "without metrics" }),
      todoitems({ name: "with metrics", flags: ["--metrics-port", "0"] }),
    ];
    await alternate(100, contenders, warmUp, async (server, { name }) => {
      const measured = await run(server, { connections: 64, seconds: turnSeconds });
      results.add(work.list(100), name, measured.perSecond);
      results.add(work.cpu(work.list(100)), name, measured.cpuMicroseconds);
      results.add(work.ownCpu(work.list(100)), name, measured.ownMicroseconds);
    });
  },
};

const rawSqlite: Scene = {
  title: "SQLite alone, in batches of 64",
  async run({ number, seconds, results }) {
    for (const table of ["items", "log"]) {
      const database = join(folder, `raw-${table}-${number}.db`);
      const command = [
        ...bunCommand,
        join(benchFolder, "peers/raw-sqlite.ts"),
        table,
        database,
        String(seconds * 1000),
      ];
      const child = Bun.spawn(command, { stdout: "pipe" });
      results.add(work.rawRows, `raw SQLite, ${table}`, Number(await new Response(child.stdout).text()));
    }
  },
};

const emptyStart: Scene = {
  title: work.start(0),
  async run({ results }) {
    await side(0, [ours], async ({ startMs }, { name }) => results.add(work.start(0), name, startMs));
  },
};

const million: Scene = {
  title: "start and memory, 1,000,000 items",
  long: true,
  async run({ results }) {
    await side(1_000_000, [ours], async (server, { name }) => {
      results.add(work.start(1_000_000), name, server.startMs);
      // Wait until the process has returned the memory that it needed only for starting. That takes seconds.
      await Bun.sleep(3_000);
      results.add(work.memory, name, residentBytes(server.pid) / 1_000_000);
      await (await fetch(`${server.url}${server.listPath}`)).arrayBuffer();
      await Bun.sleep(1_000);
      results.add(work.memoryListed, name, residentBytes(server.pid) / 1_000_000);
    });
  },
};

const slowReaders: Scene = {
  title: work.slowReaders,
  async run({ results }) {
    await side(100_000, [ours], async (server, { name }) => {
      await (await fetch(`${server.url}${server.listPath}`)).arrayBuffer();
      const before = residentBytes(server.pid);
      const readers = startSlowReaders(server, 100);
      await Bun.sleep(2_000);
      results.add(work.slowReaders, name, (residentBytes(server.pid) - before) / 1024 ** 2);
      readers.kill();
      await readers.exited;
    });
  },
};

/** Opens connections that request the list and never read it. A shell opens them, because it reads nothing ahead. */
function startSlowReaders({ url, listPath }: Server, count: number): Bun.Subprocess {
  const { hostname, port } = new URL(url);
  const script = `for ((reader = 0; reader < ${count}; reader++)); do
    exec {connection}<>/dev/tcp/${hostname}/${port}
    printf 'GET ${listPath} HTTP/1.1\\r\\nHost: ${hostname}\\r\\n\\r\\n' >&$connection
  done
  sleep 60`;
  return Bun.spawn(["bash", "-c", script], { stdio: ["ignore", "ignore", "inherit"] });
}

export const scenes: readonly Scene[] = [
  lists(3, [ours, nginx, floor()]),
  lists(100, [ours, nginx, floor(), ...peers]),
  lists(1_000, [ours, nginx, floor(), ...peers]),
  lists(100_000, [ours, nginx, floor()]),
  gzipLists(100),
  gzipLists(1_000),
  notModified,
  mixed,
  latency,
  slowDisk,
  guarded,
  measured,
  overHttps,
  newConnections,
  rawSqlite,
  writes(0, [ours, echo], [64]),
  writes(0, peers, [64]),
  writes(0, [ours], [1, 256]),
  smallUpdates,
  writes(10_000, [ours]),
  writes(1_000_000, [ours]),
  deletions(0),
  deletions(10_000),
  deletions(1_000_000),
  emptyStart,
  million,
  slowReaders,
];
