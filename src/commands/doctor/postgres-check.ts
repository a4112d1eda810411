// The PostgreSQL servers of the store: which can be reached, and would a failover lose anything?

import { StoreError } from "../../collection/engine.ts";
import { describeHost, type PostgresAddress } from "../../engines/postgres/postgres-address.ts";
import { type PostgresCondition, readCondition } from "../../engines/postgres/postgres-condition.ts";
import { type Obstacle, obstacleOf } from "../../engines/postgres/postgres-failures.ts";
import { type Finding, fail, pass, type Subject, warn } from "./finding.ts";

/** What to do about each obstacle that keeps a server from being used. */
const hints: Readonly<Record<Exclude<Obstacle, "standby">, string>> = {
  refused: "the server runs, but refuses this connection: correct the user, the password or the database of --store",
  rights: "the server runs, but the user of --store may not use the store: let an administrator grant that right",
  tls: "the server runs, but not with the TLS that --store asks for: change its settings, or sslmode",
  "not-postgres": "check the host and the port of --store; if PostgreSQL listens there, its log may say more",
  answered: "its log may say more",
  away: "check the address, and start that server",
};

export async function checkPostgresServers({ settings: { store, demo } }: Subject): Promise<Finding[]> {
  if (store.engine !== "postgres" || demo) return [pass("not used")];
  const servers = await Promise.all(store.hosts.map((host) => examine({ ...store, hosts: [host] })));
  const primary = servers.find(({ condition }) => condition)?.condition;
  const findings = servers.map(({ finding }) => finding);
  if (primary) return [...findings, ...durability(primary), ...replication(primary, store.hosts.length)];
  if (servers.some(({ refused }) => refused))
    return [
      ...findings,
      warn(
        "which server takes writes, and its standbys, could not be checked because of that",
        "run doctor again after that is corrected",
      ),
    ];
  return [
    ...findings,
    fail(
      "no server that can be reached takes writes",
      "start or promote a primary: until then, writes are answered with 503",
    ),
  ];
}

interface Examined {
  readonly finding: Finding;
  /** Only of a primary. */
  readonly condition?: PostgresCondition;
  /** True if something answers there, but cannot be used. So nothing else is known about it. */
  readonly refused?: boolean;
}

async function examine(address: PostgresAddress): Promise<Examined> {
  const name = address.hosts.map(describeHost).join();
  try {
    const condition = await readCondition(address);
    const { serverVersion, usesTls, epoch } = condition;
    const encryption = usesTls ? "TLS" : "clear text";
    const tables = epoch === undefined ? ", no tables yet" : "";
    return { condition, finding: pass(`${name}: primary, PostgreSQL ${serverVersion}, ${encryption}${tables}`) };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const obstacle = obstacleOf(error);
    if (obstacle === "standby") return { finding: pass(`${name}: a standby, which can be promoted`) };
    const isWarning = obstacle === "answered" || obstacle === "away";
    const finding = (isWarning ? warn : fail)(error.message, hints[obstacle]);
    return { finding, refused: obstacle !== "away" };
  }
}

function durability({ fsync, fullPageWrites }: PostgresCondition): Finding[] {
  return [
    ...(fsync
      ? []
      : [fail("fsync is off: a power failure loses answered writes", "set fsync = on in postgresql.conf")]),
    ...(fullPageWrites
      ? []
      : [warn("full_page_writes is off: a power failure can damage the store", "set it to on in postgresql.conf")]),
  ];
}

function replication(condition: PostgresCondition, hostCount: number): Finding[] {
  const { synchronousStandbys, standbys } = condition;
  const connected = standbys === 1 ? "1 standby is connected" : `${standbys} standbys are connected`;
  if (standbys === 0)
    return [
      hostCount > 1
        ? warn("no standby is connected, so there is nothing to fail over to", "start the standbys")
        : pass("no standby: the store is as safe as this server's disk and your backups"),
    ];
  if (synchronousStandbys === "")
    return [
      warn(
        `${connected}, but no commit waits for one: a failover may lose answered writes`,
        "set synchronous_standby_names, for example to ANY 1 (a, b)",
      ),
    ];
  return [pass(`${connected}; a commit waits for ${synchronousStandbys}`)];
}
