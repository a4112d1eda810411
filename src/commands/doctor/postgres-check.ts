// The PostgreSQL servers of the store: would a power failure or a failover lose anything?

import { readCondition } from "../../engines/postgres/postgres-condition.ts";
import { countOf } from "../command-line/output.ts";
import { type Finding, fail, pass, type Subject, warn } from "./finding.ts";

export async function checkPostgresServers({ settings: { store, demo } }: Subject): Promise<Finding[]> {
  if (store.engine !== "postgres" || demo) return [pass("not used")];
  const { serverVersion, fsync, synchronousStandbys, standbys } = await readCondition(store);
  const findings = [pass(`the primary is PostgreSQL ${serverVersion}`)];
  if (!fsync)
    findings.push(fail("fsync is off: a power failure loses answered writes", "set fsync = on in postgresql.conf"));
  if (standbys === 0)
    findings.push(
      store.hosts.length > 1
        ? warn("no standby is connected, so there is nothing to fail over to", "start the standbys")
        : pass("no standby: the store is as safe as this server's disk and your backups"),
    );
  else if (synchronousStandbys === "")
    findings.push(
      warn(
        `${countOf(standbys, "standby")} connected, but no commit waits for one: a failover may lose answered writes`,
        "set synchronous_standby_names, for example to ANY 1 (a, b)",
      ),
    );
  else findings.push(pass(`connected standbys: ${standbys}; a commit waits for ${synchronousStandbys}`));
  return findings;
}
