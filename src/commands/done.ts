// `todoitems done`: marks items as done, or not done again.

import { isTodoError } from "../client/errors.ts";
import type { TodoClient } from "../client/todo-client.ts";
import { command, only } from "./command.ts";
import { connect, connectionFlags } from "./connection.ts";
import { display, fieldOf, setFields } from "./fields.ts";
import { findId } from "./find-item.ts";
import { jsonFlag, print } from "./output.ts";
import { printable } from "./terminal.ts";

export const done = command(
  {
    name: "done",
    parameters: "ID…",
    summary: "mark items as done",
    flags: [{ name: "undo", placeholder: "", meaning: "mark them as not done" }, jsonFlag, ...connectionFlags],
  },
  async (args, environment) => {
    const prefixes = only(args, 1, Number.POSITIVE_INFINITY, "item");
    const client = await connect(args, environment);
    const value = args.has("undo") ? "false" : "true";
    for (const prefix of prefixes) {
      const item = await mark(client, await findId(client, prefix), value);
      const name = printable(display(fieldOf(item, "Name")) || prefix);
      await print(args.has("json") ? item : `${value === "true" ? "Done" : "Not done"}: ${name}`);
    }
    return 0;
  },
);

const attemptsMax = 5;

/** Other changes to the item do not matter to this one, so it is made again on top of them. */
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
