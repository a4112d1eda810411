// What a PostgreSQL server says about its durability, for operators, and whether it has a store.

import type { PostgresAddress } from "./postgres-address.ts";
import { hasTables } from "./postgres-schema.ts";
import { PostgresSession, timeoutsMs, withTimeout } from "./postgres-session.ts";

export interface PostgresCondition {
  /** For example, `18.4`. */
  readonly serverVersion: string;
  readonly fsync: boolean;
  /** As it is for our connections: at least `on`, or the `remote_…` that the server is set to. */
  readonly synchronousCommit: string;
  /** The setting `synchronous_standby_names`. Empty if a commit waits for no standby. */
  readonly synchronousStandbys: string;
  /** How many standbys are connected. */
  readonly standbys: number;
  readonly hasStore: boolean;
}

/** Throws a `StoreError` if no host of the address takes writes. */
export async function readCondition(address: PostgresAddress): Promise<PostgresCondition> {
  const session = new PostgresSession(address);
  try {
    return await session.use(async (sql) => {
      const query = sql<Omit<PostgresCondition, "hasStore">[]>`
        select current_setting('server_version') as "serverVersion",
          current_setting('fsync')::boolean as fsync,
          current_setting('synchronous_commit') as "synchronousCommit",
          current_setting('synchronous_standby_names') as "synchronousStandbys",
          (select count(*)::int from pg_stat_replication) as standbys`;
      const [server] = await withTimeout(timeoutsMs.answer, query);
      if (!server) throw new Error("PostgreSQL returned no row");
      return { ...server, hasStore: await withTimeout(timeoutsMs.answer, hasTables(sql)) };
    });
  } finally {
    await session.close();
  }
}
