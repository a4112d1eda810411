// Installs Chromium from Debian's packages. Root installs it for everybody. Other users cannot, so their copy is
// unpacked into a folder of their own, together with the libraries that this machine lacks.

import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

const packageName = "chromium";
/** How long to wait while another process, perhaps another test process, uses apt-get. */
const lockSecondsMax = 300;

/** Installs Chromium for all users of this machine. Needs root. */
export function installForAll(): void {
  console.error("Chromium is not on this machine; installing it with apt-get …");
  updateLists();
  apt(["-o", `DPkg::Lock::Timeout=${lockSecondsMax}`, "install", "-y", "--no-install-recommends", packageName]);
}

/** Runs `apt-get update`. If another process has locked the lists, apt-get fails at once, so this tries again. */
function updateLists(): void {
  const giveUpAt = performance.now() + lockSecondsMax * 1_000;
  while (apt(["update"]).stderr.includes("lists/lock") && performance.now() < giveUpAt) Bun.sleepSync(1_000);
}

/** Unpacks Chromium for this user, if that was not done before. Returns its path, or undefined if it did not work. */
export function unpackForUser(): string | undefined {
  const caches = process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache");
  const folder = join(caches, "todoitems-tests", packageName);
  const program = join(folder, "run");
  if (existsSync(program)) return program;
  console.error("Chromium is not on this machine; unpacking Debian's packages into", folder, "…");
  // Another test process may be doing the same. The first one to finish wins.
  const unfinished = `${folder}-${process.pid}`;
  try {
    if (!unpack(unfinished, folder)) return undefined;
    if (!existsSync(folder)) renameSync(unfinished, folder);
    return program;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

/** Unpacks into `folder`, which is renamed to `home` later. Returns whether it worked. */
function unpack(folder: string, home: string): boolean {
  const [state, cache, root] = [join(folder, "state"), join(folder, "cache"), join(folder, "root")];
  for (const path of [join(state, "lists/partial"), join(cache, "archives/partial"), root])
    mkdirSync(path, { recursive: true });
  // With these settings, apt writes only to our folder. It still reads dpkg's status file, which lists the installed
  // packages.
  const settings = {
    "Dir::State": state,
    "Dir::State::status": "/var/lib/dpkg/status",
    "Dir::Cache": cache,
    "Debug::NoLocking": "true",
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
  const install = ["install", "-y", "--no-install-recommends", "--download-only", packageName];
  if (!apt([...flags, "update"]).success || !apt([...flags, ...install]).success) return false;
  for (const name of readdirSync(join(cache, "archives")).filter((name) => name.endsWith(".deb"))) {
    const { success } = Bun.spawnSync(["dpkg-deb", "--extract", join(cache, "archives", name), root]);
    if (!success) return false;
  }
  for (const path of [state, cache]) rmSync(path, { recursive: true });
  if (!existsSync(join(root, "usr/lib/chromium/chromium"))) return false;
  writeFileSync(join(folder, "fonts.conf"), fontSettings(join(home, "root")));
  writeFileSync(join(folder, "run"), starter(root, home), { mode: 0o755 });
  return true;
}

/** A script that starts Chromium with the unpacked libraries and fonts. */
function starter(root: string, home: string): string {
  // Some packages keep their libraries in subfolders.
  const folders = new Set([...new Bun.Glob("usr/lib/**/*.so*").scanSync(root)].map(dirname));
  const paths = [...folders].map((path) => join(home, "root", path)).join(":");
  return `#!/bin/sh
export LD_LIBRARY_PATH="${paths}" FONTCONFIG_FILE="${home}/fonts.conf"
exec "${home}/root/usr/lib/chromium/chromium" "$@"
`;
}

function fontSettings(root: string): string {
  const folders = ["/usr/share/fonts", `${root}/usr/share/fonts`].map((path) => `<dir>${path}</dir>`);
  return `<?xml version="1.0"?>\n<fontconfig>${folders.join("")}<cachedir>${root}/font-cache</cachedir></fontconfig>\n`;
}

function apt(args: readonly string[]): { readonly success: boolean; readonly stderr: Buffer } {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  return Bun.spawnSync(["apt-get", ...args], { env });
}
