// PostgreSQL stores for suites that need one for each test. They are databases on one server, which is started for
// the first of them and ends with the test run. Creating a database takes a while, so databases are emptied and used
// again.

import postgres from "postgres";
import { parsePostgresUrl } from "../../../src/engines/postgres/postgres-address.ts";
import { PostgresEngine } from "../../../src/engines/postgres/postgres-engine.ts";
import { smallLimits } from "../../small-limits.ts";
import type { TestStore } from "../engine-kinds.ts";
import { PostgresServer } from "./postgres-server.ts";

interface TestDatabase {
  readonly url: string;
  readonly administrator: postgres.Sql;
}

let started: Promise<PostgresServer> | undefined;
const free: TestDatabase[] = [];
let databaseCount = 0;
const tables = ["store", "list", "item", "history"];

function sharedServer(): Promise<PostgresServer> {
  started ??= PostgresServer.start({ max_connections: "200" });
  return started;
}

export interface PostgresTestStore extends TestStore {
  readonly url: string;
  /** Runs SQL as the administrator. */
  run(statements: string): Promise<readonly Record<string, unknown>[]>;
  /** Runs a statement in a transaction. The transaction stays open, with its locks, until `release` is called. */
  hold(statement: string): Promise<{ release(): Promise<void> }>;
  /** Ends every other connection to the database, and resolves once they have ended. */
  disconnectAll(): Promise<void>;
  /** Remembers the store as it is now. `restore` brings it back, as restoring a backup would. */
  backup(): Promise<void>;
  restore(): Promise<void>;
}

export async function createPostgresStore(): Promise<PostgresTestStore> {
  const database = free.pop() ?? (await createDatabase());
  const { url, administrator } = database;
  const run = async (statements: string) => administrator.unsafe(statements);
  return {
    url,
    address: url,
    run,
    open: () =>
      PostgresEngine.open(parsePostgresUrl(url), { readOnly: false, limits: smallLimits, onOtherHistory() {} }),
    async hold(statement) {
      const holder = postgres(url, { max: 1 });
      await holder.unsafe(`BEGIN; ${statement}`);
      return { release: () => holder.end() };
    },
    async disconnectAll() {
      await run(
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
      );
    },
    async backup() {
      for (const table of tables) await run(`CREATE TABLE todoitems.${table}_backup AS TABLE todoitems.${table}`);
    },
    async restore() {
      const restored = tables.map(
        (table) => `DELETE FROM todoitems.${table}; INSERT INTO todoitems.${table} TABLE todoitems.${table}_backup`,
      );
      await run(`BEGIN; ${restored.join("; ")}; COMMIT`);
    },
    async dispose() {
      await run("DROP SCHEMA IF EXISTS todoitems CASCADE");
      free.push(database);
    },
  };
}

async function createDatabase(): Promise<TestDatabase> {
  const server = await sharedServer();
  const name = `store_${++databaseCount}`;
  await server.run(`CREATE DATABASE ${name}`);
  return { url: server.url(name), administrator: server.connect(name) };
}
