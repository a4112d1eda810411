// `npm run build`: builds the published client in the folder `dist` of the package that npm packs, as ES modules and as
// CommonJS, with types for both.
// Why: docs/decisions/0034-what-is-published.md

import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const project = join(import.meta.dir, "..");
const code = join(process.cwd(), "dist/client");
const types = join(process.cwd(), "dist/types");
for (const folder of [code, types]) rmSync(folder, { recursive: true, force: true });

// What the two entry points share is in a file of its own, so that there is one copy of it.
await Bun.build({
  entrypoints: ["index.ts", "offline.ts"].map((name) => join(project, "src/client", name)),
  target: "browser",
  splitting: true,
  outdir: code,
  naming: { entry: "[name].js", chunk: "shared.js" },
});

// Bun splits only ES modules, so CommonJS is made from the files that are already split.
await Bun.build({
  entrypoints: readdirSync(code).map((name) => join(code, name)),
  target: "browser",
  format: "cjs",
  outdir: code,
  naming: "[name].cjs",
  plugins: [
    {
      name: "keeps the shared file apart",
      setup: ({ onResolve }) => {
        onResolve({ filter: /^\.\/shared\.js$/ }, () => ({ path: "./shared.cjs", external: true }));
      },
    },
  ],
});

const compiler = join(project, "node_modules/typescript/bin/tsc");
const compilation = Bun.spawnSync(["node", compiler, "-p", "tsconfig.client.json", "--outDir", types], {
  cwd: project,
  stdio: ["ignore", "inherit", "inherit"],
});
if (!compilation.success) process.exit(1);
// TypeScript tells from a file's name that it declares CommonJS. Such a file may import only others of its kind.
for (const path of readdirSync(types, { recursive: true, encoding: "utf8" })) {
  if (!path.endsWith(".d.ts")) continue;
  const declarations = readFileSync(join(types, path), "utf8");
  const renamed = declarations.replaceAll(/"(\.{1,2}\/[^"]+)\.ts"/g, '"$1.cts"');
  writeFileSync(join(types, path.replace(/ts$/, "cts")), renamed);
}
