// What a slow disk costs. strace delays every sync of the service, so this needs Linux and strace.

import { readFileSync } from "node:fs";
import { fixture } from "./fixtures.ts";
import { type Load, run } from "./load.ts";
import type { Scene } from "./scene.ts";
import { todoitems } from "./servers.ts";

const syncMs = 10;
const itemCount = 100;
const connectionCounts = [64, 256] as const;

export const slowWork = {
  read: "ms to read one item, median",
  readBesideWriters: "ms to read one item beside 64 writers, median, syncs of 10 ms",
  p99BesideWriters: "ms to read one item beside 64 writers, p99, syncs of 10 ms",
  create: (connections: number) => `create, ${connections} connections, syncs of 10 ms`,
  /** The most creates that are possible: each sync stores one create of every connection. */
  syncsOnly: (connections: number) => `${connections} creates every 10 ms`,
} as const;

// With -D, the service is a child of this process, not of strace. With --seccomp-bpf, only the syncs of the service are
// traced, and nothing else becomes slower.
const slowSyncs = [
  ...["strace", "-D", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null"],
  ...["-e", "trace=fsync,fdatasync", "-e", `inject=fsync,fdatasync:delay_enter=${syncMs * 1_000}`],
];

export const slowDisk: Scene = {
  title: "a disk with syncs of 10 ms",
  async run({ number, seconds, results }) {
    const { name, start } = todoitems({ under: slowSyncs });
    const server = await start(itemCount);
    try {
      const [firstId] = readFileSync(fixture(itemCount).idsFile, "utf8").split("\n");
      const reading: Load = { connections: 1, seconds, path: `${server.itemPath}${firstId}` };
      results.add(slowWork.read, name, (await run(server, reading)).medianMs);
      const creating = (connections: number, id: number): Load => ({
        connections,
        seconds,
        script: ["create.lua", server.listPath, String(number * 1_000 + id)],
      });
      // This load is not measured. By its end, the service has noticed that the disk is slow, and commits in a thread.
      await run(server, creating(64, 1));
      for (const connections of connectionCounts) {
        const { perSecond } = await run(server, creating(connections, connections));
        results.add(slowWork.create(connections), name, perSecond);
        results.add(slowWork.syncsOnly(connections), "the syncs alone", (connections * 1_000) / syncMs);
      }
      const [{ medianMs, p99Ms }] = await Promise.all([run(server, reading), run(server, creating(64, 2))]);
      results.add(slowWork.readBesideWriters, name, medianMs);
      results.add(slowWork.p99BesideWriters, name, p99Ms);
    } finally {
      await server.stop();
    }
  },
};
