// Programs that tests need and that come from Debian's packages. They are installed before the first test starts: some
// hundred megabytes on their way to the disk would hold up every test that waits for a sync.

import { existsSync } from "node:fs";

/** The classes of org.json as Android has them. */
export const androidJson = "/usr/share/java/com.android.json.jar";

export function hasJava(): boolean {
  const isInstalled = () => Bun.which("java") !== null && existsSync(androidJson);
  return hasPackages(isInstalled, "default-jre-headless", "libandroid-json-java");
}

/**
 * Mono with the classes of .NET Standard, which NSwag needs. They come with mono-devel, and so does `monop`, so if
 * `monop` is there, the classes are there.
 */
export function hasMono(): boolean {
  return hasPackages(() => ["mono", "mcs", "monop"].every((name) => Bun.which(name) !== null), "mono-devel");
}

/**
 * Returns whether `isInstalled` holds. If it does not, root first tries to install the packages with apt-get. If that is
 * not possible, says which packages are missing: the test is skipped.
 */
function hasPackages(isInstalled: () => boolean, ...packages: readonly string[]): boolean {
  if (!isInstalled() && Bun.which("apt-get") !== null && process.getuid?.() === 0) {
    console.error(`Installing with apt-get: ${packages.join(" ")} …`);
    for (const args of [["update"], ["install", "-y", "--no-install-recommends", ...packages]])
      Bun.spawnSync(["apt-get", ...args], { env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } });
  }
  if (isInstalled()) return true;
  console.error(
    `Skipped: it needs ${packages.join(" ")} (Debian, Ubuntu: sudo apt-get install ${packages.join(" ")}).`,
  );
  return false;
}
