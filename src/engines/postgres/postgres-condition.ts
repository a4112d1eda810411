// What a PostgreSQL server says about itself, for operators: its version, the settings that matter for durability, its
// standbys and connections, and how far its time differs from ours. Also the schema and the epoch of the store.

import type { PostgresAddress } from "./postgres-address.ts";
import { needsMigration, readSchemaVersion } from "./postgres-schema.ts";
import { PostgresSession, type Sql, timeoutsMs, withTimeout } from "./postgres-session.ts";

export interface PostgresCondition {
  /** For example, `18.4`. */
  readonly serverVersion: string;
  readonly usesTls: boolean;
  readonly fsync: boolean;
  readonly fullPageWrites: boolean;
  /** The setting `synchronous_standby_names`. Empty if a commit waits for no standby. */
  readonly synchronousStandbys: string;
  /** How many standbys are connected. */
  readonly standbys: number;
  /**
   * The delay of the slowest standby. Undefined if the server shows no delay: no standby is connected, the standbys are
   * idle and have caught up, or this user has no permission to see it.
   */
  readonly lagSeconds: number | undefined;
  readonly connections: number;
  readonly connectionsMax: number;
  /**
   * How far, at least, the server's time is ahead of ours. Negative if it is behind. 0 if no difference can be shown.
   */
  readonly clockAheadMs: number;
  /** The version of the store's schema. 0 if there is no store yet. */
  readonly schema: number;
  /** The name of the store's history. Undefined if there is no store yet. */
  readonly epoch: string | undefined;
}

interface Row extends Omit<PostgresCondition, "lagSeconds" | "clockAheadMs" | "schema" | "epoch"> {
  readonly lagSeconds: number | null;
  readonly timeMs: number;
}

export function readCondition(address: PostgresAddress): Promise<PostgresCondition> {
  return withSession(address, async (sql) => {
    const askedAt = Date.now();
    const [server] = await sql<Row[]>`
      select current_setting('server_version') as "serverVersion",
        coalesce((select ssl from pg_stat_ssl where pid = pg_backend_pid()), false) as "usesTls",
        current_setting('fsync')::boolean as fsync,
        current_setting('full_page_writes')::boolean as "fullPageWrites",
        current_setting('synchronous_standby_names') as "synchronousStandbys",
        (select count(*)::int from pg_stat_replication) as standbys,
        (select extract(epoch from max(replay_lag))::float8 from pg_stat_replication) as "lagSeconds",
        (select count(*)::int from pg_stat_activity where datid is not null) as connections,
        current_setting('max_connections')::int as "connectionsMax",
        extract(epoch from clock_timestamp())::float8 * 1000 as "timeMs"`;
    const answeredAt = Date.now();
    if (!server) throw new Error("PostgreSQL returned no row");
    const { timeMs, lagSeconds, ...rest } = server;
    const schema = await readSchemaVersion(sql);
    const [clock] = schema === 0 ? [] : await sql<{ epoch: string }[]>`select epoch from todoitems.store`;
    return {
      ...rest,
      lagSeconds: lagSeconds ?? undefined,
      // The server read its time at some moment between `askedAt` and `answeredAt`. So the two times differ for certain
      // only if the server's time lies outside this interval.
      clockAheadMs: timeMs - Math.min(Math.max(timeMs, askedAt), answeredAt),
      schema,
      epoch: clock?.epoch,
    };
  });
}

/** Throws a `StoreError` if a service could not create the tables, or could not bring them up to date. */
export async function checkMigration(address: PostgresAddress): Promise<void> {
  await withSession(address, needsMigration);
}

/** Runs queries over a connection of their own. Throws a `StoreError` if no host takes writes. */
async function withSession<Result>(address: PostgresAddress, work: (sql: Sql) => Promise<Result>): Promise<Result> {
  const session = new PostgresSession(address);
  try {
    return await session.use((sql) => withTimeout(timeoutsMs.answer, work(sql)));
  } finally {
    await session.close();
  }
}
