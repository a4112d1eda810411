// The first click in Postman, Bruno or Swagger UI. Postman's converter makes requests from the description, and newman,
// its command line, sends them to a service.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { Program } from "../program.ts";
import { generatedFolder, run, tool, writeDescription } from "./tool.ts";

interface Collection {
  readonly item: readonly { readonly item: readonly { readonly name: string }[] }[];
}

interface Report {
  readonly run: {
    readonly executions: readonly {
      readonly item: { readonly name: string };
      readonly response?: { readonly code: number };
    }[];
  };
}

let program: Program;
beforeAll(async () => {
  await writeDescription("open");
  program = await Program.start({ args: ["--port", "0", "--store", "memory:"] });
});
afterAll(() => program.stop());

/** Sends every request that the converter makes in this mode. Returns the status of each answer. */
async function statuses(mode: "Example" | "Schema"): Promise<Map<string, number | undefined>> {
  const collection = join(generatedFolder, `postman-${mode}.json`);
  const options = ["-O", `parametersResolution=${mode},folderStrategy=Tags`];
  const converting = ["-s", "generated/open.json", "-o", collection, ...options];
  await run(tool("openapi-to-postmanv2/bin/openapi2postmanv2.js", ...converting));
  const { item: folders, ...rest } = (await Bun.file(collection).json()) as Collection;
  // The feed does not end, so newman would wait for it.
  const hasEnd = ({ name }: { readonly name: string }) => name !== "Follow changes as they happen";
  const finite = folders.map((folder) => ({ ...folder, item: folder.item.filter(hasEnd) }));
  await Bun.write(collection, JSON.stringify({ ...rest, item: finite }));
  const report = join(generatedFolder, `postman-${mode}-report.json`);
  const reporting = ["--reporters", "json", "--reporter-json-export", report];
  await run(tool("newman/bin/newman.js", "run", collection, "--env-var", `baseUrl=${program.origin}`, ...reporting));
  const { executions } = ((await Bun.file(report).json()) as Report).run;
  return new Map(executions.map(({ item, response }) => [item.name, response?.code]));
}

test("Postman, with the values of the examples: all succeed, but for a second create of the same item", async () => {
  expect([...(await statuses("Example"))]).toEqual([
    ["List all items", 200],
    ["Create an item", 201],
    ["Replace an item", 204],
    ["Read one item", 200],
    ["Create an item at a path", 409],
    ["Replace the item at a path", 204],
    ["Delete an item", 204],
    ["Read the changes since a token", 200],
    ["Liveness", 200],
    ["Readiness", 200],
  ]);
});

test("Postman, with values that it makes from the schemas: list, create and health succeed", async () => {
  const found = await statuses("Schema");
  const wanted = ["List all items", "Create an item", "Liveness", "Readiness"];
  expect(wanted.map((name) => found.get(name))).toEqual([200, 201, 200, 200]);
});
