// The code that the page offers. What this machine can run is run against the real program.

import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { codeSamples, type SampleOptions } from "../../src/page/code-samples.ts";
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
