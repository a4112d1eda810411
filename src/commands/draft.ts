// The file in which the user edits an item's text.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { indented } from "../items/indented.ts";
import { ItemError } from "../items/item-error.ts";
import { scanObject } from "../items/json-text.ts";
import type { Environment } from "../serve/environment.ts";
import { CommandError } from "./failure.ts";
import { remark } from "./output.ts";

/** The exit code of a shell that does not find the program. */
const notFoundExitCode = 127;

export class Draft {
  readonly #folder = mkdtempSync(join(tmpdir(), "todoitems-"));
  readonly path = join(this.#folder, "item.json");
  readonly #editor: string;

  constructor(environment: Environment) {
    this.#editor = environment["VISUAL"] || environment["EDITOR"] || (process.platform === "win32" ? "notepad" : "vi");
  }

  /**
   * Runs the editor on this item until the text is a valid JSON object, and returns the text. If the text is invalid,
   * the user is asked whether to edit it again. Throws if the user declines or if there is no terminal.
   */
  async edit(json: string): Promise<string> {
    const original = `${indented(json)}\n`;
    writeFileSync(this.path, original, { mode: 0o600 });
    for (;;) {
      await this.#runEditor(original);
      try {
        return scanObject(readFileSync(this.path, "utf8")).text;
      } catch (error) {
        if (!(error instanceof ItemError)) throw error;
        remark(`The text is not a JSON object: ${error.message}`);
        if (!(await agrees("Edit it again?"))) throw this.keep(error);
      }
    }
  }

  /** The error that says where the text is. */
  keep(cause: unknown, reason = "The item was not changed."): CommandError {
    return new CommandError(`${reason} Your text is in ${this.path}`, { cause });
  }

  discard(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  // EDITOR often contains arguments ("code --wait"), so it is run by a shell, which separates the arguments.
  async #runEditor(original: string): Promise<void> {
    const command =
      process.platform === "win32"
        ? ["cmd", "/c", `${this.#editor} "${this.path}"`]
        : ["sh", "-c", `${this.#editor} "$1"`, "sh", this.path];
    const exitCode = await Bun.spawn(command, { stdio: ["inherit", "inherit", "inherit"] }).exited;
    if (exitCode === 0) return;
    const what = exitCode === notFoundExitCode ? "was not found" : `failed with exit code ${exitCode}`;
    const reason = `The editor ${this.#editor} ${what}, so the item was not changed. The variable EDITOR names the editor.`;
    if (readFileSync(this.path, "utf8") !== original) throw this.keep(undefined, reason);
    this.discard();
    throw new CommandError(reason);
  }
}

/** Asks a question that Enter answers with yes. Without a terminal, the answer is no. */
export async function agrees(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) return false;
  process.stderr.write(`${question} [Y/n] `);
  for await (const line of console) return !line.trim().toLowerCase().startsWith("n");
  return false;
}
