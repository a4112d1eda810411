// A copy of the project with one mistake in it, in a folder of its own.

import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { bunCommand } from "../bun-command.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { projectFolder } from "../program.ts";
import { timeLimitMs } from "../time-limit.ts";
import type { Break, NoticingTest } from "./table.ts";

/** The text of the file with the mistake. Throws if the row no longer fits the file. */
export function brokenText({ name, file, text, replacement }: Break): string {
  const [before, after, ...more] = readFileSync(join(projectFolder, file), "utf8").split(text);
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error(`${name}: this text must be in ${file} once: ${text}`);
  return before + replacement + after;
}

class BrokenCopy {
  readonly #folder = temporaryFolder();

  constructor(broken: Break) {
    for (const file of projectFiles()) this.#write(file, (to) => copyFileSync(join(projectFolder, file), to));
    this.#write(broken.file, (to) => writeFileSync(to, brokenText(broken)));
    symlinkSync(join(projectFolder, "node_modules"), join(this.#folder.path, "node_modules"));
  }

  #write(file: string, write: (to: string) => void): void {
    const to = join(this.#folder.path, file);
    mkdirSync(dirname(to), { recursive: true });
    write(to);
  }

  /** Says why this does not show that the tests notice the mistake. Undefined if they do. */
  async objection({ file, title, environment }: NoticingTest): Promise<string | undefined> {
    const test = Bun.spawn(
      [
        ...[...bunCommand, "test", `--timeout=${timeLimitMs}`, `./${file}`],
        ...(title === undefined ? [] : ["-t", title]),
      ],
      {
        cwd: this.#folder.path,
        env: { ...process.env, ...environment },
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      },
    );
    const [exitCode, ...texts] = await Promise.all([test.exited, test.stdout.text(), test.stderr.text()]);
    const output = texts.join("");
    if (exitCode === 0) return `${file} passes`;
    if (output.includes("timed out after")) return `${file} takes too long`;
    // A file that cannot be loaded, or has no test with this title, fails as well.
    return /^\(fail\) /m.test(output) ? undefined : `${file} has no test that fails:\n${output.slice(-2_000)}`;
  }

  dispose(): void {
    this.#folder.dispose();
  }
}

/** Makes the mistake in a copy, and returns why the tests do not notice it. Empty if they all do. */
export async function objectionsTo(broken: Break): Promise<string[]> {
  const copy = new BrokenCopy(broken);
  try {
    const objections: string[] = [];
    for (const test of broken.tests) {
      const objection = await copy.objection(test);
      if (objection !== undefined) objections.push(objection);
    }
    return objections;
  } finally {
    copy.dispose();
  }
}

/** Every file that is not ignored, committed or not. */
function projectFiles(): string[] {
  const { stdout } = Bun.spawnSync(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: projectFolder,
  });
  const files = stdout.toString().split("\0");
  return [...new Set(files)].filter((file) => file !== "" && existsSync(join(projectFolder, file)));
}
