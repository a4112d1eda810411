// The scripts, styles and icons of the page and of the reference. Bun bundles the scripts and styles from the sources.
// A single executable has no sources: it contains the finished assets, which `npm run release -- --only executables`
// makes with the same functions.
// Why: docs/decisions/0041-the-page-is-bundled-when-asked-for.md

import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";

export interface PageAsset {
  /** The name of a file. Its extension says what kind of asset this is. */
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const browserFolder = join(import.meta.dir, "browser");

/** The source of each asset, in that folder. */
const sources = {
  "script.js": "main.tsx",
  "service-worker.js": "service-worker.ts",
  "samples.js": "samples.ts",
  "style.css": "page.css",
  "reference-script.js": "reference/start.tsx",
  "reference-style.css": "reference/reference.css",
  "icon.svg": "icon.svg",
  "icon-192.png": "icon-192.png",
  "icon-512.png": "icon-512.png",
};

/** The folder in an executable that contains the finished assets. */
export const assetFolder = "page-assets";

export function pageAssets(): Promise<PageAsset[]> {
  return Promise.all(
    Object.entries(sources).map(async ([name, source]) => ({ name, bytes: await make(name, source) })),
  );
}

function make(name: string, source: string): Promise<Uint8Array<ArrayBuffer>> {
  if (Bun.isStandaloneExecutable) return read(join(import.meta.dir, assetFolder, name));
  const path = join(browserFolder, source);
  return [".js", ".css"].includes(extname(name)) ? bundle(path) : read(path);
}

/**
 * Bundles one source by itself. If the page and the reference were bundled together, each would contain code that only
 * the other one uses.
 */
async function bundle(path: string): Promise<Uint8Array<ArrayBuffer>> {
  const { outputs } = await Bun.build({
    entrypoints: [path],
    target: "browser",
    minify: true,
    // The bundler ignores tsconfig.json in an installed package, so its JSX settings are repeated here.
    jsx: { runtime: "automatic", importSource: "preact", development: false },
    define: { "process.env.NODE_ENV": '"production"' },
  });
  const [output] = outputs;
  if (!output) throw new Error(`the bundle of ${path} is empty`);
  return new Uint8Array(await output.arrayBuffer());
}

async function read(path: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await readFile(path));
}
