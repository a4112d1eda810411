// `todoitems remove`: deletes items.

import { defineCommand, positionalsOf } from "./command.ts";
import { connect } from "./connect.ts";
import { connectionFlags } from "./connection-flags.ts";
import { eachInTurn } from "./each-in-turn.ts";
import { titleOf } from "./fields.ts";
import { findItems } from "./find-item.ts";
import { otherRemoveFlags } from "./other-words.ts";
import { jsonFlag, printLine } from "./output.ts";

const noQuestion = "leave it out: remove asks no question";
const triedInstead = { ...otherRemoveFlags, force: noQuestion, f: noQuestion, yes: noQuestion, y: noQuestion };

export const remove = defineCommand(
  {
    name: "remove",
    parameters: "ID…",
    summary: "delete items",
    flags: [{ ...jsonFlag, triedInstead }, ...connectionFlags],
  },
  async (args, environment) => {
    const prefixes = positionalsOf(args, 1, Number.POSITIVE_INFINITY, "ID");
    const client = await connect(args, environment);
    const found = await findItems(client, prefixes, "No item was removed.");
    for await (const [{ id, item }] of eachInTurn(found, "removed", (stored) => client.remove(stored.id)))
      await printLine(args.has("json") ? JSON.stringify({ ID: id }) : `Removed: ${titleOf(id, item)}`);
    return 0;
  },
);
