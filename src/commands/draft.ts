// The file in which the user edits an item's text, and the question whether to edit it again.

import { isUtf8 } from "node:buffer";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemReason } from "../files/system-reason.ts";
import { indented } from "../items/indented.ts";
import { ItemError } from "../items/item-error.ts";
import { scanObject } from "../items/json-text.ts";
import type { Environment } from "../terminal/environment.ts";
import { Editor } from "./editor.ts";
import { CommandError } from "./failure.ts";
import { LineReader } from "./line-reader.ts";
import { remarkError } from "./output.ts";

export class Draft {
  readonly #folder = mkdtempSync(join(tmpdir(), "todoitems-"));
  readonly path = join(this.#folder, "item.json");
  readonly #editor: Editor;

  constructor(environment: Environment) {
    this.#editor = new Editor(environment);
  }

  /**
   * Runs the editor on this item until the text is a valid JSON object, and returns the text. If the text is invalid,
   * the user is asked whether to edit it again. Throws if the user declines, or cannot be asked because there is no
   * terminal. Also throws if the editor fails, or if the edited text cannot be read.
   */
  async edit(json: string): Promise<string> {
    const original = `${indented(json)}\n`;
    this.#write(original);
    for (;;) {
      await this.#openEditor(original);
      const bytes = this.#read();
      try {
        if (!isUtf8(bytes)) throw new ItemError("InvalidJson", "Its encoding is not UTF-8.");
        // Some editors put a byte-order mark before the text. The decoder leaves it out.
        return scanObject(new TextDecoder().decode(bytes)).text;
      } catch (error) {
        if (!(error instanceof ItemError)) throw error;
        remarkError(`The text is not a JSON object: ${error.message}`);
        if (!(await agrees("Edit it again?"))) throw this.keep(error);
      }
    }
  }

  /** Returns the error to throw if the edited text is not stored. The message says in which file the text is. */
  keep(cause: unknown, reason = "The item was not changed."): CommandError {
    return new CommandError(`${reason} Your text is in ${this.path}`, { cause });
  }

  discard(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #openEditor(original: string): Promise<void> {
    const failure = await this.#editor.open(this.path);
    if (failure === undefined) return;
    if (existsSync(this.path) && !this.#read().equals(Buffer.from(original))) throw this.keep(undefined, failure);
    this.discard();
    throw new CommandError(failure);
  }

  #write(text: string): void {
    try {
      writeFileSync(this.path, text, { mode: 0o600 });
    } catch (cause) {
      this.discard();
      const reason = `${this.path}: ${systemReason(cause)}`;
      const problem = "The item was not changed, because its text cannot be written for the editor.";
      throw new CommandError(`${problem} ${reason}.`, { cause });
    }
  }

  #read(): Buffer {
    try {
      return readFileSync(this.path);
    } catch (cause) {
      const reason = `${this.path}: ${systemReason(cause)}`;
      throw new CommandError(`The item was not changed, because the edited text cannot be read. ${reason}.`, { cause });
    }
  }
}

/** Asks a question that Enter answers with yes, and Ctrl-C with no. Without a terminal, the answer is no. */
export async function agrees(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) return false;
  const { promise: cancelled, resolve: cancel } = Promise.withResolvers<undefined>();
  const onSignal = () => cancel(undefined);
  process.on("SIGINT", onSignal);
  // Ask only after the handler for Ctrl-C is set, because the user may press Ctrl-C at once.
  process.stderr.write(`${question} [Y/n] `);
  const lines = new LineReader(process.stdin);
  const answer = await Promise.race([answerIn(lines), cancelled]);
  lines.close();
  if (answer === undefined) process.stderr.write("\n");
  const isAgreed = answer !== undefined && !answer.startsWith("n");
  // After a no, the program says in which file the text is, and ends. Until then, Ctrl-C must not end it, and it may
  // come twice: a program that runs this one may pass the signal on.
  if (isAgreed) process.off("SIGINT", onSignal);
  return isAgreed;
}

/** Reads the answer, in lower case. Undefined if there is none, as after Ctrl-D. */
async function answerIn(lines: LineReader): Promise<string | undefined> {
  const line = await lines.next();
  return typeof line === "string" || lines.hasEnded ? undefined : line.text.trim().toLowerCase();
}
