import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { platforms, projectFolder } from "../../packaging/executables/platforms.ts";
import { manifestsOf } from "../../packaging/executables/runtimes.ts";

const locked = JSON.parse(readFileSync(join(projectFolder, "release-tools/package-lock.json"), "utf8")).packages;

for (const platform of platforms)
  test(`for ${platform.name}, npm gets only the Bun binary of that platform, with its locked hash`, () => {
    const manifests = manifestsOf(platform);
    const { devDependencies } = JSON.parse(manifests["package.json"]);
    expect(Object.keys(devDependencies)).toEqual([platform.runtimePackage]);
    const { packages } = JSON.parse(manifests["package-lock.json"]);
    const key = `node_modules/${platform.runtimePackage}`;
    expect(Object.keys(packages)).toEqual(["", key]);
    expect(packages[key]).toEqual(locked[key]);
    expect(packages[key].integrity).toStartWith("sha512-");
  });
