// `todoitems add`: stores a new item.

import { asTyped, asWord } from "../terminal/program-name.ts";
import { defineCommand, UsageError } from "./command.ts";
import { connect } from "./connect.ts";
import { connectionFlags } from "./connection-flags.ts";
import {
  fieldFlag,
  isDoneField,
  notesFlag,
  parseField,
  refuseDoubles,
  setFields,
  shortId,
  splitField,
  titleOf,
  warnOfDoubles,
} from "./fields.ts";
import { withQuotes } from "./meant-flags.ts";
import { jsonFlag, printLine, remark } from "./output.ts";
import { asTypedHere } from "./typed-here.ts";

const fieldName = /^[\p{L}_][\p{L}\p{N}_]*$/u;
const nameAdvice = "give the name alone, as in add VALUE";
const doneAdvice = "to add an item that is done, use --field Done=yes";

export const add = defineCommand(
  {
    name: "add",
    parameters: "NAME…",
    summary: "add an item",
    flags: [
      {
        ...notesFlag,
        triedInstead: {
          name: nameAdvice,
          title: nameAdvice,
          t: nameAdvice,
          done: doneAdvice,
          complete: doneAdvice,
          completed: doneAdvice,
        },
      },
      fieldFlag,
      jsonFlag,
      ...connectionFlags,
    ],
    notes: "NAME may be several words, without quotes. To choose the item's ID yourself, add --field ID=UUID.",
    example: "add Buy milk --field Price:=1.50",
  },
  async (args, environment) => {
    const name = args.positionals.join(" ").trim();
    const [loose] = args.loose;
    // These words would become part of the name.
    if (loose && loose.start > 0)
      throw new UsageError(
        `It is not clear where "${loose.words.join(" ")}" belongs. Did you mean ${withQuotes(loose)}?`,
      );
    if (name === "-")
      throw new UsageError(
        `add does not read standard input. Give the name itself, as in: ${asTyped("add Buy milk")}. To add many items from a file, use: ${asTypedHere("import FILE")}`,
      );
    const fields = args.texts("field").map(parseField);
    const settings = args.positionals.length > 1 ? args.positionals.filter(isSetting) : [];
    const asFlags = settings.map((setting) => `--field ${asWord(setting)}`).join(" ");
    if (settings.length > 0 && fields.length > 0)
      throw new UsageError(
        `To set a field, use ${asFlags}. If ${settings.join(" ")} is part of the name, put the name in quotes.`,
      );
    if (name === "" && (args.positionals.length > 0 || fields.length === 0))
      throw new UsageError(`The item needs a name, as in: ${asTyped("add Buy milk")}`);
    const notes = args.text("notes");
    const named = [
      ...(name === "" ? [] : [{ name: "Name", json: JSON.stringify(name) }]),
      ...(notes === undefined ? [] : [{ name: "Notes", json: JSON.stringify(notes) }]),
    ];
    refuseDoubles([...named, ...fields]);
    // If the user gives a mark, such as `completed`, no `Done` is added, because the two could contradict each other.
    const marks = fields.some((field) => isDoneField(field.name)) ? [] : [{ name: "Done", json: "false" }];
    const json = setFields("{}", [...named, ...marks, ...fields]);
    const client = await connect(args, environment);
    const { id, item } = await client.create(json);
    warnOfDoubles(json);
    await printLine(args.has("json") ? item : `Added: ${titleOf(id, item)}`);
    if (settings.length > 0) {
      const rest = args.positionals.filter((word) => !isSetting(word)).join(" ");
      const command = asTypedHere(`edit ${shortId(id)} --name ${asWord(rest)} ${asFlags}`);
      remark(`warning: ${settings.join(" ")} is part of the name. To make it a field: ${command}`);
    }
    return 0;
  },
);

/** True if a word of the name looks like the setting of a field, such as `Price=3`. An address with `?a=b` does not. */
function isSetting(word: string): boolean {
  const name = splitField(word)?.name;
  return name !== undefined && fieldName.test(name);
}
