// An error that nobody handles is a defect of ours. These tests run a build that has such a defect.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { Program, projectFolder } from "../program.ts";

let folder: ReturnType<typeof temporaryFolder>;
let program: Program | undefined;

beforeEach(() => {
  folder = temporaryFolder();
  for (const name of ["src", "package.json", "openapi.yaml", "examples"])
    cpSync(join(projectFolder, name), join(folder.path, name), { recursive: true });
  symlinkSync(join(projectFolder, "node_modules"), join(folder.path, "node_modules"));
  const app = join(folder.path, "src/http/app.ts");
  const source = readFileSync(app, "utf8");
  const start = "  handle(request: HttpRequest): Answer | Promise<Answer> {\n";
  expect(source).toContain(start);
  const defects = `
    if (request.path === "/rejection") void Promise.reject(new Error("nobody handles this"));
    if (request.path === "/exception") setTimeout(() => { throw new Error("nobody handles this"); });`;
  writeFileSync(app, source.replace(start, `${start}${defects}`));
});

afterEach(async () => {
  await program?.stop("SIGKILL");
  program = undefined;
  folder.dispose();
});

for (const path of ["/rejection", "/exception"]) {
  test(`an unhandled ${path.slice(1)} ends the program with one message and exit code 1`, async () => {
    program = await Program.start({ args: ["--port", "0", "--store", "memory:"], folder: folder.path });
    await program.fetch(path).catch(() => {});
    expect(await program.stderrLine()).toMatch(/ error A defect of todoitems ends this process.*nobody handles this/);
    expect(await program.exited).toBe(1);
    expect((await program.stop()).stderr).toBe("");
  });
}
