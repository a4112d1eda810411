// PostgreSQL stores for suites that need one for each test: databases of one server, which is started
// when the first is asked for and ends with the test run. Making a database takes a while, so they are
// emptied and used again.

import type { Sql } from "postgres";
import { PostgresEngine } from "../../src/engines/postgres.ts";
import { parsePostgresUrl } from "../../src/engines/postgres-address.ts";
import type { TestStore } from "../engines/engine-kinds.ts";
import { PostgresServer } from "./postgres-server.ts";

interface TestDatabase {
  readonly url: string;
  readonly administrator: Sql;
}

let started: Promise<PostgresServer> | undefined;
const free: TestDatabase[] = [];
let databaseCount = 0;

function sharedServer(): Promise<PostgresServer> {
  started ??= PostgresServer.start({ max_connections: "200" });
  return started;
}

export async function createPostgresStore(): Promise<TestStore & { readonly url: string }> {
  const database = free.pop() ?? (await createDatabase());
  const { url, administrator } = database;
  return {
    url,
    open: () => PostgresEngine.open(parsePostgresUrl(url), { readOnly: false, log() {} }),
    async dispose() {
      await administrator.unsafe("DROP SCHEMA IF EXISTS todoitems CASCADE");
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
