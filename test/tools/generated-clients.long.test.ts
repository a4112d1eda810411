// Clients that other people's generators make from the description must compile, and work with a service.

import { afterAll, beforeAll, test } from "bun:test";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { bunCommand } from "../bun-command.ts";
import { Program } from "../program.ts";
import { hasMono } from "./debian.ts";
import { generatedFolder, run, tool, toolsFolder, writeDescription } from "./tool.ts";

const programs: Program[] = [];
const camelCase = ["--field-names", "camel"];
beforeAll(async () => {
  await writeDescription("open");
  await writeDescription("camel-case", ...camelCase);
});
afterAll(() => Promise.all(programs.map((program) => program.stop())));

/** The address of a new service without items. */
async function serviceOrigin(...flags: readonly string[]): Promise<string> {
  const program = await Program.start({ args: ["--port", "0", "--store", "memory:", ...flags] });
  programs.push(program);
  return program.origin;
}

const generateTypes = (description: string, types: string) =>
  run(tool("openapi-typescript/bin/cli.js", `generated/${description}.json`, "-o", `generated/${types}.ts`));

test("openapi-fetch and hey-api: the generated clients compile and make a round trip", async () => {
  await Promise.all([
    generateTypes("open", "openapi-fetch"),
    generateTypes("camel-case", "camel-case"),
    run(tool("@hey-api/openapi-ts/bin/run.js", "-i", "./generated/open.json", "-o", "generated/hey-api")),
  ]);
  await run(tool("typescript/bin/tsc", "-p", "round-trips"));
  for (const client of ["openapi-fetch", "hey-api"])
    await run([...bunCommand, `round-trips/${client}.ts`, await serviceOrigin()]);
  await run([...bunCommand, "round-trips/camel-case.ts", await serviceOrigin(...camelCase)]);
});

test("NSwag: the generated C# client compiles and makes a round trip", async () => {
  if (!hasMono()) return;
  const nswag = join(toolsFolder, "node_modules/nswag/bin/binaries/Win");
  const options = { input: "generated/open-3.0.json", output: "generated/todo-client.cs", namespace: "Generated" };
  const more = { className: "TodoClient", jsonLibrary: "NewtonsoftJson", generateOptionalParameters: true };
  const words = Object.entries({ ...options, ...more }).map(([name, value]) => `/${name}:${value}`);
  await run(["mono", join(nswag, "NSwag.exe"), "openapi2csclient", ...words]);
  copyFileSync(join(nswag, "Newtonsoft.Json.dll"), join(generatedFolder, "Newtonsoft.Json.dll"));
  const references = ["System.Net.Http", "System.ComponentModel.DataAnnotations", "System.Runtime.Serialization"];
  await run([
    "mcs",
    "-langversion:7.2",
    "-out:generated/round-trip.exe",
    ...["generated/Newtonsoft.Json.dll", ...references].map((name) => `-r:${name}`),
    "generated/todo-client.cs",
    "round-trips/round-trip.cs",
  ]);
  await run(["mono", "generated/round-trip.exe", await serviceOrigin()]);
});
