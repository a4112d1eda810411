// Tests the two packages as npm publishes them: they are packed, put into the node_modules of other
// projects, and used there.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, cpSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import manifest from "../package.json";
import clientManifest from "../packages/client/package.json";
import { bunCommand } from "./bun-command.ts";
import { checkedFetch } from "./description/checked-answer.ts";
import { temporaryFolder } from "./engines/engine-kinds.ts";
import { checksAnswers, Program, projectFolder } from "./program.ts";

const folder = temporaryFolder();
const modules = join(folder.path, "node_modules");
const clientFolder = "./packages/client";
const clientFiles = ["index.js", "offline.js", "shared.js"];
/** A project that has installed only the client's package. */
const alone = join(folder.path, "alone");
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
  const packedClient = await run(
    ["npm", "pack", "--silent", "--pack-destination", folder.path, clientFolder],
    projectFolder,
  );
  expect(packedClient).toMatchObject({ exitCode: 0 });
  mkdirSync(alone);
  // Without this file, npm would install into the folder above.
  writeFileSync(join(alone, "package.json"), "{}");
  const tarball = join(folder.path, `todoitems-client-${manifest.version}.tgz`);
  const installed = await run(["npm", "install", "--offline", "--no-audit", "--no-fund", tarball], alone);
  expect(installed).toMatchObject({ exitCode: 0 });
});

afterAll(() => folder.dispose());

/** Compiles `use.ts` in a strict project that has only the web's types. */
async function expectCorrectTypes(cwd: string): Promise<void> {
  const options = { strict: true, target: "ES2022", lib: ["ES2022", "DOM", "DOM.AsyncIterable"], types: [] };
  for (const [module, moduleResolution] of [
    ["nodenext", "nodenext"],
    ["esnext", "bundler"],
  ]) {
    const compilerOptions = { ...options, module, moduleResolution, noEmit: true, skipLibCheck: false };
    writeFileSync(join(cwd, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["use.ts"] }));
    writeFileSync(join(cwd, "package.json"), '{"type":"module"}');
    const { exitCode, stdout, stderr } = await run([...bunCommand, "check", "--no-script", "--project", "."], cwd);
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

  test("the package has a client without dependencies that Node can import", async () => {
    writeFileSync(
      join(folder.path, "use.mjs"),
      'import { jsonText, TodoClient } from "todoitems/client"; console.log(new TodoClient("http://x/", { codec: jsonText }).url);',
    );
    expect(await run(["node", "use.mjs"])).toMatchObject({ stdout: "http://x/api/todoitems/\n" });
    for (const file of clientFiles)
      expect(await Bun.file(join(modules, "todoitems/dist/client", file)).text()).not.toMatch(
        /\bfrom "(?!\.\/shared\.js")|require\(/m,
      );
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
    await expectCorrectTypes(folder.path);
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

describe("the client's package", () => {
  const installed = join(alone, "node_modules/todoitems-client");

  test("it installs nothing but the built client, its types, its documentation and its licence", () => {
    expect(readdirSync(join(alone, "node_modules")).filter((name) => !name.startsWith("."))).toEqual([
      "todoitems-client",
    ]);
    expect(readdirSync(installed).sort()).toEqual(["LICENSE", "README.md", "dist", "package.json"]);
    const files = readdirSync(join(installed, "dist"), { recursive: true }).map(String);
    expect(files.filter((file) => file.includes(".") && !file.endsWith(".d.ts")).sort()).toEqual(
      clientFiles.map((file) => `client/${file}`),
    );
    for (const name of ["index", "offline"]) expect(files).toContain(`types/client/${name}.d.ts`);
    expect(Object.keys(clientManifest).filter((name) => name.toLowerCase().includes("dependencies"))).toEqual([]);
  });

  test("it has the version, the licence and the code of todoitems/client", async () => {
    const { version, license, engines } = manifest;
    expect(clientManifest).toMatchObject({ version, license, engines });
    for (const file of clientFiles)
      expect(await Bun.file(join(installed, "dist/client", file)).text()).toBe(
        await Bun.file(join(modules, "todoitems/dist/client", file)).text(),
      );
  });

  test("it creates, changes, lists and follows items in Node, without Bun, and the process ends by itself", async () => {
    const program = await Program.start({ args: ["--port", "0", "--store", "memory:"] });
    writeFileSync(
      join(alone, "use.mjs"),
      `import { TodoClient } from "todoitems-client";
       const todo = new TodoClient(process.argv[2]);
       const { id } = await todo.create({ Name: "One", Done: false });
       const list = todo.liveList();
       const done = new Promise((resolve) => {
         const unsubscribe = list.subscribe(() => {
           if (list.getSnapshot().items[0]?.item.Done) resolve(unsubscribe());
         });
       });
       await todo.change(id, (item) => ({ ...item, Done: true }));
       await done;
       console.log(typeof Bun, (await todo.list()).map(({ Name, Done }) => [Name, Done]).join());`,
    );
    expect(await run(["node", "use.mjs", program.origin], alone)).toEqual({
      exitCode: 0,
      stdout: "undefined One,true\n",
      stderr: "",
    });
    await program.stop();
  });

  test("every public method works in a context like React Native", async () => {
    const program = await Program.start({ args: ["--port", "0", "--store", "memory:"] });
    cpSync(join(projectFolder, "test/client/reduced-context.ts"), join(alone, "reduced-context.ts"));
    expect(await run([...bunCommand, "reduced-context.ts", program.origin], alone)).toEqual({
      exitCode: 0,
      stdout: "complete\n",
      stderr: "",
    });
    await program.stop();
  });

  test("its types are exact in a strict project that has only the web's types", async () => {
    writeFileSync(
      join(alone, "use.ts"),
      `import { type LiveList, type LiveListSnapshot, TodoClient, type WatchedItem } from "todoitems-client";
       import { indexedDbStorage, OfflineList, type OfflineSnapshot } from "todoitems-client/offline";
       interface Item { readonly ID: string; readonly Price: number }
       const todo = new TodoClient<Item>("/");
       const { item, etag } = await todo.change("", async ({ Price, ...rest }) => ({ ...rest, Price: Price + 1 }));
       const [price, tag]: [number, string | undefined] = [item.Price, etag];
       // @ts-expect-error the function must return the item
       await todo.change("", ({ Price }) => { Price.toFixed(); });
       // @ts-expect-error a price is a number
       await todo.change("", (item) => ({ ...item, Price: "1" }));
       const list: LiveList<Item> = todo.liveList({ pollMs: 1_000 });
       const { items, status: { connection } }: LiveListSnapshot<Item> = list.getSnapshot();
       const entries: readonly WatchedItem<Item>[] = items;
       if (connection.kind === "lost") console.log(price, tag, entries, connection.error.url, connection.retryInMs);
       else if (connection.kind === "live") console.log(connection.epoch);
       // @ts-expect-error a snapshot cannot be modified
       list.getSnapshot().items.push(items[0]);
       const unsubscribe: () => void = list.subscribe(() => {});
       unsubscribe();
       const offline = new OfflineList(todo, { storage: () => localStorage, onConflict: ({ theirs }) => theirs });
       const added: string = await offline.add({ Price: 1 });
       await offline.resolve(added, "mine");
       const { pending, status }: OfflineSnapshot<Item> = offline.getSnapshot();
       console.log(pending[0]?.conflict?.theirs?.Price, status.kept, indexedDbStorage());
       // @ts-expect-error a price is a number
       await offline.change(added, (item) => ({ ...item, Price: "1" }));
       for await (const { token } of todo.watch({ since: "" })) console.log(token?.length);`,
    );
    await expectCorrectTypes(alone);
  });
});
