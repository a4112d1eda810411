// The platforms that executables are built for. For each, npm has a package with the Bun binary that goes into the
// executable.

import { join } from "node:path";

export interface Platform {
  /** The platform as in the executable's name: `linux-x64` in `todoitems-linux-x64`. */
  readonly name: string;
  readonly target: Bun.Build.CompileTarget;
  readonly runtimePackage: string;
}

export const projectFolder = join(import.meta.dir, "../..");

export const platforms: readonly Platform[] = [
  { name: "linux-x64", target: "bun-linux-x64", runtimePackage: "@oven/bun-linux-x64" },
  { name: "linux-arm64", target: "bun-linux-arm64", runtimePackage: "@oven/bun-linux-aarch64" },
  { name: "linux-x64-musl", target: "bun-linux-x64-musl", runtimePackage: "@oven/bun-linux-x64-musl" },
  { name: "linux-arm64-musl", target: "bun-linux-arm64-musl", runtimePackage: "@oven/bun-linux-aarch64-musl" },
  { name: "macos-x64", target: "bun-darwin-x64", runtimePackage: "@oven/bun-darwin-x64" },
  { name: "macos-arm64", target: "bun-darwin-arm64", runtimePackage: "@oven/bun-darwin-aarch64" },
  { name: "windows-x64", target: "bun-windows-x64", runtimePackage: "@oven/bun-windows-x64" },
];

export function executableName({ name }: Platform): string {
  return `todoitems-${name}${name.startsWith("windows") ? ".exe" : ""}`;
}
