// Builds a Debian package from a single executable: `build-deb.ts [EXECUTABLE] [amd64|arm64] [FILE]`. It needs dpkg-deb.
// The manual page is made from the command table.
// Why: docs/decisions/0076-containers-and-services.md

import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { version } from "../package.json";
import { licenceText } from "./executables/licences.ts";
import { manPage } from "./man-page.ts";

const project = join(import.meta.dir, "..");
const [
  executable = join(project, `release/todoitems-linux-${process.arch}`),
  architecture = process.arch === "x64" ? "amd64" : process.arch,
  target = join(project, "release", `todoitems_${version}_${architecture}.deb`),
] = process.argv.slice(2);
/** The person who publishes the package. */
const maintainer = process.env["DEBFULLNAME"]
  ? `${process.env["DEBFULLNAME"]} <${process.env["DEBEMAIL"]}>`
  : "unpublished build <root@localhost>";
/**
 * The date in the package: SOURCE_DATE_EPOCH or, by default, the date of package.json. The time of the build is not
 * used, so two builds from the same folder give the same package.
 */
const date = new Date(
  Number(process.env["SOURCE_DATE_EPOCH"] ?? statSync(join(project, "package.json")).mtimeMs / 1_000) * 1_000,
);

const manualPage = await manPage(date);
const folder = mkdtempSync(join(tmpdir(), "todoitems-deb-"));
try {
  const root = join(folder, "root");
  fill(root);
  mkdirSync(dirname(target), { recursive: true });
  const built = Bun.spawnSync(["dpkg-deb", "--build", "--root-owner-group", "-Zgzip", root, target], {
    env: { ...process.env, SOURCE_DATE_EPOCH: String(Math.floor(date.getTime() / 1_000)) },
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (!built.success) process.exit(1);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function fill(root: string): void {
  const copy = (from: string, to: string, mode = 0o644) => place(root, to, readFileSync(from), mode);
  mkdirSync(join(root, "usr/bin"), { recursive: true, mode: 0o755 });
  copyFileSync(executable, join(root, "usr/bin/todoitems"));
  chmodSync(join(root, "usr/bin/todoitems"), 0o755);
  for (const unit of ["todoitems.service", "todoitems-backup.service", "todoitems-backup.timer"])
    copy(join(import.meta.dir, unit), `lib/systemd/system/${unit}`);
  copy(join(import.meta.dir, "debian/environment"), "etc/todoitems/environment", 0o640);
  place(root, "usr/share/doc/todoitems/copyright", licenceText());
  place(root, "usr/share/doc/todoitems/changelog.gz", compressed(readFileSync(join(project, "CHANGELOG.md"), "utf8")));
  place(root, "usr/share/man/man1/todoitems.1.gz", compressed(manualPage));
  for (const script of ["postinst", "prerm", "postrm"])
    copy(join(import.meta.dir, "debian", script), `DEBIAN/${script}`, 0o755);
  place(root, "DEBIAN/conffiles", "/etc/todoitems/environment\n");
  place(root, "DEBIAN/control", control(root));
}

function place(root: string, path: string, content: string | Uint8Array, mode = 0o644): void {
  const target = join(root, path);
  mkdirSync(dirname(target), { recursive: true, mode: 0o755 });
  writeFileSync(target, content);
  chmodSync(target, mode);
}

function compressed(text: string): Uint8Array {
  return gzipSync(text, { level: 9 });
}

function control(root: string): string {
  const kibibytes = Bun.spawnSync(["du", "-sk", "--exclude=DEBIAN", root]).stdout.toString().split("\t")[0] ?? "0";
  return readFileSync(join(import.meta.dir, "debian/control"), "utf8")
    .replace("@VERSION@", version)
    .replace("@ARCHITECTURE@", architecture)
    .replace("@MAINTAINER@", maintainer)
    .replace("@SIZE@", kibibytes);
}
