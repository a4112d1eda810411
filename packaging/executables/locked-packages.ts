// The packages that go into every executable, as package-lock.json records them: all that the program needs at run time
// except Bun, which is the executable's runtime.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { projectFolder } from "./platforms.ts";

export interface LockedPackage {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression. */
  readonly license: string;
  /** The hash of the package's tarball, as in `sha512-…`. */
  readonly integrity: string;
  /** The package's folder. */
  readonly path: string;
  readonly dependencies: readonly LockedPackage[];
}

interface LockEntry {
  readonly version: string;
  readonly license: string;
  readonly integrity: string;
  readonly dev?: true;
  readonly optional?: true;
  readonly dependencies?: Readonly<Record<string, string>>;
}

const separator = "node_modules/";

/** The packages that the project itself depends on, with their dependencies. */
export function lockedPackages(): LockedPackage[] {
  const { packages } = JSON.parse(readFileSync(join(projectFolder, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, LockEntry>>;
  };
  const known = new Map<string, LockedPackage>();

  function packageAt(key: string): LockedPackage {
    const found = known.get(key);
    if (found) return found;
    const { version, license, integrity } = entryAt(key);
    const name = key.slice(key.lastIndexOf(separator) + separator.length);
    const dependencies: LockedPackage[] = [];
    const locked = { name, version, license, integrity, path: join(projectFolder, key), dependencies };
    known.set(key, locked);
    dependencies.push(...dependenciesOf(key));
    return locked;
  }

  function entryAt(key: string): LockEntry {
    const entry = packages[key];
    if (!entry) throw new Error(`package-lock.json has no ${key}. Run npm install`);
    return entry;
  }

  function dependenciesOf(key: string): LockedPackage[] {
    const names = Object.keys(entryAt(key).dependencies ?? {}).filter((name) => name !== "bun");
    return names.map((name) => packageAt(nearest(key, name)));
  }

  /** Where Node finds a dependency: in the node_modules folder of the package, or in the nearest one above it. */
  function nearest(key: string, name: string): string {
    const inside = `${key}${key === "" ? "" : "/"}${separator}${name}`;
    if (inside in packages || key === "") return inside;
    return nearest(key.slice(0, Math.max(0, key.lastIndexOf(`/${separator}`))), name);
  }

  return dependenciesOf("");
}

/** These packages and everything that they depend on, each once, sorted by folder. */
export function withDependencies(packages: readonly LockedPackage[]): LockedPackage[] {
  const all = new Set<LockedPackage>();
  const add = (one: LockedPackage) => {
    if (all.has(one)) return;
    all.add(one);
    one.dependencies.forEach(add);
  };
  packages.forEach(add);
  return [...all].sort((one, other) => (one.path < other.path ? -1 : 1));
}
