// `todoitems import`: stores the items of a file in the service.

import { createReadStream, statSync } from "node:fs";
import { UsageError } from "./command-line/errors.ts";
import { countOf, jsonSummaryFlag, printLine, remark, showProgress } from "./command-line/output.ts";
import { defineClientCommand } from "./service/connect.ts";
import { conflictRules, describeCounts, importItems } from "./transfer/import-run.ts";
import { formatFlag, formatOf, readItems } from "./transfer/item-formats.ts";

export const command = defineClientCommand(
  {
    name: "import",
    parameters: "FILE",
    summary: "store the items of a file",
    flags: [
      formatFlag,
      {
        name: "on-conflict",
        placeholder: conflictRules.join("|"),
        meaning: "if an item is stored already, with other content: stop, leave the stored item, or replace it (fail)",
      },
      jsonSummaryFlag,
    ],
    notes:
      "If FILE is -, the items are read from standard input. An item that is already stored with the same content is skipped. If the import is interrupted, run the same command again to continue. In a CSV file, the first line names the fields.",
    example: "import items.csv --on-conflict skip",
  },
  async (client, args) => {
    const [file = ""] = args.positionals;
    const format = formatOf(args.text("format"), file);
    if (file !== "-" && !statSync(file, { throwIfNoEntry: false })?.isFile())
      throw new UsageError(`${file}: there is no such file.`);
    const rule = conflictRules.find((one) => one === args.text("on-conflict")) ?? "fail";
    const source = file === "-" ? "standard input" : file;
    const chunks = file === "-" ? Bun.stdin.stream() : createReadStream(file);
    const { items, hash, ...counts } = await importItems(client, readItems(source, chunks, format), rule, showProgress);
    if (args.has("json")) await printLine(JSON.stringify({ items, ...counts, hash }));
    else remark(`Imported ${countOf(items)}: ${describeCounts(counts)}\nHash ${hash}`);
  },
);
