// `todoitems done`: marks items as done, or as not done.

import type { Stored } from "../client/client-options.ts";
import { isTodoError } from "../client/errors.ts";
import type { TodoClient } from "../client/todo-client.ts";
import { doneMark } from "../items/done-mark.ts";
import { defineCommand, positionalsOf } from "./command.ts";
import { connect } from "./connect.ts";
import { connectionFlags } from "./connection-flags.ts";
import { eachInTurn } from "./each-in-turn.ts";
import { doneFieldOf, setFields, titleOf } from "./fields.ts";
import { findItems } from "./find-item.ts";
import { otherDoneFlags } from "./other-words.ts";
import { jsonFlag, printLine } from "./output.ts";

export const done = defineCommand(
  {
    name: "done",
    parameters: "ID…",
    summary: "mark items as done",
    flags: [
      { name: "undo", placeholder: "", meaning: "mark them as not done", triedInstead: otherDoneFlags },
      jsonFlag,
      ...connectionFlags,
    ],
  },
  async (args, environment) => {
    const prefixes = positionalsOf(args, 1, Number.POSITIVE_INFINITY, "ID");
    const client = await connect(args, environment);
    const isDone = !args.has("undo");
    const found = await findItems(client, prefixes, "No item was changed.");
    for await (const [{ id }, item] of eachInTurn(found, "marked", (stored) => mark(client, stored, isDone)))
      await printLine(args.has("json") ? item : `${isDone ? "Done" : "Not done"}: ${titleOf(id, item)}`);
    return 0;
  },
);

const attemptsMax = 5;

/**
 * Sets the done-mark of one item, and returns the item's new text. If somebody else changes the item between our
 * read and our write, reads the item again and retries, up to `attemptsMax` attempts.
 */
async function mark(client: TodoClient<string>, stored: Stored<string>, isDone: boolean): Promise<string> {
  let { item, etag } = stored;
  for (let attempt = 1; ; attempt++) {
    const { name, value } = doneFieldOf(item);
    const marked = setFields(item, [{ name, json: doneMark(isDone, value) }]);
    try {
      if (marked !== item) await client.update(marked, { ifMatch: etag });
      return marked;
    } catch (error) {
      if (!isTodoError(error, "PreconditionFailedError") || attempt === attemptsMax) throw error;
      ({ item, etag } = await client.get(stored.id));
    }
  }
}
