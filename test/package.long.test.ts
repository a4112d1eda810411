// Tests the package as npm publishes it: it is packed, put into the node_modules of another project, and used there.
// test/tools/client-package.long.test.ts does the same with the client's own package.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, cpSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import manifest from "../package.json";
import { bunCommand } from "./bun-command.ts";
import { checkedFetch } from "./description/checked-answer.ts";
import { temporaryFolder } from "./engines/engine-kinds.ts";
import { checksAnswers, projectFolder } from "./program.ts";

const folder = temporaryFolder();
const modules = join(folder.path, "node_modules");
const project = (name: string) => join(projectFolder, "node_modules", name);

async function run(command: readonly string[], cwd = folder.path) {
  const child = Bun.spawn([...command], { cwd, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { exitCode: await child.exited, stdout, stderr };
}

beforeAll(async () => {
  const packed = await run(["npm", "pack", "--silent", "--pack-destination", folder.path], projectFolder);
  expect(packed).toMatchObject({ exitCode: 0 });
  mkdirSync(modules);
  await run(["tar", "-xzf", `todoitems-${manifest.version}.tgz`]);
  cpSync(join(folder.path, "package"), join(modules, "todoitems"), { recursive: true });
});

afterAll(() => folder.dispose());

/** Compiles `use.ts` in a strict project that has only the web's types. */
async function expectCorrectTypes(): Promise<void> {
  const options = { strict: true, target: "ES2022", lib: ["ES2022", "DOM", "DOM.AsyncIterable"], types: [] };
  for (const [module, moduleResolution] of [
    ["nodenext", "nodenext"],
    ["esnext", "bundler"],
  ]) {
    const compilerOptions = { ...options, module, moduleResolution, noEmit: true, skipLibCheck: false };
    writeFileSync(join(folder.path, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["use.ts"] }));
    writeFileSync(join(folder.path, "package.json"), '{"type":"module"}');
    const { exitCode, stdout, stderr } = await run([...bunCommand, "check", "--no-script", "--project", "."]);
    expect({ exitCode, output: stdout + stderr }).toEqual({
      exitCode: 0,
      output: expect.stringContaining("No type errors"),
    });
  }
}

describe("the package", () => {
  test("the package contains the program and the client, and no tests", () => {
    const files = readdirSync(join(modules, "todoitems"), { recursive: true }).map(String);
    for (const file of [
      "bin/todoitems.js",
      "bin/bunfig.toml",
      "bin/tsconfig.json",
      "src/main.ts",
      "dist/client/index.js",
      "dist/client/offline.js",
      "LICENSE",
      "README.md",
    ])
      expect(files).toContain(file);
    expect(files.filter((file) => file.includes("test"))).toEqual([]);
  });

  test("the package has a client that Node can import and require", async () => {
    const use = 'console.log(new TodoClient("http://x/", { codec: jsonText }).url);';
    writeFileSync(join(folder.path, "use.mjs"), `import { jsonText, TodoClient } from "todoitems/client"; ${use}`);
    writeFileSync(join(folder.path, "use.cjs"), `const { jsonText, TodoClient } = require("todoitems/client"); ${use}`);
    for (const file of ["use.mjs", "use.cjs"])
      expect(await run(["node", file])).toMatchObject({ stdout: "http://x/api/todoitems/\n" });
  });

  test("the client's types are correct in a strict project that has only the web's types", async () => {
    writeFileSync(
      join(folder.path, "use.ts"),
      `import { isTodoError, TodoClient } from "todoitems/client";
       interface Item { ID: string; Name: string; Price: number }
       const todo = new TodoClient<Item>("/");
       const { item, etag } = await todo.create({ Name: "x", Price: 1 });
       await todo.update({ ...item, Price: item.Price + 1 }, { ifMatch: etag }).catch((error: unknown) => {
         if (isTodoError(error, "PreconditionFailedError")) console.log(error.current, error.status);
       });
       // @ts-expect-error an item has a price
       await todo.create({ Name: "x" });
       // @ts-expect-error a price is a number
       await todo.update({ ID: "", Name: "x", Price: "1" });
       for await (const event of todo.watch()) if (event.kind === "changed") console.log(event.item.Name);`,
    );
    await expectCorrectTypes();
  });

  test("the package's command needs only Node, whether or not Bun's install script was run", async () => {
    for (const name of readdirSync(project("")))
      if (!["bun", "@oven", ".bin"].includes(name)) symlinkSync(project(name), join(modules, name));
    const launcher = ["node", "node_modules/todoitems/bin/todoitems.js", "--version"];
    const expectAdvice = async () => {
      const { exitCode, stderr } = await run(launcher);
      expect([exitCode, stderr.startsWith("todoitems needs Bun")]).toEqual([1, true]);
    };
    await expectAdvice();

    // Without install scripts, there is a text file instead of the binary.
    mkdirSync(join(modules, "bun/bin"), { recursive: true });
    cpSync(project("bun/package.json"), join(modules, "bun/package.json"));
    writeFileSync(join(modules, "bun/bin/bun.exe"), "not yet");
    await expectAdvice();
    // If there is a package with the binary for this platform, the launcher uses that binary. npm 9 installs several
    // such packages, because it ignores which C library they are for.
    for (const platform of readdirSync(project("@oven"))) {
      const binary = join(modules, "@oven", platform, "bin/bun");
      mkdirSync(dirname(binary), { recursive: true });
      writeFileSync(join(dirname(binary), "../package.json"), "{}");
      symlinkSync(process.execPath, binary);
    }
    expect(await run(launcher)).toMatchObject({ exitCode: 0, stdout: `${manifest.version}\n` });

    // With install scripts, the binary is in the package `bun`.
    chmodSync(join(modules, "bun/bin/bun.exe"), 0o755);
    cpSync(process.execPath, join(modules, "bun/bin/bun.exe"));
    rmSync(join(modules, "@oven"), { recursive: true });
    expect(await run(launcher)).toMatchObject({ exitCode: 0, stdout: `${manifest.version}\n` });
  });

  test("the package's command alone serves the page, forwards signals and exits with the program's exit code", async () => {
    const settings = { TODOITEMS_PORT: "0", TODOITEMS_STORE: "memory:" };
    const child = Bun.spawn(["node", "node_modules/todoitems/bin/todoitems.js"], {
      cwd: folder.path,
      env: { ...process.env, ...checksAnswers, ...settings },
      stdout: "pipe",
      stderr: "ignore",
    });
    const { value } = await child.stdout.getReader().read();
    const [, origin = ""] = /^todoitems is ready on (\S+)\/\n/.exec(new TextDecoder().decode(value)) ?? [];
    // The page and the API description are made from files that must be in the package.
    const page = await (await checkedFetch(`${origin}/`)).text();
    const linked = [...page.matchAll(/(?:src|href)="([^":]+)"/g)].map(([, path = ""]) => path);
    expect(linked.length).toBeGreaterThan(1);
    for (const path of [...linked, "openapi.yaml"])
      expect({ path, status: (await checkedFetch(new URL(path, `${origin}/`))).status }).toEqual({ path, status: 200 });
    child.kill("SIGTERM");
    expect(await child.exited).toBe(0);
    expect(await run(["node", "node_modules/todoitems/bin/todoitems.js", "nosuch"])).toMatchObject({ exitCode: 2 });
  });
});
