// `todoitems show`: one item, with all its fields.

import { membersOf, stringOf } from "../client/json-members.ts";
import { command, only } from "./command.ts";
import { connect, connectionFlags } from "./connection.ts";
import { indent } from "./fields.ts";
import { findItem } from "./find-item.ts";
import { jsonFlag, print } from "./output.ts";
import { padEnd, printable, styleOf } from "./terminal.ts";

export const show = command(
  {
    name: "show",
    parameters: "ID",
    summary: "show one item in full",
    flags: [jsonFlag, ...connectionFlags],
    notes: "ID may be the first characters of an ID, as many as tell it from the others.",
  },
  async (args, environment) => {
    const [prefix = ""] = only(args, 1, 1, "item");
    const { item } = await findItem(await connect(args, environment), prefix);
    if (args.has("json")) {
      await print(item);
      return 0;
    }
    const style = styleOf(process.stdout, environment);
    const fields = [...membersOf(item)].map(([name, value]) => [printable(name), value] as const);
    const width = Math.max(...fields.map(([name]) => Bun.stringWidth(name)));
    for (const [name, value] of fields) {
      const lines = (stringOf(value) ?? indent(value)).split("\n").map(printable);
      await print(`${style.bold(padEnd(name, width))}  ${lines.join(`\n${" ".repeat(width)}  `)}`.trimEnd());
    }
    return 0;
  },
);
