// Tests the client's package as npm publishes it: it is packed, installed in another project, and used there by Node, by
// TypeScript and by Jest. The programs of that project are in installs/.
// Why: docs/decisions/0034-what-is-published.md

import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../package.json";
import clientManifest from "../../packages/client/package.json";
import { bunCommand } from "../bun-command.ts";
import { Program, projectFolder } from "../program.ts";
import { generatedFolder, run, tool, toolsFolder } from "./tool.ts";

const folder = join(generatedFolder, "client-package");
const installed = join(folder, "node_modules/todoitems-client");
let program: Program;

beforeAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  cpSync(join(toolsFolder, "installs"), folder, { recursive: true });
  // Without this file, npm would install into the folder above.
  writeFileSync(join(folder, "package.json"), "{}");
  await run(["npm", "pack", "--silent", "--pack-destination", folder, "./packages/client"], projectFolder);
  const tarball = `todoitems-client-${manifest.version}.tgz`;
  await run(["npm", "install", "--offline", "--no-audit", "--no-fund", `./${tarball}`], folder);
  program = await Program.start({ args: ["--port", "0", "--store", "memory:", "--cors", "http://localhost"] });
});

afterAll(() => program.stop());

test("it installs nothing but the built client, its types, its documentation and its licence", () => {
  const names = readdirSync(join(folder, "node_modules")).filter((name) => !name.startsWith("."));
  expect(names).toEqual(["todoitems-client"]);
  expect(readdirSync(installed).sort()).toEqual(["LICENSE", "README.md", "dist", "offline", "package.json"]);
  const files = ["index", "offline", "shared"].flatMap((name) => [`${name}.cjs`, `${name}.js`]);
  expect(readdirSync(join(installed, "dist/client")).sort()).toEqual(files);
  for (const file of files)
    expect(readFileSync(join(installed, "dist/client", file), "utf8")).not.toMatch(
      /(?:\bfrom |\brequire\()"(?!\.\/shared\.c?js")/,
    );
  const types = readdirSync(join(installed, "dist/types"), { recursive: true, encoding: "utf8" });
  expect(types.filter((file) => file.includes(".") && !/\.d\.c?ts$/.test(file))).toEqual([]);
  expect(Object.keys(clientManifest).filter((name) => name.toLowerCase().includes("dependencies"))).toEqual([]);
});

test("it has the version, the licence and the entry points of todoitems", () => {
  const { version, license, engines, exports } = manifest;
  expect(clientManifest).toMatchObject({
    ...{ version, license, engines },
    exports: { ".": exports["./client"], "./offline": exports["./offline"] },
  });
});

for (const [file, what] of [
  ["import.mjs", "that imports it"],
  ["require.cjs", "that requires it"],
  ["both.mjs", "that has two copies of it, an imported one and a required one"],
] as const)
  test(`it works in a program for Node ${what}, which ends by itself`, async () => {
    expect(JSON.parse(await run(["node", file, program.origin], folder))).toEqual({
      names: "One,Two",
      kept: true,
      offline: "lost",
      isNetworkError: true,
      message: expect.stringContaining("ECONNREFUSED"),
    });
  });

const reactNative = {
  preset: "@react-native/jest-preset",
  transform: { "\\.[jt]sx?$": ["babel-jest", { presets: ["module:@react-native/babel-preset"] }] },
};
for (const [what, settings, kept, reason] of [
  ["Jest's default settings", {}, true, "ECONNREFUSED"],
  // jsdom has no `fetch`, and no locks.
  ["Jest's jsdom", { testEnvironment: "jsdom", setupFiles: ["whatwg-fetch"] }, false, "Network request failed"],
  ["React Native's preset for Jest", reactNative, true, "ECONNREFUSED"],
] as const)
  test(`it works with ${what}`, async () => {
    const config = JSON.stringify({ ...settings, rootDir: folder, testMatch: ["**/jest-test.cjs"] });
    const environment = { ORIGIN: program.origin, KEPT: String(kept), REASON: reason };
    await run(tool("jest/bin/jest.js", "--config", config), folder, environment);
  });

for (const [moduleResolution, module, files] of [
  ["node16", "node16", ["types.mts", "types.cts"]],
  ["nodenext", "nodenext", ["types.mts", "types.cts"]],
  ["bundler", "preserve", ["types.mts", "require-types.cts"]],
] as const)
  test(`its types are exact in a strict project with moduleResolution ${moduleResolution}`, async () => {
    for (const file of files) if (file.startsWith("types")) cpSync(join(folder, "types.ts"), join(folder, file));
    const compilerOptions = {
      ...{ strict: true, exactOptionalPropertyTypes: true, skipDefaultLibCheck: true, noEmit: true },
      ...{ target: "ES2022", lib: ["ES2022", "DOM", "DOM.AsyncIterable"], types: [], module, moduleResolution },
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
    const read = await run(tool("typescript/bin/tsc", "-p", folder, "--listFiles"));
    for (const name of ["index.d.ts", "index.d.cts", "offline.d.ts", "offline.d.cts"])
      expect(read).toContain(`/todoitems-client/dist/types/client/${name}\n`);
  });

for (const [readsExports, what] of [
  [true, "reads the package's exports"],
  [false, "does not know exports, as in older versions of React Native and Expo"],
] as const)
  test(`it works in an app that was bundled by Metro, which ${what}`, async () => {
    const bundle = `bundle-${readsExports}.js`;
    const options = ["--config", "metro.config.cjs", "--out", bundle, "--minify", "false"];
    const environment = { EXPORTS: String(readsExports) };
    await run(tool("metro/src/cli.js", "build", "metro-app.js", ...options), folder, environment);
    expect(await run(["node", bundle], folder)).toBe("false\n");
  });

test("every public method works in a context like React Native", async () => {
  cpSync(join(projectFolder, "test/client/reduced-context.ts"), join(folder, "reduced-context.ts"));
  expect(await run([...bunCommand, "reduced-context.ts", program.origin], folder)).toBe("complete\n");
});
