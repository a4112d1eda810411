// `todoitems edit`: changes an item, in an editor or with flags. It never overwrites somebody else's change.

import { idOf, sameId } from "../client/item-text.ts";
import { withKnownFields } from "../items/known-fields.ts";
import { printable } from "../terminal/text.ts";
import type { Arguments } from "./command-line/command.ts";
import { CommandError, UsageError } from "./command-line/errors.ts";
import { jsonFlag, printLine, remark } from "./command-line/output.ts";
import { editorOf, editText } from "./items/editor.ts";
import { fieldFlag, fieldNames, itemLabel, notesFlag, parseField, setFields } from "./items/fields.ts";
import { findItems, idNotes } from "./items/find-items.ts";
import { defineClientCommand } from "./service/connect.ts";

export const command = defineClientCommand(
  {
    name: "edit",
    parameters: "ID…",
    summary: "change items, in your editor or with flags",
    flags: [
      { name: "name", placeholder: "TEXT", meaning: "the item's name, in the field where the item keeps it" },
      notesFlag,
      fieldFlag,
      jsonFlag,
    ],
    notes: `${idNotes} Flags change only these fields. Without them, the item opens in the editor that VISUAL or EDITOR names. If your text cannot be stored, it stays in a file.`,
    example: 'edit 3f2a --name "Buy oat milk" --field Price:=1.50',
  },
  async (client, args, environment) => {
    const change = changeOf(args);
    const editor = change ? "" : editorOf(environment);
    for (const { id, item: before, etag } of await findItems(client, args.positionals)) {
      const store = async (text: string) => {
        if (!sameId(idOf(text), id))
          throw new CommandError(`The ID of an item cannot be changed. This item's ID is ${printable(id)}.`);
        await client.update(text, { ifMatch: etag });
      };
      const after = change ? (await client.change(id, change)).item : await editText(before, editor, store);
      if (args.has("json")) await printLine(after);
      else if (after === before) remark("The text is the same as before, so nothing was changed.");
      else await printLine(`Changed: ${itemLabel(id, after)}`);
    }
  },
);

/** What the flags change in an item. Undefined if there are none of these flags. */
function changeOf(args: Arguments): ((json: string) => string) | undefined {
  if (!["name", "notes", "field"].some((flag) => args.has(flag))) return undefined;
  const fields = args.texts("field").map(parseField);
  if (fields.some(({ name }) => name.toLowerCase() === "id"))
    throw new UsageError("The ID of an item cannot be changed.");
  const [name, notes] = [args.text("name")?.trim(), args.text("notes")];
  if (name === "") throw new UsageError("--name: the name is empty. Give the item's new name.");
  const texts = { ...(name !== undefined && { name }), ...(notes !== undefined && { notes }) };
  return (json) => setFields(withKnownFields(json, texts, fieldNames), fields);
}
