// The PostgreSQL servers of the store: which can be reached, and would a failover lose anything?

import { StoreError } from "../../collection/engine.ts";
import { describeHost, type PostgresAddress } from "../../engines/postgres/postgres-address.ts";
import { type PostgresCondition, readCondition } from "../../engines/postgres/postgres-condition.ts";
import {
  isAnswer,
  isOtherAnswer,
  isRefusal,
  isTlsFailure,
  lacksRights,
} from "../../engines/postgres/postgres-failures.ts";
import { isStandby } from "../../engines/postgres/postgres-session.ts";
import { clockHint, toleratedMs } from "./clock-check.ts";
import { type Finding, fail, pass, type Subject, warn } from "./finding.ts";

/** A standby that is further behind than this takes a long time to promote. */
const lagSecondsMax = 10;

const refusalHint =
  "the server runs, but refuses this connection: correct the user, the password or the database of --store";
const rightsHint = "the server runs, but the user of --store may not use the store: let an administrator run that SQL";
const tlsHint = "the server runs, but not with the TLS that --store asks for: change its settings, or sslmode";
const otherAnswerHint = "check the host and the port of --store; if PostgreSQL listens there, its log may say more";

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
    const { serverVersion, usesTls, schema } = condition;
    const store = schema === 0 ? "no tables yet" : `schema ${schema}`;
    const finding = pass(`${name}: primary, PostgreSQL ${serverVersion}, ${usesTls ? "TLS" : "clear text"}, ${store}`);
    return { condition, finding };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    if (isStandby(error)) return { finding: pass(`${name}: a standby, which can be promoted`) };
    if (isRefusal(error)) return { refused: true, finding: fail(error.message, refusalHint) };
    if (lacksRights(error)) return { refused: true, finding: fail(error.message, rightsHint) };
    if (isTlsFailure(error)) return { refused: true, finding: fail(error.message, tlsHint) };
    if (isOtherAnswer(error)) return { refused: true, finding: fail(error.message, otherAnswerHint) };
    if (isAnswer(error)) return { refused: true, finding: warn(error.message, "its log may say more") };
    return { finding: warn(error.message, "check the address, and start that server") };
  }
}

function durability(condition: PostgresCondition): Finding[] {
  const { fsync, fullPageWrites, connections, connectionsMax, clockAheadMs } = condition;
  return [
    ...(fsync
      ? []
      : [fail("fsync is off: a power failure loses answered writes", "set fsync = on in postgresql.conf")]),
    ...(fullPageWrites
      ? []
      : [warn("full_page_writes is off: a power failure can damage the store", "set it to on in postgresql.conf")]),
    ...(connections < connectionsMax * 0.9
      ? []
      : [warn(`${connections} of ${connectionsMax} connections are in use`, "raise the server's max_connections")]),
    ...(Math.abs(clockAheadMs) < toleratedMs
      ? []
      : [
          warn(
            `its clock and that of this machine differ by ${Math.round(Math.abs(clockAheadMs) / 1_000)} s`,
            clockHint,
          ),
        ]),
  ];
}

function replication(condition: PostgresCondition, hostCount: number): Finding[] {
  const { synchronousStandbys, standbys, lagSeconds = 0 } = condition;
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
  if (lagSeconds > lagSecondsMax)
    return [warn(`a standby is ${Math.round(lagSeconds)} s behind`, "look at the load and the network of the standby")];
  return [pass(`${connected}; a commit waits for ${synchronousStandbys}`)];
}
