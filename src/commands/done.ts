// `todoitems done`: marks items as done, or as not done.

import { isTodoError } from "../client/errors.ts";
import type { TodoClient } from "../client/todo-client.ts";
import { defineCommand, positionalsOf } from "./command.ts";
import { connect, connectionFlags } from "./connect.ts";
import { displayText, fieldOf, setFields } from "./fields.ts";
import { findId } from "./find-item.ts";
import { jsonFlag, printLine } from "./output.ts";
import { printable } from "./terminal.ts";

export const done = defineCommand(
  {
    name: "done",
    parameters: "ID…",
    summary: "mark items as done",
    flags: [{ name: "undo", placeholder: "", meaning: "mark them as not done" }, jsonFlag, ...connectionFlags],
  },
  async (args, environment) => {
    const prefixes = positionalsOf(args, 1, Number.POSITIVE_INFINITY, "item");
    const client = await connect(args, environment);
    const value = args.has("undo") ? "false" : "true";
    for (const prefix of prefixes) {
      const item = await mark(client, await findId(client, prefix), value);
      const name = printable(displayText(fieldOf(item, "Name")) || prefix);
      await printLine(args.has("json") ? item : `${value === "true" ? "Done" : "Not done"}: ${name}`);
    }
    return 0;
  },
);

const attemptsMax = 5;

/**
 * Sets the `Done` field of one item, and returns the item's new text. If somebody else changes the item between our
 * read and our write, reads the item again and retries, up to `attemptsMax` attempts.
 */
async function mark(client: TodoClient<string>, id: string, value: string): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    const { item, etag } = await client.get(id);
    const marked = setFields(item, [{ name: "Done", json: value }]);
    try {
      if (marked !== item) await client.update(marked, { ifMatch: etag });
      return marked;
    } catch (error) {
      if (!isTodoError(error, "PreconditionFailedError") || attempt === attemptsMax) throw error;
    }
  }
}
