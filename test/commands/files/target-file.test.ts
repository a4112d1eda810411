// Tests what a command reports if it fails, and cannot remove its unfinished files either.

import { expect, test } from "bun:test";
import { rmdirSync } from "node:fs";
import { withCleanUp } from "../../../src/commands/files/target-file.ts";

test("if unfinished files cannot be removed either, the first error is the one that is reported", async () => {
  const failToRemove = () => rmdirSync(import.meta.dir);
  const fail = () => Promise.reject(new Error("the disk is full"));
  await expect(withCleanUp(failToRemove, fail)).rejects.toThrow("the disk is full");
});
