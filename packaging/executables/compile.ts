// Makes one executable: the program and a Bun binary in a single file, which needs neither Node nor node_modules. The
// page's scripts, styles and icons are embedded. Elsewhere the program bundles them from its sources, which an
// executable does not have.
// Why: docs/decisions/0077-single-executables.md

import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { assetFolder, pageAssets } from "../../src/page/page-assets.ts";
import { withoutSignature } from "./mach-o.ts";
import { projectFolder } from "./platforms.ts";

export interface CompileOptions {
  readonly outfile: string;
  /** The Bun binary that goes into the executable. It decides on which platform the executable runs. */
  readonly runtime: string;
  readonly target?: Bun.Build.CompileTarget;
}

const source = (path: string) => join(projectFolder, "src", path);

/** The main program must be first. The other one is the program of its SQLite thread. */
const entryPoints = [source("main.ts"), source("engines/sqlite/sqlite-thread.ts")];

/** What the bundler has put into the executable, besides the page. */
export interface Compiled {
  /** The names of the npm packages whose code is inside. */
  readonly packages: readonly string[];
}

export async function compile({ outfile, runtime, target }: CompileOptions): Promise<Compiled> {
  // Build in a temporary folder, because the bundler also writes source maps beside the executable. Nobody needs them,
  // because the executable contains them too.
  const folder = mkdtempSync(`${outfile}-`);
  try {
    const assets = join(folder, assetFolder);
    const made = join(folder, basename(outfile));
    mkdirSync(assets);
    for (const { name, bytes } of await pageAssets()) writeFileSync(join(assets, name), bytes);
    const { metafile } = await Bun.build({
      entrypoints: entryPoints,
      // Put both programs in one folder: the main program looks for the thread's program beside itself.
      naming: "[name].[ext]",
      compile: {
        outfile: made,
        executablePath: runtime,
        ...(target === undefined ? {} : { target }),
        assets: [assets],
        // Bun would read .env and bunfig.toml from the current folder. Both files could change what the program does.
        autoloadDotenv: false,
        autoloadBunfig: false,
      },
      // With a source map, stack traces in a log name the files and lines of the sources.
      sourcemap: "inline",
      metafile: true,
    });
    if (target === "bun-darwin-x64") writeFileSync(made, withoutSignature(new Uint8Array(readFileSync(made))));
    renameSync(made, outfile);
    return { packages: packagesOf(Object.keys(metafile?.inputs ?? {})) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function packagesOf(paths: readonly string[]): string[] {
  const names = paths.flatMap((path) => /.*\bnode_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
  return [...new Set(names)].sort();
}
