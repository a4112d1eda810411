// `todoitems doctor` on PostgreSQL: whether the servers may lose answered writes, and whether the store is sound.

import { afterAll, expect, test } from "bun:test";
import { PostgresCluster } from "../../engines/postgres/postgres-cluster.ts";
import { createPostgresStore } from "../../engines/postgres/postgres-store.ts";
import { runHere } from "../command-line.ts";

let cluster: PostgresCluster | undefined;
afterAll(() => cluster?.dispose());

function doctor(url: string) {
  return runHere(["doctor", "--port", "0"], { environment: { TODOITEMS_STORE: url } });
}

test("a sound store passes, and a server that may lose answered writes fails", async () => {
  const store = await createPostgresStore();
  try {
    await (await store.open()).close();
    const { exitCode, stdout } = await doctor(store.url);
    expect(stdout).toMatch(/pass {2}Store .*: sound, 0 items/);
    // The servers of these tests run without fsync.
    expect(stdout).toMatch(/fail {2}Store .*fsync is off: a power failure loses answered writes/);
    expect(stdout).toMatch(/pass {2}Store .*PostgreSQL \d.*standbys: 0/);
    expect(exitCode).toBe(1);
  } finally {
    await store.dispose();
  }
});

test("a database without a store passes: the tables are made at the first start", async () => {
  const store = await createPostgresStore();
  try {
    expect((await doctor(store.url)).stdout).toMatch(/pass {2}Store .*the tables are made at the first start/);
  } finally {
    await store.dispose();
  }
});

test("a server that cannot be reached fails, without the password", async () => {
  const { exitCode, stdout } = await doctor("postgres://ann:open-sesame@127.0.0.1:1/todo");
  expect(stdout).toMatch(/fail {2}Store .*127\.0\.0\.1:1/);
  expect(stdout).not.toContain("open-sesame");
  expect(exitCode).toBe(1);
});

test("standbys that confirm commits pass", async () => {
  cluster = await PostgresCluster.start();
  expect((await doctor(cluster.url)).stdout).toMatch(/pass {2}Store .*standbys: 2; a commit waits for ANY 1 \(\*\)/);
});
