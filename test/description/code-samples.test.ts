// Runs the samples of the description, in curl, JavaScript and TypeScript, against the instance that describes itself
// with them.

import { afterAll, afterEach, expect, test } from "bun:test";
import { join } from "node:path";
import type { ApiDescription, Operation } from "../../src/description/api-description.ts";
import { exampleFiles, samplesOf } from "../../src/description/code-samples.ts";
import { bunCommand } from "../bun-command.ts";
import { TestProvider } from "../credentials/test-provider.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { Program, projectFolder, runProgram } from "../program.ts";

const folder = temporaryFolder();
const provider = await TestProvider.start();
let token = "";
let program: Program;
afterEach(() => program.stop());
afterAll(async () => {
  folder.dispose();
  await provider.stop();
});

const id = "54b4c1f2-0f8e-4a6b-9d3c-2f1a7e5b8c90";
type Sample = Operation["x-codeSamples"][number];

/** Starts a service without items, and returns the operations of its description. */
async function start(...flags: readonly string[]): Promise<readonly Operation[]> {
  program = await Program.start({ args: ["--port", "0", "--store", "memory:", "--require", "Name,Notes", ...flags] });
  const { paths } = (await (await program.fetch("/openapi.json")).json()) as ApiDescription;
  return Object.values(paths).flatMap((methods) => Object.values(methods));
}

/** The command that runs a sample as its reader would, with the client of this project and a real password. */
async function commandOf({ lang, source }: Sample): Promise<string[]> {
  const code = source
    .replace("todoitems-client", join(projectFolder, "src/client/index.ts"))
    .replaceAll("PASSWORD", "long enough")
    .replaceAll("TOKEN", token)
    .replaceAll("-u NAME", "-u 'NAME:long enough'");
  if (lang === "Shell") return ["bash", "-c", code.replaceAll(/^curl/gm, "curl -sS --fail-with-body")];
  const file = join(folder.path, `${Bun.hash(code)}.ts`);
  await Bun.write(file, code);
  return [...bunCommand, file];
}

async function usersFlags(): Promise<string[]> {
  const users = join(folder.path, "users.txt");
  await runProgram("user", { args: ["add", "NAME", "--users", users], input: "long enough\n" });
  headers.Authorization = `Basic ${btoa("NAME:long enough")}`;
  return ["--auth", "all", "--users", users];
}

async function tokenFlags(): Promise<string[]> {
  token = await provider.sign("ann");
  headers.Authorization = `Bearer ${token}`;
  return ["--auth", "all", "--token-issuer", provider.issuer, "--token-audience", provider.audience];
}

interface Effect {
  /** True if the example item is there before the sample runs. */
  readonly needsItem?: true;
  readonly prints: RegExp;
  /** What is different in the list afterwards. */
  readonly changes?: "created" | "done" | "deleted";
}

const effects: Readonly<Record<string, Effect>> = {
  listItems: { needsItem: true, prints: /Buy milk/ },
  createItem: { prints: /Buy milk/, changes: "created" },
  createItemAt: { prints: /Buy milk/, changes: "created" },
  readItem: { needsItem: true, prints: /Buy milk/ },
  updateItem: { needsItem: true, prints: /^$|[0-9a-f]{16}-\d/, changes: "done" },
  updateItemAt: { needsItem: true, prints: /^$|[0-9a-f]{16}-\d/, changes: "done" },
  deleteItem: { needsItem: true, prints: /^$/, changes: "deleted" },
  readChanges: { needsItem: true, prints: /Buy milk/ },
  isLive: { prints: /200/ },
  isReady: { prints: /200/ },
};

const headers = { Authorization: "", "Content-Type": "application/json" };
const item = { ID: id, Name: "Buy milk", Notes: "two litres", Done: false };

/** The items of the list, with their names in PascalCase. */
async function listed(): Promise<Record<string, unknown>[]> {
  const text = await (await program.fetch("/api/todoitems", { headers })).text();
  return JSON.parse(text.replaceAll(/"(id|name|notes|done)":/g, (_, name: string) => `"${pascalOf[name]}":`));
}
const pascalOf: Readonly<Record<string, string>> = { id: "ID", name: "Name", notes: "Notes", done: "Done" };

/** Makes the list empty, or fills it with the example item. */
async function reset(needsItem: boolean, form: string | undefined): Promise<void> {
  for (const { ID } of await listed()) await program.fetch(`/api/todoitems/${ID}`, { method: "DELETE", headers });
  const path = form === "a" ? `/api/todoitems/${id}` : "/api/todoitems";
  if (needsItem) await program.fetch(path, { method: "POST", headers, body: JSON.stringify(item) });
}

async function runSample(sample: Sample): Promise<string> {
  const running = Bun.spawn(await commandOf(sample), { stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([running.stdout.text(), running.stderr.text()]);
  expect([sample.source, await running.exited, stderr]).toEqual([sample.source, 0, ""]);
  return stdout.trim();
}

test.each([
  ["both forms", undefined, async () => []],
  ["form A, in camelCase, with credentials", "a", async () => ["--field-names", "camel", ...(await usersFlags())]],
  ["form B, with credentials", "b", usersFlags],
  ["form B, with tokens only", "b", tokenFlags],
])("every sample of an instance with %s does what its operation says", async (_, form, flags) => {
  const operations = await start(...(await flags()), ...(form === undefined ? [] : ["--forms", form]));
  for (const { operationId, "x-codeSamples": samples } of operations) {
    const { needsItem = false, prints, changes } = effects[operationId] ?? {};
    // The samples that follow the changes never end. The next test is about them.
    if (prints === undefined) continue;
    expect(samples.map(({ label }) => label)).toEqual(["curl", "fetch", "TypeScript"]);
    for (const sample of samples) {
      await reset(needsItem, form);
      expect(await runSample(sample)).toMatch(prints);
      const expected = { ...item, Done: changes === "done" };
      const isThere = changes === "created" || (needsItem && changes !== "deleted");
      expect([sample.source, await listed()]).toEqual([sample.source, isThere ? [expected] : []]);
    }
  }
  expect(operations).toHaveLength(form === undefined ? 11 : 9);
});

test("the samples that follow the changes print what happens", async () => {
  const operations = await start(...(await usersFlags()));
  const samples = operations.find(({ operationId }) => operationId === "followChanges")?.["x-codeSamples"] ?? [];
  for (const sample of samples) {
    const running = Bun.spawn(await commandOf(sample), { stdout: "pipe", stderr: "ignore" });
    let printed = "";
    for await (const chunk of running.stdout) {
      // The first output shows that the sample is listening. Only then is an item created.
      const body = JSON.stringify({ ...item, ID: null, Name: `now in ${sample.label}` });
      if (printed === "") await program.fetch("/api/todoitems/", { method: "POST", headers, body });
      printed += new TextDecoder().decode(chunk);
      if (printed.includes(`now in ${sample.label}`)) break;
    }
    running.kill();
    expect(printed).toContain(`now in ${sample.label}`);
  }
  expect(samples.map(({ label }) => label)).toEqual(["curl", "fetch", "TypeScript"]);
});

test("for the page, the samples have the address by which the reader reaches the service", async () => {
  await start();
  const description = await (await program.fetch("/openapi.json")).json();
  const samples = samplesOf(description as Parameters<typeof samplesOf>[0], "https://proxy.example/todo/");
  expect(samples.map(({ language, parts }) => [language, parts.length])).toEqual([
    ["curl", 6],
    ["fetch", 6],
    ["TypeScript", 6],
  ]);
  for (const { parts } of samples)
    for (const { label, code } of parts) {
      expect([label, code]).toEqual([label, expect.stringContaining("https://proxy.example/todo/")]);
      expect(code).not.toContain(program.origin);
    }
});

test("the programs for other platforms are the files in examples/", async () => {
  expect(exampleFiles.map(({ language }) => language)).toEqual(["C#", "Kotlin", "Swift", "Dart"]);
  for (const { parts } of exampleFiles)
    for (const { label, code } of parts) expect(code).toBe(await Bun.file(join(projectFolder, label)).text());
});
