// Tests the thread that commits: when there is one, what it does besides committing, and what happens if it waits or
// ends. What its engine has in common with others is tested by engine-contract.test.ts.

import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import type { Bookmark, PlannedChange } from "../../../src/collection/engine.ts";
import { ServedSqliteEngine } from "../../../src/engines/sqlite/served-sqlite-engine.ts";
import { eventually } from "../../eventually.ts";
import { staysPending } from "../../turns.ts";
import { batchOf } from "../batch-of.ts";
import { openWithThread, temporaryFolder } from "../engine-kinds.ts";

let folder: ReturnType<typeof temporaryFolder>;
let path: string;
let engine: ServedSqliteEngine;
let start: Bookmark;
let threads: Worker[];
const RealWorker = globalThis.Worker;

beforeEach(async () => {
  folder = temporaryFolder();
  path = join(folder.path, "store.db");
  threads = [];
  globalThis.Worker = class extends RealWorker {
    constructor(...args: ConstructorParameters<typeof Worker>) {
      super(...args);
      threads.push(this);
    }
  };
  engine = await openWithThread(path);
  start = await engine.pull();
});

afterEach(() => {
  globalThis.Worker = RealWorker;
  folder.dispose();
});

const row = (version: number, replaces?: number): PlannedChange => ({
  version,
  position: version,
  id: `id-${version}`,
  json: `{"n":${version}}`,
  replaces,
});

function commit(version: number): Promise<void> {
  return engine.commit(batchOf({ ...start, version: version - 1 }, () => [row(version)]));
}

/** Keeps the thread from committing until the returned database is closed. */
function lock(): Database {
  const database = new Database(path);
  database.run("BEGIN IMMEDIATE");
  return database;
}

test("a service whose commits are fast starts no thread", async () => {
  threads = [];
  const fast = new ServedSqliteEngine(join(folder.path, "fast.db"), { onWarning() {}, slowSyncMs: 60_000 });
  const { epoch } = await fast.pull();
  for (let version = 1; version <= 20; version++) {
    await fast.commit(batchOf({ epoch, version: version - 1 }, () => [row(version)]));
  }
  expect(threads).toEqual([]);
  await fast.close();
  await engine.close();
});

test("if the thread cannot be started, commits go on without it, and the operator is told once", async () => {
  await engine.close();
  threads = [];
  const warnings: string[] = [];
  globalThis.Worker = class extends RealWorker {
    constructor() {
      super("data:text/javascript,throw new Error('broken')");
      threads.push(this);
    }
  };
  engine = new ServedSqliteEngine(path, { onWarning: (message) => warnings.push(message), slowSyncMs: -1 });
  await engine.pull();
  await commit(1);
  await eventually(() => warnings.length > 0);
  for (let version = 2; version <= 5; version++) await commit(version);
  await eventually(() => threads.length === warnings.length);
  expect(warnings).toHaveLength(1);
  expect((await engine.pull()).version).toBe(5);
  await engine.close();
});

test("while the thread waits for the disk, what is stored can be read", async () => {
  await commit(1);
  const held = lock();
  const waiting = commit(2);
  expect(await staysPending(waiting)).toBeTrue();
  expect(engine.hasNews()).toBeFalse();
  expect(await engine.pull()).toMatchObject({ version: 1 });
  held.close();
  await waiting;
  await engine.close();
});

test("if the thread ends during a commit, the outcome is unknown, later writes are refused, and reads go on", async () => {
  await commit(1);
  const held = lock();
  const waiting = commit(2);
  waiting.catch(() => {});
  expect(await staysPending(waiting)).toBeTrue();
  threads[0]?.terminate();
  await expect(waiting).rejects.toMatchObject({ name: "StoreError", undecided: true });
  held.close();
  await expect(commit(2)).rejects.toMatchObject({
    undecided: false,
    message: expect.stringContaining("start the service again"),
  });
  await expect(engine.checkReady()).rejects.toThrow("the thread that commits has failed");
  expect(engine.hasNews()).toBeFalse();
  await expect(engine.close()).rejects.toThrow("the thread that commits has failed");
});

test("after a commit with an unknown outcome, nothing is read before the thread has settled it", async () => {
  const [thread] = threads;
  if (!thread) throw new Error("no thread was started");
  const sent: string[] = [];
  const settled = Promise.withResolvers<string>();
  // Commits and checks do not reach the thread: they are answered here. The answer to a commit says that its outcome is
  // unknown. A check is answered once `settled` is resolved.
  const { postMessage } = thread;
  thread.postMessage = (text: string) => {
    const [kind] = JSON.parse(text);
    sent.push(kind);
    const answer = (data: string) => queueMicrotask(() => thread.onmessage?.(new MessageEvent("message", { data })));
    if (kind === "commit") answer(JSON.stringify(["failed", "the disk reported an error", true, false]));
    else if (kind === "check-ready") void settled.promise.then(answer);
    else postMessage.call(thread, text);
  };
  await expect(commit(1)).rejects.toMatchObject({ undecided: true });
  const pulling = engine.pull();
  expect(await staysPending(pulling)).toBeTrue();
  expect(sent).toEqual(["commit", "check-ready"]);
  settled.resolve(JSON.stringify(["done"]));
  expect(await pulling).toMatchObject({ version: 0 });
  await engine.close();
});

test("a log that has grown long is copied into the store once the thread has no commit to do", async () => {
  const long = { ...row(1), json: JSON.stringify({ n: 1, text: "long ".repeat(1_000_000) }) };
  await engine.commit(batchOf(start, () => [long]));
  // A commit only sees how long the log was before it. So this second commit is the first to see the long log.
  await commit(2);
  await eventually(() => expect(statSync(path).size).toBeGreaterThan(5_000_000));
  await engine.close();
});

test("after a stop, the newest commits are in the store, and no other file is left beside it", async () => {
  for (let version = 1; version <= 10; version++) await commit(version);
  await engine.close();
  expect([...new Bun.Glob("*").scanSync(folder.path)]).toEqual(["store.db"]);
  const database = new Database(path, { readonly: true });
  expect(database.query("SELECT max(version) AS version FROM change").get()).toEqual({ version: 10 });
  database.close();
});
