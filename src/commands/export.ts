// `todoitems export`: writes every item to a file or to standard output.

import { UsageError } from "./command-line/errors.ts";
import { countOf, jsonSummaryFlag, printLine, remark, showProgress } from "./command-line/output.ts";
import { followLink, forceFlag, requireFree } from "./files/target-file.ts";
import { defineClientCommand } from "./service/connect.ts";
import { formatFlag, formatOf } from "./transfer/item-formats.ts";
import { ItemHash } from "./transfer/item-hash.ts";
import { writeItems } from "./transfer/item-writer.ts";

export const command = defineClientCommand(
  {
    name: "export",
    parameters: "[FILE]",
    summary: "write every item to a file",
    flags: [formatFlag, forceFlag, jsonSummaryFlag],
    notes:
      "Without FILE, the items are written to standard output. FILE appears only when it is complete. At the end, the number of items and a hash are printed. import prints the same hash for the same items.",
    example: "export items.csv",
  },
  async (client, args) => {
    const [file = "-"] = args.positionals;
    const path = file === "-" ? undefined : followLink(file);
    if (path === undefined && args.has("json"))
      throw new UsageError("--json needs a FILE, because without one the items themselves are printed.");
    const format = formatOf(args.text("format"), path);
    if (path !== undefined) requireFree(path, args.has("force"));
    // If the items are printed on the terminal, their count is not, because the two would mix.
    const showsCount = path !== undefined || !process.stdout.isTTY;
    const hash = new ItemHash();
    async function* items(): AsyncGenerator<string> {
      for await (const json of client.items()) {
        hash.add(json);
        if (showsCount) showProgress(hash.count);
        yield json;
      }
    }
    await writeItems(items(), format, path);
    if (args.has("json")) await printLine(JSON.stringify({ items: hash.count, hash: String(hash) }));
    else remark(`Exported ${countOf(hash.count)}${path === undefined ? "" : ` to ${path}`}\nHash ${hash}`);
  },
);
