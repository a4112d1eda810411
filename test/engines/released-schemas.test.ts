// A store of every schema that was ever released opens, keeps its items and versions, and can be written. Each file was
// made by the program that had that schema, with three creates, an update and a deletion.

import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Engine } from "../../src/collection/engine.ts";
import { currentSchema as postgresSchema } from "../../src/engines/postgres/postgres-migrations.ts";
import { currentSchema as sqliteSchema } from "../../src/engines/sqlite/schema.ts";
import { SqliteEngine } from "../../src/engines/sqlite/sqlite-engine.ts";
import { ids, item, Service } from "../service.ts";
import { temporaryFolder } from "./engine-kinds.ts";
import { createPostgresStore, type PostgresTestStore } from "./postgres/postgres-store.ts";

/**
 * What clients know from ETags and from the change feed: the epoch (the name of the store's history) and the version.
 * The version must be kept. Only the form of the epoch is checked, because it differs from file to file.
 */
const history = { epoch: expect.stringMatching(/^[0-9a-f]{16}$/), version: 5 };
const names = ["Task 1", "Büro 🧹"];

async function expectUsable(engine: Engine): Promise<void> {
  expect(await engine.pull()).toMatchObject(history);
  const service = await Service.on(engine);
  const found = JSON.parse(await service.list()) as { readonly Name: string }[];
  expect(found.map(({ Name }) => Name)).toEqual(names);
  await service.create(item(ids.one));
  expect(JSON.parse(await service.list())).toHaveLength(3);
  await service.collection.close();
}

const versions = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe("SQLite", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(() => folder.dispose());

  for (const schema of versions(sqliteSchema)) {
    test(`a SQLite store of schema ${schema} keeps its items and can be written`, async () => {
      const path = join(folder.path, "store.db");
      copyFileSync(join(import.meta.dir, `sqlite/schema-${schema}.db`), path);
      const database = new Database(path, { readonly: true });
      expect(database.query("PRAGMA user_version").get()).toEqual({ user_version: schema });
      database.close();
      await expectUsable(new SqliteEngine(path, { readOnly: false }));
    });
  }
});

describe("PostgreSQL", () => {
  let store: PostgresTestStore;
  beforeEach(async () => {
    store = await createPostgresStore();
  });
  afterEach(() => store.dispose());

  for (const schema of versions(postgresSchema)) {
    test(`a PostgreSQL store of schema ${schema} keeps its items and can be written`, async () => {
      await store.run(readFileSync(join(import.meta.dir, `postgres/schema-${schema}.sql`), "utf8"));
      expect(await store.run("SELECT schema_version FROM todoitems.store")).toMatchObject([{ schema_version: schema }]);
      await expectUsable(await store.open());
    });
  }
});
