// The files that make up the page and the reference. All of them are made when one of them is first requested, so they
// cost nothing if nobody opens the page. Unless this is a single executable, they are made from the sources, so there
// is no build step and no generated file that can be out of date. The certificate of the development authority, which
// the page offers for download, is found here, too.

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { parse } from "node:path";
import { pageAssets } from "./page-assets.ts";
import { type AssetPath, pageHtml, referenceHtml, themeColours } from "./page-html.ts";
import { authorityPath, manifestPath, type PageSettings, referencePath, workerPath } from "./page-settings.ts";

export interface PageFile {
  readonly mediaType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** True if the file's name changes whenever its content does. */
  readonly immutable: boolean;
}

/**
 * Assets that always have the same address: browsers ask for the favicon beside any JSON, and a service worker controls
 * what is below its address.
 */
const fixedPaths: ReadonlyMap<string, string> = new Map([
  ["icon-192.png", "favicon.ico"],
  ["service-worker.js", workerPath],
]);

const named = ["", referencePath, manifestPath, ...fixedPaths.values()].map((path) => `/${path}`);

/** The page of a named list is served with or without a slash at the end of its address. */
const roots = ["", "../", "../../"];

export interface PageOptions {
  /** Known once the service listens. Until then, requests for the page wait. */
  readonly settings: Promise<Omit<PageSettings, "root">>;
  /**
   * Returns the path of the PEM file with the certificate of the development authority. Undefined if this service does
   * not use a development certificate.
   */
  readonly authorityFile: (() => Promise<string>) | undefined;
}

export class PageFiles {
  readonly #options: PageOptions;
  #made: Promise<ReadonlyMap<string, PageFile>> | undefined;
  #authorityPath: Promise<string> | undefined;

  constructor(options: PageOptions) {
    this.#options = options;
  }

  /** If there is a `pageDepth`, finds the page of a list, which is this many folders below the service's own address. */
  async find(path: string, pageDepth?: number): Promise<PageFile | undefined> {
    const { authorityFile } = this.#options;
    if (path === `/${authorityPath}` && authorityFile) return this.#authority(authorityFile);
    const key = pageDepth === undefined ? path : `/${"../".repeat(pageDepth)}`;
    if (pageDepth === undefined && !named.includes(path) && !path.startsWith("/assets/")) return undefined;
    this.#made ??= this.#make();
    return (await this.#made).get(key);
  }

  /** Reads the authority's certificate again on every request, because it may have been renewed. */
  async #authority(findFile: () => Promise<string>): Promise<PageFile> {
    this.#authorityPath ??= findFile();
    const bytes = new Uint8Array(await readFile(await this.#authorityPath));
    return { mediaType: "application/x-x509-ca-cert", bytes, immutable: false };
  }

  async #make(): Promise<ReadonlyMap<string, PageFile>> {
    const assets = await pageAssets();
    const paths = new Map<string, string>();
    const files = new Map<string, PageFile>();
    for (const { name: asset, bytes } of assets) {
      const { name, ext } = parse(asset);
      const fixedPath = fixedPaths.get(asset);
      const path = fixedPath ?? `assets/${name}-${hash(bytes)}${ext}`;
      paths.set(asset, path);
      files.set(`/${path}`, { mediaType: Bun.file(asset).type, bytes, immutable: fixedPath === undefined });
    }
    const pathOf = (name: string) => paths.get(name) ?? "";
    const text = (mediaType: string, content: string): PageFile => ({
      mediaType,
      bytes: new TextEncoder().encode(content),
      immutable: false,
    });
    files.set(`/${manifestPath}`, text("application/manifest+json", manifest(pathOf)));
    const settings = await this.#options.settings;
    for (const root of roots)
      files.set(`/${root}`, text("text/html; charset=utf-8", pageHtml(pathOf, { ...settings, root })));
    files.set(`/${referencePath}`, text("text/html; charset=utf-8", referenceHtml(pathOf)));
    return files;
  }
}

/** Lets browsers install the page like an app. */
function manifest(path: AssetPath): string {
  return JSON.stringify({
    name: "todoitems",
    short_name: "todoitems",
    description: "The to-do items of this service, live.",
    // These addresses are relative to the manifest, because a proxy may serve the page under any path.
    id: "./",
    start_url: "./",
    scope: "./",
    display: "standalone",
    background_color: themeColours.light,
    theme_color: themeColours.light,
    icons: [
      { src: path("icon.svg"), type: "image/svg+xml", sizes: "any" },
      ...[192, 512].flatMap((size) =>
        ["any", "maskable"].map((purpose) => ({
          src: path(`icon-${size}.png`),
          type: "image/png",
          sizes: `${size}x${size}`,
          purpose,
        })),
      ),
    ],
  });
}

function hash(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex").slice(0, 16);
}
