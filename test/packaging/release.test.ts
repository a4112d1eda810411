// `npm run release` in a copy of the project that has only what these steps need. Building executables and an image
// takes minutes and a network, so scripts that only print their arguments stand in for the builds.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { version } from "../../package.json";
import { bunCommand } from "../bun-command.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { projectFolder } from "../program.ts";

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
  for (const path of ["package.json", "packaging/release.ts"]) {
    mkdirSync(dirname(inCopy(path)), { recursive: true });
    copyFileSync(join(projectFolder, path), inCopy(path));
  }
});
afterEach(() => folder.dispose());

function inCopy(path: string): string {
  return join(folder.path, path);
}

function place(path: string, text: string): void {
  mkdirSync(dirname(inCopy(path)), { recursive: true });
  writeFileSync(inCopy(path), text, { mode: 0o755 });
}

/** Runs one step. Only the programs in the copy's `bin/` can be found. */
function release(step: string) {
  const { exitCode, stdout } = Bun.spawnSync([...bunCommand, inCopy("packaging/release.ts"), "--only", step], {
    env: { PATH: inCopy("bin") },
  });
  return { exitCode, output: stdout.toString() };
}

test("without an executable for Linux there is no Debian package: the step says so and exits with 1", () => {
  expect(release("debian")).toEqual({
    exitCode: 1,
    output: expect.stringContaining("error: debian: there is no executable for Linux in release/. Build one first: "),
  });
});

test("one executable is enough for the package of its platform", () => {
  place("release/todoitems-linux-arm64", "");
  place("packaging/build-deb.ts", "console.log(...process.argv.slice(2));");
  expect(release("debian")).toEqual({
    exitCode: 0,
    output: `\n== debian\n${inCopy("release/todoitems-linux-arm64")} arm64\n`,
  });
});

for (const tool of ["podman", "buildah"])
  test(`${tool} is enough for the image and its archive`, () => {
    place("packaging/container/build.sh", "#!/bin/sh\n");
    place(`bin/${tool}`, `#!/bin/sh\necho ${tool} "$@"\n`);
    const archive = inCopy(`release/todoitems-${version}-container-${process.arch}.tar`);
    const pushed = `${tool} push todoitems:${version} docker-archive:${archive}:todoitems:${version}`;
    expect(release("container")).toEqual({ exitCode: 0, output: `\n== container\n${pushed}\n` });
  });

test("without buildah and podman there is no image: the step names both and exits with 1", () => {
  place("packaging/container/build.sh", "#!/bin/sh\n");
  const output = "\n== container\nerror: container: this needs buildah or podman, and finds neither\n";
  expect(release("container")).toEqual({ exitCode: 1, output });
});
