// `todoitems doctor` on PostgreSQL: whether the servers can be reached, whether they may lose answered writes, and
// whether the store is sound.

import { afterAll, afterEach, beforeEach, expect, test } from "bun:test";
import { PostgresCluster } from "../../engines/postgres/postgres-cluster.ts";
import { createPostgresStore } from "../../engines/postgres/postgres-store.ts";
import { Patient } from "./patient.ts";

let patient: Patient;
let cluster: PostgresCluster | undefined;
beforeEach(() => {
  patient = new Patient();
});
afterEach(() => patient.dispose());
afterAll(() => cluster?.dispose());

function examine(area: string, url: string) {
  return patient.examine(area, ["--port", "0"], { TODOITEMS_STORE: url });
}

test("a server that can be reached passes, and one that may lose answered writes fails", async () => {
  const store = await createPostgresStore();
  try {
    const { exitCode, findings } = await examine("PostgreSQL", store.url);
    expect(findings[0]).toMatchObject({ verdict: "pass", text: expect.stringContaining("PostgreSQL") });
    // The servers of these tests run without fsync.
    expect(findings[1]).toMatchObject({ verdict: "fail", text: expect.stringContaining("fsync is off") });
    expect(exitCode).toBe(1);
  } finally {
    await store.dispose();
  }
});

test("a store in PostgreSQL is checked, and a database without a store passes", async () => {
  const store = await createPostgresStore();
  try {
    expect((await examine("Store", store.url)).findings).toMatchObject([
      { verdict: "pass", text: expect.stringContaining("the tables are made at the first start") },
    ]);
    expect(
      (await patient.examine("Store", ["--port", "0", "--read-only"], { TODOITEMS_STORE: store.url })).findings,
    ).toMatchObject([{ verdict: "fail", text: expect.stringContaining("with --read-only none are made") }]);
    const engine = await store.open();
    await engine.close();
    expect((await examine("Store", store.url)).findings).toMatchObject([
      { verdict: "pass", text: expect.stringContaining("sound, 0 items") },
    ]);
  } finally {
    await store.dispose();
  }
});

test("a server that cannot be reached fails, with a hint and without the password", async () => {
  const { exitCode, stdout } = await patient.run(["--port", "0"], {
    TODOITEMS_STORE: "postgres://ann:open-sesame@127.0.0.1:1/todo",
  });
  expect(stdout).toContain("127.0.0.1:1: nothing listens there; is PostgreSQL running");
  expect(stdout).not.toContain("open-sesame");
  expect(exitCode).toBe(1);
});

test("standbys that confirm commits pass, and the answer names them", async () => {
  cluster = await PostgresCluster.start();
  const { findings } = await examine("PostgreSQL", cluster.url);
  const texts = findings.filter(({ verdict }) => verdict === "pass").map(({ text }) => text);
  expect(texts.at(-1)).toBe("2 standbys are connected; a commit waits for ANY 1 (*) (synchronous_commit = on)");
});
