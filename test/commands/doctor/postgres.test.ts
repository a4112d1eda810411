// `todoitems doctor` on PostgreSQL: whether the servers can be reached, whether they may lose answered writes, and
// whether the store is sound.

import { afterAll, afterEach, beforeEach, expect, test } from "bun:test";
import { PostgresCluster } from "../../engines/postgres/postgres-cluster.ts";
import { PostgresServer } from "../../engines/postgres/postgres-server.ts";
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
    expect(findings[0]).toMatchObject({ verdict: "pass", text: expect.stringContaining("primary, PostgreSQL") });
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

test("a user who may not make the tables that are missing fails, with the right that is missing", async () => {
  const store = await createPostgresStore();
  try {
    await store.run("CREATE ROLE lodger LOGIN PASSWORD 'p'");
    const { exitCode, findings } = await examine("Store", store.url.replace(/\/\/.*@/, "//lodger:p@"));
    expect(findings).toMatchObject([
      {
        verdict: "fail",
        text: expect.stringContaining("the user lodger may not make tables: it lacks the right CREATE on the database"),
      },
    ]);
    expect(exitCode).toBe(1);
    await store.run("DROP ROLE lodger");
  } finally {
    await store.dispose();
  }
});

test("a server that cannot be reached fails, with a hint and without the password", async () => {
  const { exitCode, stdout } = await patient.run(["--port", "0"], {
    TODOITEMS_STORE: "postgres://ann:open-sesame@127.0.0.1:1/todo",
  });
  expect(stdout).toContain("127.0.0.1:1: nothing listens there; is PostgreSQL running");
  expect(stdout).toContain("no server that can be reached takes writes");
  expect(stdout).not.toContain("open-sesame");
  expect(exitCode).toBe(1);
});

test("a server that refuses the user or the database is not called unreachable, and the rest is called unchecked", async () => {
  const server = await PostgresServer.start();
  try {
    await server.letIn("nosuch");
    for (const url of [server.url("postgres", "nosuch"), server.url("nowhere"), server.url("postgres", undefined, "x")])
      expect((await examine("PostgreSQL", url)).findings).toEqual([
        {
          area: "PostgreSQL",
          verdict: "fail",
          text: expect.stringMatching(/does not let this user in|there is no database|the password is wrong/),
          hint: "the server runs, but refuses this connection: correct the user, the password or the database of --store",
        },
        {
          area: "PostgreSQL",
          verdict: "warn",
          text: "which server takes writes, and its standbys, could not be checked because of that",
          hint: "run doctor again after that is corrected",
        },
      ]);
  } finally {
    await server.dispose();
  }
});

test("a user without rights in the schema fails, with the rights that are needed", async () => {
  const store = await createPostgresStore();
  try {
    await (await store.open()).close();
    await store.run("CREATE ROLE examined LOGIN PASSWORD 'p'");
    const { findings } = await examine("PostgreSQL", store.url.replace(/\/\/.*@/, "//examined:p@"));
    expect(findings[0]).toMatchObject({
      verdict: "fail",
      text: expect.stringContaining("the user examined lacks a right (permission denied for schema todoitems)"),
      hint: "the server runs, but the user of --store may not use the store: let an administrator grant that right",
    });
  } finally {
    await store.run("DROP ROLE examined");
    await store.dispose();
  }
});

test("standbys that confirm commits pass, and the answer names them", async () => {
  cluster = await PostgresCluster.start();
  const { findings } = await examine("PostgreSQL", cluster.url);
  const texts = findings.filter(({ verdict }) => verdict === "pass").map(({ text }) => text);
  expect(texts.filter((text) => text.includes("primary"))).toHaveLength(1);
  expect(texts.filter((text) => text.includes("a standby, which can be promoted"))).toHaveLength(2);
  expect(texts.at(-1)).toBe("2 standbys are connected; a commit waits for ANY 1 (*)");
});
