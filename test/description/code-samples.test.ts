// The code that the page and the description offer. What this machine can run is run against the real program.

import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { codeSamples } from "../../src/description/code-samples.ts";
import type { SampleOptions } from "../../src/description/sample-programs.ts";
import { bunCommand } from "../../src/serve/bun-command.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { Program, projectFolder, runProgram } from "../program.ts";

const folder = temporaryFolder();
let program: Program | undefined;
afterEach(async () => {
  await program?.stop();
  program = undefined;
});
afterAll(() => folder.dispose());

interface DescribedSamples {
  readonly paths: Record<string, Record<string, { operationId: string; "x-codeSamples"?: DescribedSample[] }>>;
}
interface DescribedSample {
  readonly lang: string;
  readonly label: string;
  readonly source: string;
}

const pascal = { id: "ID", name: "Name", notes: "Notes", done: "Done" };
const camel = { id: "id", name: "name", notes: "notes", done: "done" };

function samplesFor(origin: string, options: Pick<SampleOptions, "auth" | "form" | "names">): Map<string, string> {
  const samples = codeSamples({
    listUrl: `${origin}/api/todoitems/`,
    feedUrl: `${origin}/changes`,
    authorityFile: undefined,
    ...options,
  });
  return new Map(samples.map(({ language, parts }) => [language, parts.map(({ code }) => code).join("\n")]));
}

for (const [what, options, args] of [
  ["without credentials, in form B", { auth: "off", form: "b", names: pascal }, ["--forms", "b"]],
  [
    "with credentials, in form A, in camelCase",
    { auth: "all", form: "a", names: camel },
    ["--forms", "a", "--field-names", "camel"],
  ],
] as const) {
  describe(what, () => {
    test("the programs in JavaScript and TypeScript create, list, update and delete an item", async () => {
      const users = join(folder.path, "users.txt");
      await runProgram("user", { args: ["add", "NAME", "--users", users], input: "long enough\n" });
      program = await Program.start({
        args: ["--port", "0", "--store", "memory:", "--auth", options.auth, "--users", users, ...args],
      });
      const samples = samplesFor(program.origin, options);
      for (const language of ["fetch", "TypeScript"]) {
        // The last lines follow the changes and never end.
        const [code = ""] = (samples.get(language) ?? "").split("// Every change");
        const source = code
          .replace("todoitems/client", join(projectFolder, "src/client/index.ts"))
          .replace("PASSWORD", "long enough");
        const file = join(folder.path, `${options.form}-${language}.ts`);
        await Bun.write(file, `${source}\nconsole.log(JSON.stringify(items));\n`);
        const run = Bun.spawnSync([...bunCommand, file]);
        expect([language, run.stderr.toString()]).toEqual([language, ""]);
        const { id, name, notes, done } = options.names;
        expect(JSON.parse(run.stdout.toString())).toEqual([
          { [id]: expect.any(String), [name]: "Buy milk", [notes]: "", [done]: false },
        ]);
      }
    });
  });
}

test("the samples in the description run against the instance that it describes, or are marked as not tested", async () => {
  program = await Program.start({ args: ["--port", "0", "--store", "memory:"] });
  const { paths } = (await (await program.fetch("/openapi.json")).json()) as DescribedSamples;
  const operations = new Map(
    Object.values(paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId, "x-codeSamples": samples = [] }) => [operationId, samples]),
    ),
  );
  const sampleOf = (operationId: string, language: string) =>
    operations.get(operationId)?.find(({ lang }) => lang === language)?.source ?? "";
  const statuses: string[] = [];
  for (const operationId of [
    ...["createItem", "listItems", "readItem", "updateItem", "updateItemAt", "deleteItem"],
    ...["createItemAt", "deleteItem"],
  ]) {
    const command = sampleOf(operationId, "Shell").replace("curl", "curl -s -o /dev/null -w '%{http_code}'");
    statuses.push(Bun.spawnSync(["bash", "-c", command]).stdout.toString());
  }
  expect(statuses).toEqual(["201", "200", "200", "204", "204", "204", "201", "204"]);
  for (const language of ["JavaScript", "TypeScript"])
    for (const operationId of ["listItems", "createItem", "createItemAt", "updateItem", "updateItemAt", "deleteItem"]) {
      const file = join(folder.path, `${operationId}-${language}.ts`);
      const source = sampleOf(operationId, language);
      expect([operationId, source]).toEqual([operationId, expect.stringContaining(`${program.origin}/api/todoitems/`)]);
      await Bun.write(file, source.replace("todoitems/client", join(projectFolder, "src/client/index.ts")));
      const run = Bun.spawnSync([...bunCommand, file]);
      expect([operationId, language, run.exitCode, run.stderr.toString()]).toEqual([operationId, language, 0, ""]);
    }
  // Each of them has left its item, except the one that deletes it.
  expect(JSON.parse(await program.list())).toHaveLength(8);
  expect(operations.get("createItem")?.map(({ label }) => label)).toEqual([
    ...["curl", "fetch", "TypeScript"],
    ...["C# (not tested)", "Kotlin (not tested)", "Swift (not tested)", "Dart (not tested)"],
  ]);
});

test("every language names the address and the item's fields, and credentials only if they are needed", () => {
  for (const auth of ["off", "writes"] as const) {
    const samples = samplesFor("http://host", { auth, form: "b", names: pascal });
    expect([...samples.keys()]).toEqual(["curl", "fetch", "TypeScript", "C#", "Kotlin", "Swift", "Dart"]);
    for (const [language, code] of samples) {
      expect([language, code]).toEqual([language, expect.stringContaining("http://host/api/todoitems/")]);
      expect([language, code]).toEqual([language, expect.stringContaining("Done")]);
      expect([language, code.includes("NAME")]).toEqual([language, auth !== "off"]);
    }
  }
});
