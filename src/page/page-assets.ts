// The scripts, styles and icons of the page and of the reference. Bun bundles the scripts and styles from the sources.
// A single executable has no sources: it contains the finished assets, which `npm run release -- --only executables` makes with the
// same functions.
// Why: docs/decisions/0041-the-page-is-bundled-when-asked-for.md

import { readFile } from "node:fs/promises";
import { join } from "node:path";

export interface PageAsset {
  readonly name: string;
  readonly extension: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

type Source = Omit<PageAsset, "bytes"> & { readonly source: string };

const browserFolder = join(import.meta.dir, "browser");
const script = { extension: "js", mediaType: "text/javascript; charset=utf-8" };
const style = { extension: "css", mediaType: "text/css; charset=utf-8" };

export const iconSizes = [192, 512] as const;
const sources: readonly Source[] = [
  { name: "script", source: "main.tsx", ...script },
  { name: "service-worker", source: "service-worker.ts", ...script },
  { name: "samples", source: "samples.ts", ...script },
  { name: "style", source: "page.css", ...style },
  { name: "reference-script", source: "reference/start.tsx", ...script },
  { name: "reference-style", source: "reference/reference.css", ...style },
  { name: "icon", source: "icon.svg", extension: "svg", mediaType: "image/svg+xml" },
  ...iconSizes.map((size) => ({
    name: `icon-${size}`,
    source: `icon-${size}.png`,
    extension: "png",
    mediaType: "image/png",
  })),
];

/** The folder in an executable that contains the finished assets. */
export const assetFolder = "page-assets";

/** The name of an asset's file in that folder. */
export function assetFile({ name, extension }: Pick<PageAsset, "name" | "extension">): string {
  return `${name}.${extension}`;
}

export function pageAssets(): Promise<PageAsset[]> {
  return Promise.all(sources.map(async ({ source, ...asset }) => ({ ...asset, bytes: await make(source, asset) })));
}

function make(source: string, asset: Omit<PageAsset, "bytes">): Promise<Uint8Array<ArrayBuffer>> {
  if (Bun.isStandaloneExecutable) return read(join(import.meta.dir, assetFolder, assetFile(asset)));
  const path = join(browserFolder, source);
  return asset.extension === "js" || asset.extension === "css" ? bundle(path) : read(path);
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
