// `todoitems edit`: changes an item, in an editor or with flags. It never overwrites somebody else's change.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isTodoError } from "../client/errors.ts";
import { idOf, sameId } from "../client/item-text.ts";
import type { Stored } from "../client/todo-client.ts";
import { indented } from "../items/indented.ts";
import { ItemError } from "../items/item-error.ts";
import { scanObject } from "../items/json-text.ts";
import type { Environment } from "../serve/environment.ts";
import { defineCommand, positionalsOf, UsageError } from "./command.ts";
import { connect, connectionFlags } from "./connect.ts";
import { CommandError } from "./failure.ts";
import { fieldFlag, parseField, setFields } from "./fields.ts";
import { findItem } from "./find-item.ts";
import { jsonFlag, printLine } from "./output.ts";

export const edit = defineCommand(
  {
    name: "edit",
    parameters: "ID",
    summary: "change an item, in your editor or by --field",
    flags: [fieldFlag, jsonFlag, ...connectionFlags],
    notes:
      "Without --field it opens the item in $VISUAL or $EDITOR. If somebody changes the item in the meantime, theirs is kept and your text stays in a file.",
  },
  async (args, environment) => {
    const [prefix = ""] = positionalsOf(args, 1, 1, "item");
    const fields = args.texts("field").map(parseField);
    const client = await connect(args, environment);
    const stored = await findItem(client, prefix);
    const draft = fields.length > 0 ? undefined : new Draft(stored.item, environment);
    const item = draft ? await draft.edit() : setFields(stored.item, fields);
    if (item === stored.item) {
      draft?.discard();
      console.error("Nothing was changed.");
      return 0;
    }
    try {
      checkId(stored, item);
      await client.update(item, { ifMatch: stored.etag });
    } catch (error) {
      if (draft === undefined) throw error;
      if (isTodoError(error)) console.error(error.message);
      throw new CommandError(`The item was not changed. Your text is in ${draft.path}`, { cause: error });
    }
    draft?.discard();
    await printLine(args.has("json") ? item : `Changed ${stored.id}`);
    return 0;
  },
);

function checkId({ id }: Stored<string>, item: string): void {
  if (!sameId(idOf(item), id)) throw new CommandError(`An item keeps its ID; this one is ${id}.`);
}

/** The file in which the user edits an item's text. */
class Draft {
  readonly #folder = mkdtempSync(join(tmpdir(), "todoitems-"));
  readonly path = join(this.#folder, "item.json");
  readonly #original: string;
  readonly #editor: string;

  constructor(json: string, environment: Environment) {
    this.#original = json;
    this.#editor = environment["VISUAL"] || environment["EDITOR"] || (process.platform === "win32" ? "notepad" : "vi");
    writeFileSync(this.path, `${indented(json)}\n`, { mode: 0o600 });
  }

  /**
   * Runs the editor until the text is a valid JSON object, and returns the text. If the text is invalid, the user is
   * asked whether to edit it again. Throws if the user declines or if there is no terminal.
   */
  async edit(): Promise<string> {
    for (;;) {
      await this.#runEditor();
      try {
        return scanObject(readFileSync(this.path, "utf8")).text;
      } catch (error) {
        if (!(error instanceof ItemError)) throw error;
        console.error(error.message);
        if (!process.stdin.isTTY || !(await confirm("Edit it again? [Y/n] ")))
          throw new CommandError(`The item was not changed. Your text is in ${this.path}`, { cause: error });
      }
    }
  }

  discard(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  // EDITOR often contains arguments ("code --wait"), so it is run by a shell, which separates the arguments.
  async #runEditor(): Promise<void> {
    const command =
      process.platform === "win32"
        ? ["cmd", "/c", `${this.#editor} "${this.path}"`]
        : ["sh", "-c", `${this.#editor} "$1"`, "sh", this.path];
    const exitCode = await Bun.spawn(command, { stdio: ["inherit", "inherit", "inherit"] }).exited;
    if (exitCode === 0) return;
    const changed = readFileSync(this.path, "utf8") !== `${indented(this.#original)}\n`;
    if (!changed) this.discard();
    throw new UsageError(
      `The editor (${this.#editor}) ended with ${exitCode}; the item was not changed. Another editor is chosen with EDITOR.${changed ? ` Your text is in ${this.path}` : ""}`,
    );
  }
}

async function confirm(question: string): Promise<boolean> {
  process.stderr.write(question);
  for await (const line of console) return !/^n/i.test(line.trim());
  return false;
}
