import { expect, test } from "bun:test";
import { StoreError } from "../../../src/collection/engine.ts";
import { LogWatch } from "../../../src/engines/sqlite/log-watch.ts";

const mebibyte = 1024 ** 2;

function watch() {
  const warnings: string[] = [];
  return { warnings, log: new LogWatch("store.db", (message) => warnings.push(message)) };
}

test("a checkpoint that fails is reported once with the size of the log, and again after one has succeeded", () => {
  const { warnings, log } = watch();
  const fail = () => {
    throw new StoreError("the disk is full");
  };
  for (let count = 0; count < 3; count++) log.runCheckpoint(5 * mebibyte, fail);
  expect(warnings).toEqual([
    "store.db: the log could not be copied into the store, and its log has 5 MiB: the disk is full",
  ]);
  log.runCheckpoint(5 * mebibyte, () => true);
  log.runCheckpoint(5 * mebibyte, fail);
  expect(warnings).toHaveLength(2);
});

test("a log beyond 64 MiB is reported once", () => {
  const { warnings, log } = watch();
  for (const size of [63, 64, 65]) log.runCheckpoint(size * mebibyte, () => true);
  expect(warnings).toEqual([expect.stringContaining("its log has 64 MiB")]);
});

test("a checkpoint that a reader holds up is reported only once the log is long", () => {
  const { warnings, log } = watch();
  for (const size of [4, 15, 16, 20]) log.runCheckpoint(size * mebibyte, () => false);
  expect(warnings).toEqual([expect.stringMatching(/reads an old state.*16 MiB/)]);
});
