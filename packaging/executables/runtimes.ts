// The Bun binaries that go into the executables. Each is an npm package, which release-tools/package-lock.json locks.
// Every binary is about 100 MB, so only those of the wanted platforms are installed.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Platform, projectFolder } from "./platforms.ts";

const toolsFolder = join(projectFolder, "release-tools");

interface Lock {
  readonly packages: Readonly<Record<string, object>>;
}

/** Each platform has a folder of its own, because `npm ci` first removes everything from `node_modules`. */
function folderOf({ name }: Platform): string {
  return join(toolsFolder, "node_modules", ".runtimes", name);
}

/** The path of a platform's Bun binary. Undefined if its package is not installed, or is not the locked one. */
export function runtimeOf(platform: Platform): string | undefined {
  const lock = join(folderOf(platform), "package-lock.json");
  if (!existsSync(lock) || readFileSync(lock, "utf8") !== manifestsOf(platform)["package-lock.json"]) return undefined;
  const folder = join(folderOf(platform), "node_modules", platform.runtimePackage, "bin");
  return ["bun", "bun.exe"].map((name) => join(folder, name)).find((path) => existsSync(path));
}

/** Installs the Bun binary for `platform`, unless it is there. npm compares it with the hash in the lock file. */
export function installRuntime(platform: Platform): void {
  if (runtimeOf(platform) !== undefined) return;
  const folder = folderOf(platform);
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(manifestsOf(platform))) writeFileSync(join(folder, name), text);
  // Without --force, npm refuses packages that are meant for another platform.
  const { success } = Bun.spawnSync(["npm", "ci", "--force", "--prefer-offline"], {
    cwd: folder,
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (!success) throw new Error(`the Bun binary for ${platform.name} could not be installed: npm ci failed`);
}

/** What npm needs to install the binary of one platform: the part of release-tools/ that is about it. */
export function manifestsOf({
  runtimePackage,
}: Platform): Readonly<Record<"package.json" | "package-lock.json", string>> {
  const key = `node_modules/${runtimePackage}`;
  const { packages, ...lock }: Lock = JSON.parse(readFileSync(join(toolsFolder, "package-lock.json"), "utf8"));
  const locked = packages[key];
  if (!locked || !("version" in locked)) throw new Error(`release-tools/package-lock.json has no ${runtimePackage}`);
  const manifest = { name: "todoitems-release-tools", devDependencies: { [runtimePackage]: locked.version } };
  return {
    "package.json": JSON.stringify({ ...manifest, private: true }),
    "package-lock.json": JSON.stringify({ ...lock, packages: { "": manifest, [key]: locked } }),
  };
}
