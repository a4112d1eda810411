// Tests the code that the page and the description offer. The code for curl, JavaScript and TypeScript is run against
// the real program. Of the code in other languages, only the text is checked.

import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { codeSamples } from "../../src/description/code-samples.ts";
import type { SampleOptions } from "../../src/description/sample-program.ts";
import { bunCommand } from "../bun-command.ts";
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

/** What the original service requires. The samples must work with it, too. */
const required = ["--require", "Name,Notes"];

const pascal = { id: "ID", name: "Name", notes: "Notes", done: "Done" };
const camel = { id: "id", name: "name", notes: "notes", done: "done" };

function samplesFor(origin: string, options: Pick<SampleOptions, "auth" | "form" | "names">): Map<string, string> {
  const samples = codeSamples({
    server: origin,
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
        args: ["--port", "0", "--store", "memory:", ...required, "--auth", options.auth, "--users", users, ...args],
      });
      const samples = samplesFor(program.origin, options);
      for (const language of ["fetch", "TypeScript"]) {
        // The last lines of the code follow the changes and never end, so they are left out.
        const [code = ""] = (samples.get(language) ?? "").split("// Every change");
        const source = code
          .replace("todoitems-client", join(projectFolder, "src/client/index.ts"))
          .replace("PASSWORD", "long enough");
        const file = join(folder.path, `${options.form}-${language}.ts`);
        await Bun.write(file, `${source}\nconsole.log(JSON.stringify(items));\n`);
        const run = Bun.spawnSync([...bunCommand, file]);
        expect([language, run.stderr.toString()]).toEqual([language, ""]);
        const { id, name, notes, done } = options.names;
        expect(JSON.parse(run.stdout.toString())).toEqual([
          { [id]: expect.any(String), [name]: "Buy milk", [notes]: "two litres", [done]: false },
        ]);
      }
    });
  });
}

test("a browser can run the JavaScript at an address of the network without HTTPS, where crypto.randomUUID is missing", () => {
  const options = { auth: "off", form: "b", names: pascal } as const;
  const code = (origin: string) => samplesFor(origin, options).get("fetch") ?? "";
  for (const origin of ["http://localhost:5000", "http://127.0.0.1:5000", "https://todo.example"])
    expect(code(origin)).toContain("ID: crypto.randomUUID()");
  const [, definition = ""] = /(function newId.*?\n\})/s.exec(code("http://192.168.1.20:5000")) ?? [];
  expect(code("http://192.168.1.20:5000")).toContain("ID: newId()");
  const ids = Array.from({ length: 100 }, () => new Function(`${definition} return newId();`)());
  expect(new Set(ids).size).toBe(100);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
});

/** The samples of each operation in the description of a running service. */
async function describedSamples(service: Program): Promise<ReadonlyMap<string, readonly DescribedSample[]>> {
  const { paths } = (await (await service.fetch("/openapi.json")).json()) as DescribedSamples;
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  return new Map(operations.map(({ operationId, "x-codeSamples": samples = [] }) => [operationId, samples]));
}

/** Writes a sample to a file that can be run here. */
async function fileOf({ lang, source }: DescribedSample, operationId: string): Promise<string> {
  const file = join(folder.path, `${operationId}-${lang}.ts`);
  await Bun.write(file, source.replace("todoitems-client", join(projectFolder, "src/client/index.ts")));
  return file;
}

test("every operation has a sample in every language, and those that are not run here say so", async () => {
  program = await Program.start({ args: ["--port", "0", "--store", "memory:"] });
  const labels = [
    ...["curl", "fetch", "TypeScript"],
    ...["C# (not tested)", "Kotlin (not tested)", "Swift (not tested)", "Dart (not tested)"],
  ];
  for (const [operationId, samples] of await describedSamples(program)) {
    expect([operationId, samples.map(({ label }) => label)]).toEqual([operationId, labels]);
    for (const { label, source } of samples)
      expect([operationId, label, source]).toEqual([operationId, label, expect.stringContaining(program.origin)]);
  }
});

test("every sample for phones says what plain HTTP and the emulator need", async () => {
  program = await Program.start({ args: ["--port", "0", "--store", "memory:"] });
  const notes = {
    Kotlin: ["10.0.2.2", "usesCleartextTraffic"],
    Swift: ["NSAllowsLocalNetworking"],
    Dart: ["10.0.2.2", "usesCleartextTraffic", "NSAllowsLocalNetworking"],
  };
  for (const [operationId, samples] of await describedSamples(program))
    for (const [language, words] of Object.entries(notes)) {
      const source = samples.find(({ label }) => label.startsWith(language))?.source ?? "";
      expect([operationId, language, words.filter((word) => !source.includes(word))]).toEqual([
        operationId,
        language,
        [],
      ]);
    }
});

test("the curl commands in the description get the answers that they ask for", async () => {
  program = await Program.start({ args: ["--port", "0", "--store", "memory:", ...required] });
  const operations = await describedSamples(program);
  const statuses: string[] = [];
  for (const operationId of [
    // `createItem` names no ID, so it can run twice. `createItemAt` creates the item that the later operations read,
    // update and delete.
    ...[
      "createItem",
      "createItem",
      "createItemAt",
      "listItems",
      "readItem",
      "updateItem",
      "updateItemAt",
      "deleteItem",
    ],
    ...["readChanges", "isLive", "isReady"],
  ]) {
    const command = operations.get(operationId)?.find(({ label }) => label === "curl")?.source ?? "";
    const statusOnly = command.replaceAll(/^curl/gm, "curl -s -o /dev/null -w '%{http_code} '");
    statuses.push(Bun.spawnSync(["bash", "-c", statusOnly]).stdout.toString().trim());
  }
  const written = ["201", "201", "201", "200", "200", "204", "204", "204"];
  expect(statuses).toEqual([...written, "200 200", "200", "200"]);
});

test("the samples in JavaScript and TypeScript run against the instance whose description has them", async () => {
  program = await Program.start({ args: ["--port", "0", "--store", "memory:", ...required] });
  for (const [operationId, samples] of await describedSamples(program)) {
    // The samples of this operation never end. The next test is about them.
    if (operationId === "followChanges") continue;
    for (const sample of samples.filter(({ label }) => label === "fetch" || label === "TypeScript")) {
      const command = [...bunCommand, await fileOf(sample, operationId)];
      const running = Bun.spawn(command, { stdout: "pipe", stderr: "pipe" });
      const result = [operationId, sample.label, await running.exited, await running.stderr.text()];
      expect(result).toEqual([operationId, sample.label, 0, ""]);
    }
  }
  // Each sample that creates, reads or updates an item leaves one item in the list.
  expect(JSON.parse(await program.list())).toHaveLength(10);
});

test("the samples that follow the changes print what happens", async () => {
  program = await Program.start({ args: ["--port", "0", "--store", "memory:"] });
  const samples = (await describedSamples(program)).get("followChanges") ?? [];
  for (const sample of samples.slice(0, 3)) {
    const isShell = sample.lang === "Shell";
    const command = isShell ? ["bash", "-c", `exec ${sample.source}`] : [...bunCommand, await fileOf(sample, "follow")];
    const running = Bun.spawn(command, { stdout: "pipe", stderr: "ignore" });
    let printed = "";
    for await (const chunk of running.stdout) {
      // The first output shows that the sample is listening. Only then is an item created.
      if (printed === "") await program.send("POST", "/api/todoitems/", `{"Name":"now in ${sample.label}"}`);
      printed += new TextDecoder().decode(chunk);
      if (printed.includes(`now in ${sample.label}`)) break;
    }
    running.kill();
    expect(printed).toContain(`now in ${sample.label}`);
  }
  expect(samples.slice(0, 3).map(({ label }) => label)).toEqual(["curl", "fetch", "TypeScript"]);
});

test("every language names the address and the item's fields, and credentials only if they are needed", () => {
  for (const auth of ["off", "writes"] as const) {
    const samples = samplesFor("http://host", { auth, form: "b", names: pascal });
    expect([...samples.keys()]).toEqual(["curl", "fetch", "TypeScript", "C#", "Kotlin", "Swift", "Dart"]);
    for (const [language, code] of samples) {
      expect([language, code]).toEqual([language, expect.stringContaining("http://host/")]);
      expect([language, code]).toEqual([language, expect.stringContaining("Done")]);
      expect([language, code.includes("NAME")]).toEqual([language, auth !== "off"]);
    }
  }
});

/** Every sample in this language: the whole program, and the code for each operation. */
function codesOf(language: string): string[] {
  return [pascal, camel].flatMap((names) =>
    codeSamples({ server: "http://localhost:5000", auth: "all", form: "a", names, authorityFile: undefined })
      .filter((sample) => sample.language === language)
      .flatMap(({ parts, steps }) => [...parts.map(({ code }) => code), ...Object.values(steps)]),
  );
}

test("in Kotlin, every statement is in a function, because a file can hold only declarations", () => {
  for (const code of codesOf("Kotlin")) {
    const outside = code.split("\n").filter((line) => !/^(?: |$|\/\/|\}$|import |const val |fun )/.test(line));
    expect(outside).toEqual([]);
    expect(code.match(/^fun main\(\) \{$/gm)).toHaveLength(1);
  }
});

test("in Swift, an item is decoded whatever the letter case of its field names, and encoded with the names of the service", () => {
  for (const code of codesOf("Swift").filter((one) => one.includes("struct TodoItem")))
    expect(code).toContain("$0.stringValue.lowercased() == key.rawValue.lowercased()");
  const [pascalCode = ""] = codesOf("Swift");
  expect(pascalCode).toContain('case id = "ID", name = "Name", notes = "Notes", done = "Done"');
  expect(codesOf("Swift").join("\n")).toContain('case id = "id", name = "name", notes = "notes", done = "done"');
});
