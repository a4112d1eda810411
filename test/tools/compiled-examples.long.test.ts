// Compiles the examples in Kotlin and C#, runs them against the real program, and compares what they print with the
// transcripts beside them. `UPDATE_EXAMPLES=1 npm test -- test/tools/compiled-examples` writes new transcripts.

import { afterAll, afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { expectTranscript } from "../examples/transcript.ts";
import { Program, projectFolder } from "../program.ts";
import { androidJson, hasJava, hasMono } from "./debian.ts";
import { run, toolsFolder } from "./tool.ts";

const examples = join(projectFolder, "examples");
const folder = temporaryFolder();
let program: Program;
beforeEach(async () => {
  program = await Program.start({ args: ["--port", "0", "--store", "memory:"] });
});
afterEach(() => program.stop());
afterAll(() => folder.dispose());

/** Runs an example until it has printed its last line. */
async function outputOf(command: readonly string[], lastLine: RegExp): Promise<string> {
  // Mono writes its crash reports to the current folder.
  const env = { ...process.env, TODOITEMS_SERVER: program.origin };
  const child = Bun.spawn([...command], { env, cwd: folder.path, stdout: "pipe", stderr: "ignore" });
  let printed = "";
  for await (const chunk of child.stdout) {
    printed += new TextDecoder().decode(chunk);
    if (lastLine.test(printed)) break;
  }
  // After the last line, Mono sometimes hangs or crashes instead of exiting.
  child.kill("SIGKILL");
  return printed;
}

test("the example in Kotlin is compiled, and prints its transcript", async () => {
  if (!hasJava()) return;
  const compiler = join(toolsFolder, "node_modules/kotlin-compiler/bin/kotlinc");
  const jar = join(folder.path, "todo.jar");
  const source = join(examples, "kotlin/Todo.kt");
  await run(["bash", compiler, source, "-Werror", "-cp", androidJson, "-include-runtime", "-d", jar]);
  const printed = await outputOf(["java", "-cp", `${jar}:${androidJson}`, "TodoKt"], /^Delete: \d+\n$/m);
  expectTranscript("kotlin/transcript.txt", printed);
  // Kotlin's compiler needs a minute on a busy machine.
});

test("the example in C# is compiled by Mono, and prints its transcript", async () => {
  if (!hasMono()) return;
  const executable = join(folder.path, "todo.exe");
  const sources = ["RestService.cs", "Program.cs"].map((name) => join(examples, "csharp", name));
  const libraries = ["-r:System.Net.Http", "-r:System.Runtime.Serialization"];
  expect(await run(["mcs", "-warnaserror", `-out:${executable}`, ...libraries, ...sources])).toBe("");
  expectTranscript("csharp/transcript.txt", await outputOf(["mono", executable], /items are left\n$/));
});
