// `npm run release`: makes everything that a release consists of in `release/`, and says what to upload. It uploads
// nothing. `--skip tests,container` leaves out these steps, and the last lines of the output then say so.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import manifest from "../package.json";

const project = join(import.meta.dir, "..");
const folder = join(project, "release");
const { version } = manifest;

interface Step {
  readonly name: string;
  readonly run: () => void;
}

const steps: readonly Step[] = [
  { name: "state", run: checkState },
  { name: "tests", run: () => run("npm", "test") },
  { name: "executables", run: () => run("npm", "run", "build:executables") },
  {
    name: "executable-tests",
    run: () => run("env", `TODOITEMS_PROGRAM=${join(folder, `todoitems-linux-${process.arch}`)}`, "npm", "test"),
  },
  {
    name: "debian",
    run() {
      for (const [platform, architecture] of [
        ["x64", "amd64"],
        ["arm64", "arm64"],
      ] as const)
        run("npm", "run", "build:deb", "--", join(folder, `todoitems-linux-${platform}`), architecture);
    },
  },
  {
    name: "container",
    run() {
      run("npm", "run", "build:container");
      const archive = join(folder, `todoitems-${version}-container-${process.arch}.tar`);
      run("buildah", "push", `todoitems:${version}`, `docker-archive:${archive}:todoitems:${version}`);
    },
  },
  {
    name: "npm",
    run() {
      for (const package_ of packages()) run("npm", "pack", "--pack-destination", folder, package_);
    },
  },
  { name: "checksums", run: writeChecksums },
];

/** The published packages: the program, and the client if it has a folder of its own. */
function packages(): string[] {
  const client = join(project, "packages/client");
  return [project, ...(existsSync(client) ? [client] : [])];
}

/**
 * Throws if something is not committed, if this version has a tag already, or if CHANGELOG.md or package.json lacks
 * what a release needs.
 */
function checkState(): void {
  const problems = [
    ...(output("git", "status", "--porcelain") === "" ? [] : ["the working tree has changes: commit them"]),
    ...(output("git", "tag", "--list", `v${version}`) === "" ? [] : [`the tag v${version} exists: raise the version`]),
    ...(new RegExp(`^## ${version.replaceAll(".", "\\.")}( |$)`, "m").test(
      readFileSync(join(project, "CHANGELOG.md"), "utf8"),
    )
      ? []
      : [`CHANGELOG.md has no section "## ${version}"`]),
    ...("repository" in manifest ? [] : ["package.json has no repository: SECURITY.md and npm's provenance need it"]),
  ];
  if (problems.length > 0) throw new Error(`this is not ready for a release:\n  ${problems.join("\n  ")}`);
}

function writeChecksums(): void {
  const names = readdirSync(folder)
    .filter((name) => statSync(join(folder, name)).isFile() && name !== "SHA256SUMS")
    .sort();
  const line = (name: string) =>
    `${createHash("sha256")
      .update(readFileSync(join(folder, name)))
      .digest("hex")}  ${name}\n`;
  writeFileSync(join(folder, "SHA256SUMS"), names.map(line).join(""));
}

function run(...command: readonly string[]): void {
  const { success, exitCode } = Bun.spawnSync([...command], { cwd: project, stdio: ["ignore", "inherit", "inherit"] });
  if (!success) throw new Error(`${command.join(" ")} ended with exit code ${exitCode}`);
}

function output(...command: readonly string[]): string {
  return Bun.spawnSync([...command], { cwd: project })
    .stdout.toString()
    .trim();
}

const [flag = "--skip", list = ""] = process.argv.slice(2);
const skipped = list.split(",").filter((name) => name !== "");
if (flag !== "--skip" || skipped.some((name) => !steps.some((step) => step.name === name))) {
  console.log(`error: expected --skip STEP[,STEP], with steps of ${steps.map(({ name }) => name).join(", ")}`);
  process.exit(2);
}

// Files of an older version must not be published, and must not get into the checksums. But if the executables are not
// built again, keep what `build:executables` has made, and remove only the packages and the container.
mkdirSync(folder, { recursive: true });
for (const name of readdirSync(folder)) {
  if (!skipped.includes("executables") || /\.(?:deb|tar|tgz)$/.test(name))
    rmSync(join(folder, name), { recursive: true });
}
for (const { name, run: take } of steps.filter((step) => !skipped.includes(step.name))) {
  console.log(`\n== ${name}`);
  try {
    take();
  } catch (error) {
    console.log(`error: ${name}: ${error instanceof Error ? error.message : error}`);
    process.exit(1);
  }
}
const tarballs = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
console.log(`
${skipped.length === 0 ? "Everything is" : `Without ${skipped.join(" and ")}, what was made is`} in ${basename(folder)}/. To publish it:

  git tag --sign v${version} && git push origin v${version}
${tarballs.map((name) => `  npm publish --provenance release/${name}`).join("\n")}
  upload the other files of release/ to the release of that tag
  buildah push todoitems:${version} docker://REGISTRY/todoitems:${version}`);
