// Older versions of the program, packed and unpacked as npm would do it. Their sources come from the project's git
// history, so they are available only in a clone with that history.

import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { projectFolder } from "../program.ts";

/** The commit of the previous version. At each release, replace it with the tag of the previous release. */
export const previousVersion = "bb3b0ce701071a2ab5a37cc643441f82000d3190";
/** The commit of the last version that knew only the first schema of a PostgreSQL store. */
export const firstPostgresSchema = "624822f37cdb091eea3ffc5fd05bad9fdb580b33";

/** True if the git history has these versions. */
export function haveOlderPrograms(...commits: readonly string[]): boolean {
  if (Bun.which("git") === null) return false;
  const names = commits.map((commit) => `${commit}^{commit}`);
  return names.every((name) => run(["git", "cat-file", "-e", name], projectFolder).success);
}

/** Unpacks the npm package of a version into a folder. Returns the folder of the program. */
export function unpackProgram(commit: string, folder: string): string {
  const sources = join(folder, "sources");
  const archive = join(folder, "sources.tar");
  mkdirSync(sources, { recursive: true });
  check(["git", "archive", `--output=${archive}`, commit], projectFolder);
  check(["tar", "-xf", archive, "-C", sources], folder);
  // The scripts would build the client of that version, which the service does not need.
  check(["npm", "pack", "--ignore-scripts", "--silent", "--pack-destination", folder], sources);
  const packed = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
  check(["tar", "-xzf", ...packed, "-C", folder], folder);
  const program = join(folder, "package");
  // The packages that the older program needs have not changed since, so it can use those of this project.
  symlinkSync(join(projectFolder, "node_modules"), join(program, "node_modules"));
  return program;
}

function check(command: string[], cwd: string): void {
  const { success, stderr } = run(command, cwd);
  if (!success) throw new Error(`${command.join(" ")}: ${stderr}`);
}

function run(command: string[], cwd: string) {
  return Bun.spawnSync(command, { cwd, stdout: "ignore", stderr: "pipe" });
}
