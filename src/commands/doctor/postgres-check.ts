// The PostgreSQL server of the store: would a power failure or a failover lose anything?

import { describeAddress } from "../../engines/postgres/postgres-address.ts";
import { type PostgresCondition, readCondition } from "../../engines/postgres/postgres-condition.ts";
import { type Finding, fail, pass, type Subject, warn } from "./finding.ts";

export async function checkPostgresServers({ settings: { store, demo } }: Subject): Promise<Finding[]> {
  if (store.engine !== "postgres" || demo) return [pass("not used")];
  const condition = await readCondition(store);
  const { serverVersion, fsync } = condition;
  return [
    pass(`${describeAddress(store)}: PostgreSQL ${serverVersion}`),
    ...(fsync
      ? []
      : [fail("fsync is off: a power failure loses answered writes", "set fsync = on in postgresql.conf")]),
    replication(condition, store.hosts.length),
  ];
}

function replication({ synchronousStandbys, synchronousCommit, standbys }: PostgresCondition, hosts: number): Finding {
  const connected = standbys === 1 ? "1 standby is connected" : `${standbys} standbys are connected`;
  if (standbys === 0)
    return hosts > 1
      ? warn("no standby is connected, so there is nothing to fail over to", "start the standbys")
      : pass("no standby: the store is as safe as this server's disk and your backups");
  if (synchronousStandbys === "")
    return warn(
      `${connected}, but no commit waits for one: a failover may lose answered writes`,
      "set synchronous_standby_names, for example to ANY 1 (a, b)",
    );
  return pass(`${connected}; a commit waits for ${synchronousStandbys} (synchronous_commit = ${synchronousCommit})`);
}
