// Tests what a command reports if it fails, and cannot remove its unfinished files either.

import { expect, spyOn, test } from "bun:test";
import { rmdirSync } from "node:fs";
import { withCleanUp } from "../../../src/commands/files/target-file.ts";

test("if unfinished files cannot be removed either, both is said, and the first error is the one that is reported", async () => {
  const said = spyOn(process.stderr, "write").mockReturnValue(true);
  try {
    const failToRemove = () => rmdirSync(import.meta.dir);
    const fail = () => Promise.reject(new Error("the disk is full"));
    await expect(withCleanUp(failToRemove, fail)).rejects.toThrow("the disk is full");
    expect(said.mock.calls.join()).toContain(`A file is left that could not be removed: ${import.meta.dir}`);
  } finally {
    said.mockRestore();
  }
});
