// `npm run release -- --only executables`: writes an executable for each platform into release/. It also writes their
// checksums, sizes and start times, a bill of materials, and the licences of what is inside. As a program of its own,
// its arguments select platforms: `node bin/bun.js packaging/executables/build.ts linux-x64`.

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { version } from "../../package.json";
import { billOfMaterials } from "./bill-of-materials.ts";
import { compile } from "./compile.ts";
import { licenceText } from "./licences.ts";
import { executableName, type Platform, platforms, projectFolder } from "./platforms.ts";
import { installRuntime, runtimeOf } from "./runtimes.ts";
import { startMs } from "./start-time.ts";

interface Figures {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
  /**
   * The time from the start of the process to the line that says it is ready. Undefined if the executable does not run
   * on this machine.
   */
  readonly startMs: number | undefined;
}

const releaseFolder = join(projectFolder, "release");
const inRelease = (name: string) => join(releaseFolder, name);

const wanted = selectedPlatforms(process.argv.slice(2));
wanted.forEach(installRuntime);
mkdirSync(releaseFolder, { recursive: true });
for (const platform of platforms) rmSync(inRelease(executableName(platform)), { force: true });
const built: Figures[] = [];
for (const platform of wanted) {
  const figures = await build(platform);
  built.push(figures);
  const start = figures.startMs === undefined ? "not run here" : `ready after ${figures.startMs.toFixed(0)} ms`;
  console.log(`${figures.name.padEnd(28)} ${(figures.bytes / 1e6).toFixed(1).padStart(6)} MB  ${start}`);
}
writeFileSync(inRelease("SHA256SUMS"), built.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join(""));
writeFileSync(inRelease("figures.json"), json({ version, bun: Bun.version, executables: built }));
writeFileSync(inRelease("sbom.cdx.json"), json(billOfMaterials()));
writeFileSync(inRelease("LICENCES.txt"), licenceText());

async function build(platform: Platform): Promise<Figures> {
  const runtime = runtimeOf(platform);
  if (runtime === undefined) throw new Error(`${platform.runtimePackage} contains no Bun binary`);
  const name = executableName(platform);
  const outfile = inRelease(name);
  await compile({ outfile, runtime, target: platform.target });
  const bytes = readFileSync(outfile);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return { name, bytes: bytes.byteLength, sha256, startMs: await startMs(outfile) };
}

function selectedPlatforms(names: readonly string[]): readonly Platform[] {
  const unknown = names.filter((name) => !platforms.some((platform) => platform.name === name));
  if (unknown.length > 0) {
    console.error(`error: unknown platform ${unknown.join(", ")}. Use ${platforms.map(({ name }) => name).join(", ")}`);
    process.exit(2);
  }
  return names.length === 0 ? platforms : platforms.filter(({ name }) => names.includes(name));
}

function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
