// `npm run release`: makes everything that a release consists of in `release/`, and says what to upload. It uploads
// nothing. `--skip tests,container` leaves out these steps, `--only executables` takes only these.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import manifest from "../package.json";

const project = join(import.meta.dir, "..");
const folder = join(project, "release");
const { version } = manifest;
/** Both know the same commands. build.sh prefers buildah, too. */
const imageTool = Bun.which("buildah") ? "buildah" : "podman";

interface Step {
  readonly name: string;
  readonly run: () => void;
}

const steps: readonly Step[] = [
  { name: "state", run: checkState },
  { name: "tests", run: () => run("npm", "test") },
  { name: "executables", run: () => runScript("packaging/executables/build.ts") },
  {
    name: "executable-tests",
    run: () => run("env", `TODOITEMS_PROGRAM=${join(folder, `todoitems-linux-${process.arch}`)}`, "npm", "test"),
  },
  {
    name: "debian",
    run() {
      const executables = [
        { architecture: "amd64", executable: join(folder, "todoitems-linux-x64") },
        { architecture: "arm64", executable: join(folder, "todoitems-linux-arm64") },
      ].filter(({ executable }) => existsSync(executable));
      if (executables.length === 0)
        throw new Error("there is no executable for Linux in release/. Build one first: docs/install.md says how");
      for (const { architecture, executable } of executables)
        runScript("packaging/build-deb.ts", executable, architecture);
    },
  },
  {
    name: "container",
    run() {
      if (!Bun.which(imageTool)) throw new Error("this needs buildah or podman, and finds neither");
      run("packaging/container/build.sh");
      const archive = join(folder, `todoitems-${version}-container-${process.arch}.tar`);
      run(imageTool, "push", `todoitems:${version}`, `docker-archive:${archive}:todoitems:${version}`);
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

function runScript(script: string, ...args: readonly string[]): void {
  run(process.execPath, join(project, script), ...args);
}

function output(...command: readonly string[]): string {
  return Bun.spawnSync([...command], { cwd: project })
    .stdout.toString()
    .trim();
}

const [flag = "--skip", list = ""] = process.argv.slice(2);
const named = list.split(",").filter((name) => name !== "");
if (!["--skip", "--only"].includes(flag) || named.some((name) => !steps.some((step) => step.name === name))) {
  console.log(
    `error: expected --skip or --only STEP[,STEP], with steps of ${steps.map(({ name }) => name).join(", ")}`,
  );
  process.exit(2);
}
const taken = steps.filter(({ name }) => named.includes(name) === (flag === "--only"));

// Files of an older version must not be published, and must not get into the checksums. But if the executables are not
// built again, keep them: they take long, and other steps need them.
mkdirSync(folder, { recursive: true });
const old = flag === "--only" ? [] : readdirSync(folder);
for (const name of old) {
  if (taken.some((step) => step.name === "executables") || /\.(?:deb|tar|tgz)$/.test(name))
    rmSync(join(folder, name), { recursive: true });
}
for (const { name, run: take } of taken) {
  console.log(`\n== ${name}`);
  try {
    take();
  } catch (error) {
    console.log(`error: ${name}: ${error instanceof Error ? error.message : error}`);
    process.exit(1);
  }
}
if (flag === "--only") process.exit(0);
const tarballs = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
console.log(`
${named.length === 0 ? "Everything is" : `Without ${named.join(" and ")}, what was made is`} in ${basename(folder)}/. To publish it:

  git tag --sign v${version} && git push origin v${version}
${tarballs.map((name) => `  npm publish --provenance release/${name}`).join("\n")}
  upload the other files of release/ to the release of that tag
  ${imageTool} push todoitems:${version} docker://REGISTRY/todoitems:${version}`);
