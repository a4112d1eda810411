// Stores the items of a file in order, one after the other. An item that is there with the same content is skipped, and
// that is how an import resumes when it is run again.

import { hasStatus, isTodoError } from "../../client/errors.ts";
import { idIn, idOf, sameContent } from "../../client/item-text.ts";
import type { TodoClient } from "../../client/todo-client.ts";
import { scanObject } from "../../items/json-text.ts";
import { withId } from "../../items/todo-item.ts";
import { CommandError } from "../command-line/errors.ts";
import { describeFailure } from "../command-line/failure.ts";
import { ItemHash } from "./item-hash.ts";

export const conflictRules = ["fail", "skip", "replace"] as const;
export type ConflictRule = (typeof conflictRules)[number];

interface Counts {
  created: number;
  /** Items that were already stored, with the same content. */
  present: number;
  replaced: number;
  skipped: number;
}

/** `onItem` is called after each item, with the number of items so far. */
export async function importItems(
  client: TodoClient<string>,
  items: AsyncIterable<{ readonly text: string; readonly place: string }>,
  rule: ConflictRule,
  onItem: (count: number) => void,
) {
  const counts: Counts = { created: 0, present: 0, replaced: 0, skipped: 0 };
  const hash = new ItemHash();
  try {
    for await (const { text, place } of items) {
      const object = scanObject(text);
      const json = idIn(object) !== undefined ? text : withId(object, idFor(text, hash.count + 1));
      counts[await store(client, json, place, rule)]++;
      hash.add(json);
      onItem(hash.count);
    }
  } catch (error) {
    if (!(error instanceof CommandError || isTodoError(error))) throw error;
    const stopped = `Stopped after item ${hash.count}: ${describeCounts(counts)}.`;
    const advice = "When that is fixed, run the same command again to continue: no item is stored twice.";
    throw new CommandError(`${describeFailure(error).message}\n${stopped} ${advice}`, { cause: error });
  }
  return { items: hash.count, ...counts, hash: String(hash) };
}

async function store(
  client: TodoClient<string>,
  json: string,
  place: string,
  rule: ConflictRule,
): Promise<keyof Counts> {
  try {
    await client.create(json);
    return "created";
  } catch (error) {
    if (isTodoError(error, "HttpError") && [400, 413].includes(error.status))
      throw new CommandError(`${describeFailure(error).message} That is ${place}.`, { cause: error });
    if (!hasStatus(error, 409)) throw error;
  }
  const id = idOf(json) ?? "";
  const { item } = await client.get(id);
  if (sameContent(item, json)) return "present";
  if (rule === "skip") return "skipped";
  if (rule === "fail")
    throw new CommandError(
      `The item with the ID of ${place}, ${id}, is stored already, with other content. To leave the stored item as it is, add --on-conflict skip. To replace it, add --on-conflict replace.`,
    );
  await client.update(json);
  return "replaced";
}

/** For example, "2 created, 1 present, 0 replaced, 0 skipped". */
export function describeCounts(counts: Counts): string {
  const parts = Object.entries(counts).map(([outcome, count]) => `${count.toLocaleString("en")} ${outcome}`);
  return parts.join(", ");
}

/** An ID derived from the item and its place in the file, so that every run gives the item the same ID. */
function idFor(json: string, number: number): string {
  const digits = Bun.SHA256.hash(`${number} ${json}`, "hex");
  // UUID version 8 is for custom formats.
  return digits.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-8$3-8$4-$5");
}
