// Every package that is shipped with the program has a licence that allows shipping it. The developers' tools are not
// shipped.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { projectFolder } from "../program.ts";

interface LockedPackage {
  readonly dev?: boolean;
  readonly license?: string;
}

/** Licences that ask for nothing, or for little more than that their text is shipped with the package. */
const permissive = ["0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BlueOak-1.0.0", "ISC", "MIT", "Unlicense"];

const lock = JSON.parse(readFileSync(join(projectFolder, "package-lock.json"), "utf8")) as {
  readonly packages: Readonly<Record<string, LockedPackage>>;
};
const shipped = Object.entries(lock.packages).filter(([path, { dev }]) => path !== "" && !dev);

test("every package that is shipped has a permissive licence", () => {
  const others = shipped.filter(([, { license = "none" }]) => !permissive.includes(license));
  expect(others.map(([path, { license }]) => `${path}: ${license}`)).toEqual([]);
  expect(shipped.length).toBeGreaterThan(5);
});
