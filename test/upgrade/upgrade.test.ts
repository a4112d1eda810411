// Tests upgrades from older versions. On PostgreSQL, instances of both versions run side by side. On SQLite, the new
// version opens the old version's store. The older programs are real ones, from the project's history. Without that
// history, these tests are skipped.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { createPostgresStore, type PostgresTestStore } from "../engines/postgres/postgres-store.ts";
import { check } from "../linearizability/checker.ts";
import { record } from "../linearizability/history.ts";
import { Program, runProgram } from "../program.ts";
import { firstPostgresSchema, haveOlderPrograms, previousVersion, unpackProgram } from "./older-program.ts";

const isPossible = haveOlderPrograms(previousVersion, firstPostgresSchema);
if (!isPossible) console.error("The upgrade tests are skipped: this clone lacks the git history of older versions.");
const withHistory = isPossible ? describe : describe.skip;

/** Switches off the check of every answer. An older program's answers need not match today's description of the API. */
const environment = { BUN_OPTIONS: "" };

const folder = temporaryFolder();
let previous: string;
const programs: Program[] = [];

beforeAll(() => {
  if (isPossible) previous = unpackProgram(previousVersion, join(folder.path, "previous"));
});
afterEach(async () => {
  for (const program of programs.splice(0)) await program.stop("SIGKILL");
});
afterAll(() => folder.dispose());

async function start(store: string, olderFolder?: string): Promise<Program> {
  const older = olderFolder === undefined ? {} : { folder: olderFolder, environment };
  const program = await Program.start({ args: ["--port", "0", "--store", store], ...older });
  programs.push(program);
  return program;
}

function create(program: Program, name: string): Promise<Response> {
  return program.send("POST", "/api/todoitems/", JSON.stringify({ Name: name }));
}

async function names(program: Program): Promise<string[]> {
  return (JSON.parse(await program.list()) as { Name: string }[]).map(({ Name }) => Name);
}

async function listETag(program: Program): Promise<string | null> {
  return (await program.fetch("/api/todoitems/", { headers: { "Accept-Encoding": "identity" } })).headers.get("etag");
}

withHistory("an upgrade on PostgreSQL", () => {
  let store: PostgresTestStore;
  beforeAll(async () => {
    store = await createPostgresStore();
  });
  afterEach(async () => {
    await store.dispose();
    store = await createPostgresStore();
  });
  afterAll(() => store.dispose());

  test("clients of the previous version and of this one see what one list would have shown them", async () => {
    const instances = [await start(store.url, previous), await start(store.url), await start(store.url, previous)];
    const history = await record({
      origins: instances.map(({ origin }) => origin),
      clientCount: 12,
      goOn: (operationsSoFar) => operationsSoFar < 1_500,
    });
    expect(history.lists.length).toBeGreaterThan(50);
    expect(check(history)).toBeUndefined();
  }, 60_000);

  test("instances are replaced one after the other, and a client that meets both versions notices nothing", async () => {
    const old = await start(store.url, previous);
    await create(old, "by the old one");
    const etag = await listETag(old);
    const young = await start(store.url);
    expect(await listETag(young)).toBe(etag);
    await create(young, "by the new one");
    expect(await names(old)).toEqual(["by the old one", "by the new one"]);
    expect(await listETag(old)).toBe(await listETag(young));
    expect((await old.stop()).exitCode).toBe(0);
    // Return to the old version, as after a failed upgrade.
    const again = await start(store.url, previous);
    await create(again, "by the old one again");
    expect(await names(young)).toEqual(["by the old one", "by the new one", "by the old one again"]);
  });

  test("if the schema must change, the start is refused while an older instance runs, which goes on, and says what to do", async () => {
    const oldest = unpackProgram(firstPostgresSchema, join(folder.path, "oldest"));
    const old = await start(store.url, oldest);
    await create(old, "before");
    const refused = await runProgram("serve", { args: ["--port", "0", "--store", store.url] });
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain(
      "the store has schema 1 and needs 2, but an older todoitems is connected from 127.0.0.1",
    );
    expect(refused.stderr).toContain("Stop every older instance, then start this one again");
    expect((await create(old, "meanwhile")).status).toBe(201);

    await old.stop();
    const young = await start(store.url);
    expect(await names(young)).toEqual(["before", "meanwhile"]);
    const late = await runProgram("serve", {
      args: ["--port", "0", "--store", store.url],
      folder: oldest,
      environment,
    });
    expect(late.exitCode).toBe(1);
    expect(late.stderr).toContain("the store was written by a newer todoitems (schema 2, this one knows 1)");
    expect((await create(young, "after")).status).toBe(201);
  });
});

withHistory("an upgrade of a SQLite store", () => {
  test("the previous version's store keeps its items and ETags, and the previous version then refuses it", async () => {
    const store = `sqlite:${join(folder.path, "todo.db")}`;
    const old = await start(store, previous);
    await create(old, "before");
    const etag = await listETag(old);
    const tooEarly = await runProgram("serve", { args: ["--port", "0", "--store", store] });
    expect(tooEarly.exitCode).toBe(1);
    expect(tooEarly.stderr).toContain("another program has it open; stop every service");
    expect((await create(old, "meanwhile")).status).toBe(201);
    expect(await listETag(old)).not.toBe(etag);
    const lastETag = await listETag(old);
    await old.stop();

    const young = await start(store);
    expect(await names(young)).toEqual(["before", "meanwhile"]);
    expect(await listETag(young)).toBe(lastETag);
    await create(young, "after");
    await young.stop();
    const late = await runProgram("serve", { args: ["--port", "0", "--store", store], folder: previous, environment });
    expect(late.exitCode).toBe(1);
    expect(late.stderr).toContain("the store was written by a newer todoitems (schema 2, this one knows 1)");

    // The copy that the upgrade took is a store of the previous version.
    const back = await start(`sqlite:${join(folder.path, "todo.db.before-schema-2")}`, previous);
    expect(await names(back)).toEqual(["before", "meanwhile"]);
  });
});
