// Lets the user edit an item's text once, in the editor that VISUAL or EDITOR names or, if neither is set, in vi (on
// Windows, in notepad). If the text is not stored, it stays in a file.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isatty } from "node:tty";
import { indented } from "../../items/indented.ts";
import { ItemError } from "../../items/item-error.ts";
import { scanObject } from "../../items/json-text.ts";
import type { Environment } from "../../terminal/environment.ts";
import { CommandError, UsageError } from "../command-line/errors.ts";
import { describeFailure } from "../command-line/failure.ts";

const isWindows = process.platform === "win32";

/**
 * Opens the item in the editor, and calls `store` with the edited text, unless it is the same as before. Returns that
 * text. If it is not an item, or if `store` fails, the error says in which file the text is.
 */
export async function editText(
  json: string,
  editor: string,
  store: (json: string) => Promise<unknown>,
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "todoitems-"));
  const path = join(folder, "item.json");
  writeFileSync(path, `${indented(json)}\n`, { mode: 0o600 });
  try {
    await openEditor(path, editor);
    // Some editors put a byte-order mark before the text. The decoder leaves it out.
    const text = scanObject(new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path))).text;
    if (text !== json) await store(text);
    rmSync(folder, { recursive: true });
    return text;
  } catch (error) {
    const isNoItem = error instanceof ItemError || error instanceof TypeError;
    const reason = isNoItem ? `The text is not a JSON object: ${error.message}` : describeFailure(error).message;
    throw new CommandError(`${reason} The item was not changed. Your text is in ${path}`, { cause: error });
  }
}

/** Throws in a script, unless the user has chosen an editor: nobody would close the one that opens otherwise. */
export function editorOf(environment: Environment): string {
  const own = environment["VISUAL"]?.trim() || environment["EDITOR"]?.trim();
  if (!own && !isatty(0))
    throw new UsageError(
      "There is no terminal for an editor. Say what to change with --name, --notes or --field, or set EDITOR.",
    );
  return own || (isWindows ? "notepad" : "vi");
}

async function openEditor(path: string, editor: string): Promise<void> {
  // EDITOR may contain arguments, as in "code --wait", and quotes around a path with spaces. So a shell runs it.
  const command = isWindows ? ["cmd", "/c", `${editor} "${path}"`] : ["sh", "-c", `${editor} "$1"`, "sh", path];
  // Ctrl-C in the terminal is meant for the editor. It must not end this program before the text is stored.
  const ignore = () => {};
  process.on("SIGINT", ignore);
  try {
    const exitCode = await Bun.spawn(command, { stdio: ["inherit", "inherit", "inherit"] }).exited;
    if (exitCode !== 0) throw new CommandError(`The editor ${editor} failed with exit code ${exitCode}.`);
  } finally {
    process.off("SIGINT", ignore);
  }
}
