// Runs other people's tools on descriptions of this service and on the client's package. The tools are installed in this
// folder, apart from the project.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describeApi } from "../../src/description/api-description.ts";
import { asOpenApi30 } from "../../src/description/openapi-30.ts";
import { readSettings } from "../../src/serve/settings.ts";

export const toolsFolder = import.meta.dir;
export const generatedFolder = join(toolsFolder, "generated");
mkdirSync(generatedFolder, { recursive: true });

/**
 * The command that runs a tool. `script` is relative to node_modules. Node runs the script, whatever its first line
 * says.
 */
export function tool(script: string, ...args: readonly string[]): readonly string[] {
  return ["node", join(toolsFolder, "node_modules", script), ...args];
}

/** Runs a command to its end. Throws with its output if it fails. */
export async function run(command: readonly string[], cwd = toolsFolder, env = {}): Promise<string> {
  const child = Bun.spawn([...command], {
    cwd,
    env: { ...process.env, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [exitCode, stdout, stderr] = await Promise.all([
    child.exited,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if (exitCode !== 0) throw new Error(`${command.join(" ")} ended with ${exitCode}:\n${stdout}${stderr}`);
  return stdout;
}

/** Writes the description of an instance that was started with these flags, for both versions of OpenAPI. */
export async function writeDescription(name: string, ...flags: readonly string[]): Promise<void> {
  const result = readSettings([...flags], {});
  if (!("settings" in result)) throw new Error(result.problems.join("\n"));
  const description = describeApi(result.settings, "http://localhost:5000");
  await Bun.write(join(generatedFolder, `${name}.json`), JSON.stringify(description, undefined, 1));
  await Bun.write(join(generatedFolder, `${name}-3.0.json`), JSON.stringify(asOpenApi30(description), undefined, 1));
}
