import { afterAll, expect, test } from "bun:test";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { takeLock } from "../../../src/engines/sqlite/store-lock.ts";
import { asOrdinaryUser } from "../../ordinary-user.ts";
import { temporaryFolder } from "../engine-kinds.ts";

const folder = temporaryFolder();
afterAll(() => folder.dispose());

test("a lock can be taken while others remove its file, as backups do when they end", async () => {
  const path = join(folder.path, "store.db");
  const remover = Bun.spawn(["sh", "-c", 'while :; do rm -f "$1"; done', "sh", `${path}-lock`]);
  try {
    for (let count = 0; count < 200; count++) (await takeLock(path, 10_000)).close();
  } finally {
    remover.kill();
    await remover.exited;
  }
  expect(remover.signalCode).toBe("SIGTERM");
});

test("a user who may write to the store of another user can be the first to lock it", async () => {
  const path = join(folder.path, "shared.db");
  writeFileSync(path, "");
  chmodSync(path, 0o666);
  chmodSync(folder.path, 0o777);
  await asOrdinaryUser(async () => (await takeLock(path, 0)).close());
});
