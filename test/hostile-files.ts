// Files that Bun reads from the current folder unless it is told not to. Each changes what a program does.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The file that the code in a hostile folder creates when it is run. */
export const marker = "code-was-run";

/**
 * Writes code.ts, a bunfig.toml and a tsconfig.json that would run it, and an .env. The .env names a server that client
 * commands would use.
 */
export function writeHostileFiles(folder: string, server = "http://127.0.0.1:9/"): void {
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  write("bunfig.toml", 'preload = ["./code.ts"]\n[test]\npreload = ["./code.ts"]\n');
  write("code.ts", `await Bun.write(${JSON.stringify(join(folder, marker))}, "");`);
  const paths = { "*": ["./code.ts"] };
  write("tsconfig.json", JSON.stringify({ compilerOptions: { baseUrl: ".", paths } }));
  write(".env", `TODOITEMS_SERVER=${server}\nTODOITEMS_FORMS=a\nTODOITEMS_INVENTED=1\n`);
}

let shared: string | undefined;

/** A folder with hostile files, which all tests of this process share. */
export function hostileFolder(): string {
  if (shared === undefined) {
    const folder = mkdtempSync(join(tmpdir(), "todoitems-hostile-"));
    process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
    writeHostileFiles(folder);
    shared = folder;
  }
  return shared;
}
