// Runs clients against three instances on one PostgreSQL. A checker that knows nothing about how the service works
// judges what the clients saw.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { whiteBoxTest } from "../black-box.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { createPostgresStore, type PostgresTestStore } from "../engines/postgres/postgres-store.ts";
import { Program, type ProgramOptions, projectFolder } from "../program.ts";
import { check } from "./checker.ts";
import { type History, record } from "./history.ts";

let store: PostgresTestStore;
const programs: Program[] = [];

beforeEach(async () => {
  store = await createPostgresStore();
});

afterEach(async () => {
  for (const program of programs.splice(0)) await program.stop("SIGKILL");
  await store.dispose();
});

/** Records what clients see of lists on three instances, a history for each list. */
async function recordOnThree(lists: readonly string[], options: ProgramOptions = {}): Promise<History[]> {
  const args = ["--port", "0", "--store", store.url, "--lists", "many"];
  programs.push(...(await Promise.all([1, 2, 3].map(() => Program.start({ args, ...options })))));
  const histories = lists.map((list) =>
    record({
      origins: programs.map(({ origin }) => origin + list),
      clientCount: 12,
      goOn: (operationsSoFar) => operationsSoFar < 4_000,
    }),
  );
  return Promise.all(histories);
}

test("clients of three instances see in each list what a single list would have shown them", async () => {
  for (const history of await recordOnThree(["", "/lists/work"])) {
    expect(history.lists.length).toBeGreaterThan(100);
    expect(
      history.operations.filter((operation) => "outcome" in operation && operation.outcome === "done").length,
    ).toBeGreaterThan(500);
    expect(check(history)).toBeUndefined();
  }
});

/** Records what clients see of a build in which a part of one file is replaced. */
async function recordOnBroken(file: string, part: string, replacement: string): Promise<History | undefined> {
  const folder = temporaryFolder();
  for (const name of ["src", "package.json"])
    cpSync(join(projectFolder, name), join(folder.path, name), { recursive: true });
  symlinkSync(join(projectFolder, "node_modules"), join(folder.path, "node_modules"));
  const source = readFileSync(join(folder.path, file), "utf8");
  expect(source).toContain(part);
  writeFileSync(join(folder.path, file), source.replace(part, replacement));
  const [history] = await recordOnThree(["/lists/work"], { folder: folder.path });
  folder.dispose();
  return history;
}

whiteBoxTest(
  "the checker catches a build that does not ask whether others have committed",
  async () => {
    const asking = "hasNews(): Promise<boolean> {";
    const history = await recordOnBroken(
      "src/engines/postgres/postgres-engine.ts",
      asking,
      `${asking}\n    if (true) return Promise.resolve(false);`,
    );
    expect(history && check(history)).toBeString();
  },
  120_000,
);

whiteBoxTest(
  "the checker catches a build that takes a batch for stored although others have committed first",
  async () => {
    const history = await recordOnBroken("src/engines/postgres/postgres-commit.ts", "return stored;", "return true;");
    expect(history && check(history)).toBeString();
  },
  120_000,
);
