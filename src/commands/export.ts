// `todoitems export`: writes every item to a file or to standard output.

import { existsSync, statSync } from "node:fs";
import { extname } from "node:path";
import { asWord } from "../terminal/program-name.ts";
import { addressAdvice, defineCommand, positionalsOf, UsageError } from "./command.ts";
import { connect } from "./connect.ts";
import { connectionFlags } from "./connection-flags.ts";
import { CommandError } from "./failure.ts";
import { interruptible } from "./interruptible.ts";
import { countOf, jsonSummaryFlag, printLine, remark } from "./output.ts";
import { followLink, replaceFlag } from "./stores/store-setting.ts";
import { formatFlag, formatOf, refuseFormatAsFile } from "./transfer/item-formats.ts";
import { ItemHash } from "./transfer/item-hash.ts";
import { writeItems } from "./transfer/item-writer.ts";
import { ProgressBar } from "./transfer/progress-bar.ts";
import { asTypedHere } from "./typed-here.ts";

export const exportItems = defineCommand(
  {
    name: "export",
    parameters: "[FILE]",
    summary: "write every item to a file",
    flags: [formatFlag, replaceFlag("export"), jsonSummaryFlag, ...connectionFlags],
    notes:
      "Without FILE, the items are written to standard output. FILE appears only when it is complete. At the end, the number of items and a hash are printed. import prints the same hash for the same items.",
  },
  async (args, environment) => {
    refuseFormatAsFile(args.text("format"), args.positionals[0]);
    const [file] = positionalsOf(args, 0, 1, "FILE");
    const advice = addressAdvice(file, args.flags);
    if (advice !== undefined) throw new UsageError(`${file} is an address, not a file. ${advice}`);
    const path = file === undefined || file === "-" ? undefined : followLink(file);
    if (path === undefined && args.has("json"))
      throw new UsageError("--json needs a FILE, because without one the items themselves are printed.");
    const format = formatOf(args.text("format"), path);
    if (path !== undefined && extname(path).toLowerCase() === ".gz")
      throw new UsageError(
        `${path}: export does not compress. Compress its output, as in: ${asTypedHere(`export --format ${format}`)} | gzip > ${asWord(path)}`,
      );
    if (path !== undefined && existsSync(path)) refuseToReplace(path, args.has("force"));
    const client = await connect(args, environment, { limit: 5 });
    // If the items are printed on the terminal, there is no progress bar, because the two would mix.
    const bar = path === undefined && process.stdout.isTTY ? undefined : new ProgressBar(process.stderr);
    const hash = new ItemHash();
    async function* items(signal?: AbortSignal): AsyncGenerator<string> {
      let fraction: number | undefined;
      const onProgress = (bytes: number, total: number | undefined) => {
        fraction = total && bytes / total;
      };
      for await (const json of client.items({ onProgress, signal })) {
        hash.add(json);
        bar?.update(hash.count, fraction);
        yield json;
      }
    }
    try {
      if (path === undefined) await writeItems(items(), format, path);
      else await interruptible(path, (signal) => writeItems(items(signal), format, path));
    } finally {
      bar?.clear();
    }
    if (args.has("json")) await printLine(JSON.stringify({ items: hash.count, hash: String(hash) }));
    else remark(`Exported ${countOf(hash.count)}${path === undefined ? "" : ` to ${path}`}\nHash ${hash}`);
    return 0;
  },
);

function refuseToReplace(path: string, force: boolean): void {
  // The complete export is renamed to its final name. This would replace a device or a pipe with that name, so both are
  // refused, even with --force.
  if (!statSync(path).isFile()) throw new CommandError(`${path} is not a file. Choose another name.`);
  if (!force) throw new CommandError(`${path} exists already. Choose another name, or replace it with --force.`);
}
