// The files that make up the page and the reference. Bun bundles them from the sources when one is first requested. So
// there is no build step, no generated file that can be out of date, and no cost if nobody opens the page.

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type AssetPath, pageHtml, referenceHtml, themeColours } from "./page-html.ts";
import { authorityPath, manifestPath, type PageSettings, referencePath } from "./page-settings.ts";

/** A file that the service sends. */
export interface PageFile {
  readonly mediaType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** True if the file's name changes whenever its content does. */
  readonly immutable: boolean;
}

const browserFolder = join(import.meta.dir, "browser");

const iconSizes = [192, 512] as const;
const bundles = [
  { name: "script", source: "main.tsx", extension: "js", mediaType: "text/javascript; charset=utf-8" },
  { name: "style", source: "page.css", extension: "css", mediaType: "text/css; charset=utf-8" },
  {
    name: "reference-script",
    source: "reference/start.tsx",
    extension: "js",
    mediaType: "text/javascript; charset=utf-8",
  },
  {
    name: "reference-style",
    source: "reference/reference.css",
    extension: "css",
    mediaType: "text/css; charset=utf-8",
  },
] as const;
const documents: readonly string[] = ["/", `/${referencePath}`, `/${manifestPath}`];

export interface PageOptions {
  /** Known once the service listens. Until then, requests for the page wait. */
  readonly settings: Promise<PageSettings>;
  /**
   * Returns the path of the PEM file with the certificate of the development authority. Undefined if this service does
   * not use a development certificate.
   */
  readonly authorityFile: (() => Promise<string>) | undefined;
}

export class PageFiles {
  readonly #options: PageOptions;
  #bundled: Promise<ReadonlyMap<string, PageFile>> | undefined;
  #authorityPath: Promise<string> | undefined;
  #authorityFile: PageFile | undefined;

  constructor(options: PageOptions) {
    this.#options = options;
  }

  async find(path: string): Promise<PageFile | undefined> {
    const { authorityFile } = this.#options;
    if (path === `/${authorityPath}` && authorityFile) return this.#authority(authorityFile);
    if (!documents.includes(path) && !path.startsWith("/assets/")) return undefined;
    this.#bundled ??= this.#bundle();
    return (await this.#bundled).get(path);
  }

  /**
   * Reads the authority's certificate again on every request, because it may have been renewed. If it has not, the same
   * object is returned again.
   */
  async #authority(findFile: () => Promise<string>): Promise<PageFile> {
    this.#authorityPath ??= findFile();
    const bytes = await read(await this.#authorityPath);
    if (!this.#authorityFile || Buffer.compare(this.#authorityFile.bytes, bytes) !== 0)
      this.#authorityFile = { mediaType: "application/x-x509-ca-cert", bytes, immutable: false };
    return this.#authorityFile;
  }

  async #bundle(): Promise<ReadonlyMap<string, PageFile>> {
    const assets = [
      ...(await Promise.all(bundles.map(async ({ source, ...asset }) => ({ ...asset, bytes: await bundle(source) })))),
      { name: "icon", extension: "svg", mediaType: "image/svg+xml", bytes: await readIcon("icon.svg") },
      ...(await Promise.all(
        iconSizes.map(async (size) => ({
          name: `icon-${size}`,
          extension: "png",
          mediaType: "image/png",
          bytes: await readIcon(`icon-${size}.png`),
        })),
      )),
    ];
    const paths = new Map(
      assets.map(({ name, extension, bytes }) => [name, `assets/${name}-${hash(bytes)}.${extension}`] as const),
    );
    const files = new Map<string, PageFile>();
    for (const { name, mediaType, bytes } of assets)
      files.set(`/${paths.get(name)}`, { mediaType, bytes, immutable: true });
    const pathOf = (name: string) => paths.get(name) ?? "";
    const text = (mediaType: string, content: string): PageFile => ({
      mediaType,
      bytes: new TextEncoder().encode(content),
      immutable: false,
    });
    files.set(`/${manifestPath}`, text("application/manifest+json", manifest(pathOf)));
    files.set("/", text("text/html; charset=utf-8", pageHtml(pathOf, await this.#options.settings)));
    files.set(`/${referencePath}`, text("text/html; charset=utf-8", referenceHtml(pathOf)));
    return files;
  }
}

/** Each source is bundled by itself. Bundled together, each would contain code that only the other one uses. */
async function bundle(source: string): Promise<Uint8Array<ArrayBuffer>> {
  const { outputs } = await Bun.build({
    entrypoints: [join(browserFolder, source)],
    target: "browser",
    minify: true,
    // The bundler ignores tsconfig.json in an installed package, so its JSX settings are repeated here.
    jsx: { runtime: "automatic", importSource: "preact", development: false },
    define: { "process.env.NODE_ENV": '"production"' },
  });
  const [output] = outputs;
  if (!output) throw new Error(`the bundle of ${source} is empty`);
  return new Uint8Array(await output.arrayBuffer());
}

/**
 * Lets browsers install the page like an app. There is no service worker: many projects use the same local address in
 * turn, and ours would answer in place of the next one.
 */
function manifest(path: AssetPath): string {
  return JSON.stringify({
    name: "todoitems",
    short_name: "todoitems",
    description: "The to-do items of this service, live.",
    // Relative to the manifest, because a proxy may serve the page under any path.
    id: "./",
    start_url: "./",
    scope: "./",
    display: "standalone",
    background_color: themeColours.light,
    theme_color: themeColours.light,
    icons: [
      { src: path("icon"), type: "image/svg+xml", sizes: "any" },
      ...iconSizes.flatMap((size) =>
        ["any", "maskable"].map((purpose) => ({
          src: path(`icon-${size}`),
          type: "image/png",
          sizes: `${size}x${size}`,
          purpose,
        })),
      ),
    ],
  });
}

function readIcon(name: string): Promise<Uint8Array<ArrayBuffer>> {
  return read(join(browserFolder, name));
}

async function read(path: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await readFile(path));
}

function hash(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex").slice(0, 16);
}
