// The user's editor: the one that VISUAL or EDITOR names or, if neither is set, vi (on Windows, notepad). If the editor
// fails, this class says why in plain words.

import { existsSync } from "node:fs";
import { isSystemError, systemReason } from "../files/system-reason.ts";
import type { Environment } from "../terminal/environment.ts";

/** Matches text that is more than the name of a program and its arguments. Only a shell can run such text. */
const shellSyntax = /[;&|<>()`\n]|^\w+=/;

export class Editor {
  readonly #variable: "VISUAL" | "EDITOR";
  readonly #text: string;
  /** False if neither VISUAL nor EDITOR is set. */
  readonly #isNamed: boolean;

  constructor(environment: Environment) {
    const [visual, editor] = [environment["VISUAL"]?.trim(), environment["EDITOR"]?.trim()];
    this.#variable = visual ? "VISUAL" : "EDITOR";
    this.#isNamed = Boolean(visual || editor);
    this.#text = visual || editor || (process.platform === "win32" ? "notepad" : "vi");
  }

  /** Opens a file in the editor and waits until the editor ends. Returns why it failed, or undefined if it did not. */
  async open(path: string): Promise<string | undefined> {
    const unchanged = "so the item was not changed";
    // An editor that the user has named may be a script, and need no terminal.
    if (!this.#isNamed && !(process.stdin.isTTY && process.stdout.isTTY))
      return `The editor ${this.#text} needs a terminal, ${unchanged}. Give the change with --name, --notes or --field, or set EDITOR to a program that needs no terminal.`;
    const failure = await this.#run(path);
    if (failure === undefined) return undefined;
    const other = this.#text.startsWith("nano") ? "vi" : "nano";
    const advice = `To use another editor, set ${this.#variable}, for example ${this.#variable}=${other}.`;
    return `The editor ${this.#text} ${failure}, ${unchanged}. ${advice}`;
  }

  async #run(path: string): Promise<string | undefined> {
    const command = this.#commandFor(path);
    if (!command) return "is not a valid command";
    // Ctrl-C in the terminal is meant for the editor. It must not end this program before the text is stored.
    const ignore = () => {};
    process.on("SIGINT", ignore);
    try {
      const editor = Bun.spawn(command, { stdio: ["inherit", "inherit", "inherit"] });
      const exitCode = await editor.exited;
      if (editor.signalCode !== null) return `was ended by the signal ${editor.signalCode}`;
      return exitCode === 0 ? undefined : `failed with exit code ${exitCode}`;
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return "was not found";
      if (isSystemError(error)) return `cannot be started (${systemReason(error)})`;
      throw error;
    } finally {
      process.off("SIGINT", ignore);
    }
  }

  /**
   * The words of the command that opens a file. EDITOR may contain arguments, as in "code --wait", and quotes around a
   * path with spaces. So a shell separates the words. But the shell runs the editor only if the text needs that,
   * because a shell prints messages of its own if the editor fails.
   */
  #commandFor(path: string): string[] | undefined {
    if (process.platform === "win32") return ["cmd", "/c", `${this.#text} "${path}"`];
    // The path of a program may contain blanks, and have no quotes around it.
    if (existsSync(this.#text)) return [this.#text, path];
    if (shellSyntax.test(this.#text)) return ["sh", "-c", `${this.#text} "$1"`, "sh", path];
    const { exitCode, stdout } = Bun.spawnSync(["sh", "-c", `printf '%s\\0' ${this.#text}`], { stderr: "ignore" });
    const words = stdout.toString().split("\0").slice(0, -1);
    return exitCode === 0 && words[0] ? [...words, path] : undefined;
  }
}
