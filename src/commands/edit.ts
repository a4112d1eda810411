// `todoitems edit`: changes an item, in an editor or with flags. It never overwrites somebody else's change.

import type { Stored } from "../client/client-options.ts";
import { hasStatus, isTodoError } from "../client/errors.ts";
import { idOf, sameId } from "../client/item-text.ts";
import type { TodoClient } from "../client/todo-client.ts";
import { mergeFields } from "../items/field-merge.ts";
import { printable } from "../terminal/text.ts";
import { type Arguments, defineCommand, positionalsOf, UsageError } from "./command.ts";
import { connect } from "./connect.ts";
import { connectionFlags } from "./connection-flags.ts";
import { agrees, Draft } from "./draft.ts";
import { adviceForWords, areIds } from "./edit-words.ts";
import { CommandError, explain, isRefusedItem } from "./failure.ts";
import { describeChanges } from "./field-changes.ts";
import {
  type Field,
  fieldFlag,
  nameFieldOf,
  notesFlag,
  parseField,
  refuseDoubles,
  setFields,
  splitField,
  titleOf,
  warnOfSecondNames,
} from "./fields.ts";
import { findItem } from "./find-item.ts";
import type { Flag } from "./flag.ts";
import { jsonFlag, printLine, remark, remarkError } from "./output.ts";
import { asTypedHere } from "./typed-here.ts";

type Client = TodoClient<string>;
type StoredText = Stored<string>;

const nameFlag: Flag = {
  name: "name",
  placeholder: "TEXT",
  meaning: "the item's name, in the field where the item keeps it, such as Name or title",
  isContent: true,
  triedInstead: {
    done: markAdvice,
    complete: markAdvice,
    completed: markAdvice,
    undone: reopenAdvice,
    undo: reopenAdvice,
    reopen: reopenAdvice,
    remove: removeAdvice,
    delete: removeAdvice,
    unset: removeAdvice,
    "unset-field": removeAdvice,
    "remove-field": removeAdvice,
    "delete-field": removeAdvice,
  },
};

export const edit = defineCommand(
  {
    name: "edit",
    parameters: "ID",
    summary: "change an item, in your editor or with flags",
    flags: [nameFlag, notesFlag, fieldFlag, jsonFlag, ...connectionFlags],
    notes:
      "Without --name, --notes and --field, the item opens in the editor that VISUAL or EDITOR names. If somebody else changes the item meanwhile, you see what they changed and can edit again. Your text is never lost: if it cannot be stored, it stays in a file.",
    example: 'edit 3f2a --name "Buy oat milk" --field Price:=1.50',
  },
  async (args, environment) => {
    const [first = "", ...words] = args.positionals;
    const setsFields = ["name", "notes", "field"].some((flag) => args.has(flag));
    const isText = args.loose.some(({ start }) => start > 0);
    if (!isText && areIds(words, setsFields)) throw new UsageError("edit changes one item. Run it once for each ID.");
    // A second name would be no help.
    const isNamed = args.has("name") && !words.some(splitField);
    const [prefix = ""] = positionalsOf(args, 1, 1, "ID", isNamed ? "" : adviceForWords(first, words));
    const name = nameIn(args);
    const others = fieldsIn(args);
    refuseDoubles(others);
    const client = await connect(args, environment);
    const stored = await findItem(client, prefix);
    const named = name === undefined ? [] : [{ name: nameFieldOf(stored.item) ?? "Name", json: JSON.stringify(name) }];
    const fields = [...named, ...others];
    refuseDoubles(fields);
    const item =
      fields.length > 0
        ? await storeFields(client, stored, setFields(stored.item, fields))
        : await editItem(client, stored, new Draft(environment));
    if (fields.length > 0) warnOfSecondNames(stored.item, fields);
    if (item === stored.item) remark("The text is the same as before, so nothing was changed.");
    if (args.has("json")) await printLine(item);
    else if (item !== stored.item) await printLine(`Changed: ${titleOf(stored.id, item)}`);
    return 0;
  },
);

function markAdvice(): string {
  return `to mark an item as done, use: ${asTypedHere("done ID")}`;
}

function reopenAdvice(): string {
  return `to mark an item as not done, use: ${asTypedHere("done ID --undo")}`;
}

function removeAdvice(): string {
  return `to remove a field, open the item in your editor and delete the field there: ${asTypedHere("edit ID")}`;
}

function nameIn(args: Arguments): string | undefined {
  const name = args.text("name")?.trim();
  if (name === "") throw new UsageError("--name: the name is empty. Give the item's new name.");
  return name;
}

function fieldsIn(args: Arguments): Field[] {
  const notes = args.text("notes");
  const named = notes === undefined ? [] : [{ name: "Notes", json: JSON.stringify(notes) }];
  return [...named, ...args.texts("field").map(parseField)];
}

async function storeFields(client: Client, stored: StoredText, item: string): Promise<string> {
  const conflict = await store(client, stored, item);
  if (!conflict) return item;
  remark(describeConflict(stored, conflict));
  throw new CommandError(`The item was not changed. Look at it with ${asTypedHere("show ID")}, and try again.`);
}

/**
 * Opens the editor, and returns the item as it is stored in the end. After a conflict, or if the item is refused, the
 * user may edit again.
 */
async function editItem(client: Client, stored: StoredText, draft: Draft): Promise<string> {
  let base = stored;
  let text = stored.item;
  for (;;) {
    const mine = await draft.edit(text);
    let conflict: StoredText | undefined;
    try {
      conflict = await store(client, base, mine);
    } catch (error) {
      await offerRepair(draft, error);
      text = mine;
      continue;
    }
    if (!conflict) {
      draft.discard();
      return mine;
    }
    remark(describeConflict(base, conflict));
    if (!(await agrees("Edit again, with their changes and yours?"))) throw draft.keep(undefined);
    text = mergeFields(base.item, mine, conflict.item).json;
    base = conflict;
  }
}

/**
 * If the text itself is the reason for this error, asks the user whether to edit it again. Throws if the user declines,
 * or if the error has another reason. The text then stays in a file.
 */
async function offerRepair(draft: Draft, error: unknown): Promise<void> {
  if (hasStatus(error, 404)) throw draft.keep(error, "Somebody deleted the item in the meantime.");
  if (!isTodoError(error) && !(error instanceof CommandError)) throw error;
  const reason = isTodoError(error) ? explain(error) : error.message;
  if (!isRefusedItem(error) && !(error instanceof OtherId)) throw draft.keep(error, reason);
  remarkError(reason);
  if (!(await agrees("Edit it again?"))) throw draft.keep(error);
}

/** The edited text has another ID than the item, or none. */
class OtherId extends CommandError {}

/**
 * Stores the item, unless its text is unchanged, and returns undefined. If somebody else has changed the item, stores
 * nothing and returns their version.
 */
async function store(client: Client, { id, item, etag }: StoredText, mine: string): Promise<StoredText | undefined> {
  if (mine === item) return undefined;
  if (!sameId(idOf(mine), id))
    throw new OtherId(`The ID of an item cannot be changed. This item's ID is ${printable(id)}.`);
  try {
    await client.update(mine, { ifMatch: etag });
    return undefined;
  } catch (error) {
    if (!isTodoError(error, "PreconditionFailedError")) throw error;
    return client.get(id);
  }
}

function describeConflict(before: StoredText, after: StoredText): string {
  const changes = describeChanges(before.item, after.item);
  if (changes.length === 0)
    return "warning: Somebody else stored this item in the meantime, with the same content as before.";
  return ["warning: Somebody else changed this item in the meantime:", ...changes].join("\n");
}
