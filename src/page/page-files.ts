// The files that make up the page. Bun bundles them from the sources when the page is first requested. So there is no
// build step, no generated file that can be out of date, and no cost if nobody opens the page.

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { authorityPath, listPath, type PageSettings, settingsMetaName } from "./page-settings.ts";

/** A file that the service sends. */
export interface PageFile {
  readonly mediaType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** True if the file's name changes whenever its content does. */
  readonly immutable: boolean;
}

const browserFolder = join(import.meta.dir, "browser");

const manifestPath = "manifest.webmanifest";
const iconSizes = [192, 512] as const;
/** The colours behind the page, as in page.css. */
const themeColours = { light: "#f5f4f0", dark: "#141618" };

export interface PageOptions {
  readonly settings: PageSettings;
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
    if (path !== "/" && path !== `/${manifestPath}` && !path.startsWith("/assets/")) return undefined;
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
    const build = await Bun.build({
      entrypoints: [join(browserFolder, "main.tsx"), join(browserFolder, "page.css")],
      target: "browser",
      minify: true,
      // The bundler ignores tsconfig.json in an installed package, so its JSX settings are repeated here.
      jsx: { runtime: "automatic", importSource: "preact", development: false },
      define: { "process.env.NODE_ENV": '"production"' },
    });
    const bytesOf = async (extension: string) => {
      const output = build.outputs.find(({ path }) => path.endsWith(extension));
      if (!output) throw new Error(`the page's bundle has no ${extension} file`);
      return new Uint8Array(await output.arrayBuffer());
    };
    const assets = [
      { name: "script", extension: "js", mediaType: "text/javascript; charset=utf-8", bytes: await bytesOf(".js") },
      { name: "style", extension: "css", mediaType: "text/css; charset=utf-8", bytes: await bytesOf(".css") },
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
    files.set("/", text("text/html; charset=utf-8", this.#html(pathOf)));
    return files;
  }

  // The addresses in the HTML are relative, because a proxy may serve the page under any path.
  #html(path: (name: string) => string): string {
    const settings = escapeAttribute(JSON.stringify(this.#options.settings));
    return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="The to-do items of this service, live.">
<meta name="${settingsMetaName}" content="${settings}">
<title>todoitems</title>
<meta name="theme-color" media="(prefers-color-scheme: light)" content="${themeColours.light}">
<meta name="theme-color" media="(prefers-color-scheme: dark)" content="${themeColours.dark}">
<link rel="icon" type="image/svg+xml" href="${path("icon")}">
<link rel="apple-touch-icon" href="${path("icon-192")}">
<link rel="manifest" href="${manifestPath}">
<link rel="stylesheet" href="${path("style")}">
<script type="module" src="${path("script")}"></script>
</head>
<body>
<div id="page"></div>
<noscript><p>This page needs JavaScript. The items are also at <a href="${listPath}">${listPath}</a>.</p></noscript>
</body>
</html>
`;
  }
}

/**
 * Lets browsers install the page like an app. There is no service worker: many projects use the same local address in
 * turn, and ours would answer in place of the next one.
 */
function manifest(path: (name: string) => string): string {
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

function escapeAttribute(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}
