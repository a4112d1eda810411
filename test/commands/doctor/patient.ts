// Runs `todoitems doctor` in a folder of its own, and returns what the command says about an area.

import { chmodSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../engines/engine-kinds.ts";
import { runProgram } from "../../program.ts";

interface Finding {
  readonly area: string;
  readonly verdict: string;
  readonly text: string;
  readonly hint?: string;
}

export class Patient {
  readonly #folder = temporaryFolder();

  constructor() {
    // Let other users enter the folder. Otherwise they could not reach the files, whatever the permissions of the files
    // are.
    chmodSync(this.#folder.path, 0o755);
  }

  path(name: string): string {
    return join(this.#folder.path, name);
  }

  get environment(): Record<string, string> {
    const home = this.path("home");
    return { XDG_DATA_HOME: home, XDG_CONFIG_HOME: home };
  }

  /** Returns the findings in an area, and the exit code. */
  async examine(
    area: string,
    args: readonly string[],
    environment: Readonly<Record<string, string>> = {},
    launcher: readonly string[] = [],
  ) {
    const { exitCode, stdout, stderr } = await this.run([...args, "--json"], environment, launcher);
    if (!stdout.startsWith("{")) throw new Error(stderr);
    const { findings } = JSON.parse(stdout) as { readonly findings: readonly Finding[] };
    return { exitCode, findings: findings.filter((finding) => finding.area === area) };
  }

  run(args: readonly string[], environment: Readonly<Record<string, string>> = {}, launcher: readonly string[] = []) {
    return runProgram("doctor", {
      args,
      launcher,
      cwd: this.#folder.path,
      environment: { ...this.environment, ...environment },
    });
  }

  dispose(): void {
    this.#folder.dispose();
  }
}
