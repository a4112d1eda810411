// What a PostgreSQL server says about itself, for operators: its version, the settings that matter for durability, and
// its standbys. Also the epoch of the store, and whether its tables can be made.

import type { PostgresAddress } from "./postgres-address.ts";
import { hasTables, needsTables } from "./postgres-schema.ts";
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
  /** The name of the store's history. Undefined if there is no store yet. */
  readonly epoch: string | undefined;
}

export function readCondition(address: PostgresAddress): Promise<PostgresCondition> {
  return withSession(address, async (sql) => {
    const [server] = await sql<Omit<PostgresCondition, "epoch">[]>`
      select current_setting('server_version') as "serverVersion",
        coalesce((select ssl from pg_stat_ssl where pid = pg_backend_pid()), false) as "usesTls",
        current_setting('fsync')::boolean as fsync,
        current_setting('full_page_writes')::boolean as "fullPageWrites",
        current_setting('synchronous_standby_names') as "synchronousStandbys",
        (select count(*)::int from pg_stat_replication) as standbys`;
    if (!server) throw new Error("PostgreSQL returned no row");
    const [clock] = (await hasTables(sql)) ? await sql<{ epoch: string }[]>`select epoch from todoitems.store` : [];
    return { ...server, epoch: clock?.epoch };
  });
}

/** Throws a `StoreError` if a service could neither use the tables nor create them. */
export async function checkTables(address: PostgresAddress): Promise<void> {
  await withSession(address, needsTables);
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
