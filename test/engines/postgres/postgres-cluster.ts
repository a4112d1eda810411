// A replicated PostgreSQL: a primary and two standbys. A commit is answered only after at least one standby has it.
// This class is also the failover manager. When the primary is gone, it promotes the standby that has received more. It
// lets the other standby follow the new primary, and starts a new standby.

import { eventually } from "../../eventually.ts";
import { PostgresServer, type ServerSettings } from "./postgres-server.ts";

const settings: ServerSettings = {
  synchronous_standby_names: "ANY 1 (*)",
  wal_keep_size: "256MB",
  wal_retrieve_retry_interval: "100ms",
  max_connections: "50",
};

export class PostgresCluster {
  #primary: PostgresServer;
  #standbys: readonly PostgresServer[];
  /**
   * The ports of the servers. They stay the same, because a new standby takes the port of the lost primary. Clients try
   * each port in turn until a server takes writes.
   */
  readonly #ports: number[];

  private constructor(primary: PostgresServer, standbys: readonly PostgresServer[]) {
    this.#primary = primary;
    this.#standbys = standbys;
    this.#ports = [primary, ...standbys].map(({ port }) => port);
  }

  static async start(): Promise<PostgresCluster> {
    const primary = await PostgresServer.start(settings);
    const standbys = [await startStandby(primary), await startStandby(primary)];
    return new PostgresCluster(primary, standbys);
  }

  /** The URL of a server that takes no writes. */
  get standbyUrl(): string {
    return this.#standbys[0]?.url() ?? "";
  }

  /** The URL with all hosts, so that clients can go on when one of the hosts is lost. */
  get url(): string {
    const hosts = this.#ports.map((port) => `127.0.0.1:${port}`).join(",");
    return `${this.#primary.url().replace(/127\.0\.0\.1:[0-9]+/, hosts)}?target_session_attrs=read-write`;
  }

  /** Kills the primary. A standby takes over, and a new standby starts on the port of the lost primary. */
  async failOver(): Promise<void> {
    const lost = this.#primary;
    await lost.crash();
    const [first, second] = this.#standbys;
    if (!first || !second) throw new Error("a cluster needs two standbys");
    const [next, other] = (await received(first)) >= (await received(second)) ? [first, second] : [second, first];
    await next.run("SELECT pg_promote()");
    follow(other, next);
    await other.run("SELECT pg_reload_conf()");
    this.#primary = next;
    await lost.dispose();
    this.#standbys = [other, await startStandby(next, lost.port)];
  }

  async dispose(): Promise<void> {
    for (const server of [this.#primary, ...this.#standbys]) await server.dispose();
  }
}

async function startStandby(primary: PostgresServer, port?: number): Promise<PostgresServer> {
  const standby = await PostgresServer.copyOf(primary, settings, port);
  standby.writeFile("standby.signal", "");
  follow(standby, primary);
  await standby.resume();
  return standby;
}

function follow(standby: PostgresServer, primary: PostgresServer): void {
  const { hostname, port, username, password } = new URL(primary.url());
  const target = `host=${hostname} port=${port} user=${username} password=''${decodeURIComponent(password)}''`;
  standby.writeFile("postgresql.auto.conf", `primary_conninfo = '${target}'\n`);
}

/** How much of the primary's log a standby has received. The standby that has received more must be promoted. */
async function received(standby: PostgresServer): Promise<bigint> {
  // Wait for the connection to end: what the primary sent before it was killed may still arrive.
  await eventually(async () => {
    const receivers = await standby.run("SELECT FROM pg_stat_wal_receiver");
    if (receivers.length > 0) throw new Error("a standby is still connected to a primary that was killed");
  });
  const [row] = await standby.run("SELECT pg_last_wal_receive_lsn() - '0/0'::pg_lsn AS bytes");
  return BigInt(String(row?.["bytes"] ?? 0));
}
