// `todoitems import`: stores the items of a file in the service. If it is run again after an interruption, it continues
// where it stopped and stores no item twice.

import { existsSync, statSync } from "node:fs";
import { asTyped, asWord } from "../terminal/program-name.ts";
import { type Arguments, defineCommand, positionalsOf, UsageError } from "./command.ts";
import { connect } from "./connect.ts";
import { connectionFlags } from "./connection-flags.ts";
import { countOf, jsonSummaryFlag, printLine, remark } from "./output.ts";
import { conflictRules, describeCounts, ImportRun } from "./transfer/import-run.ts";
import { formatFlag, formatOf, readItems, refuseFormatAsFile, refuseNonText } from "./transfer/item-formats.ts";
import { UnclearMarks } from "./transfer/unclear-marks.ts";
import { asTypedHere } from "./typed-here.ts";

const replaceAdvice = "to replace stored items, use --on-conflict replace";
const skipAdvice = "to skip the items that are stored already, use --on-conflict skip";
const fileAdvice = "give the file alone, as in import VALUE";
const trialAdvice = () =>
  `import has no trial run. To try a file, import it into a service of its own: ${asTyped("serve --store memory: --port 5001")}`;
const parallelMax = 256;
const parallelDefault = 32;
/** How a SQLite file begins. */
const sqliteMark = "SQLite format 3";

export const importItems = defineCommand(
  {
    name: "import",
    parameters: "FILE",
    summary: "store the items of a file",
    flags: [
      formatFlag,
      {
        name: "on-conflict",
        placeholder: "RULE",
        meaning:
          "if an item is stored already, with other content: fail, skip the item of the file, or replace the stored item (fail)",
        choices: conflictRules,
        triedInstead: {
          replace: replaceAdvice,
          force: replaceAdvice,
          overwrite: replaceAdvice,
          update: replaceAdvice,
          skip: skipAdvice,
          ignore: skipAdvice,
          file: fileAdvice,
          input: fileAdvice,
          i: fileAdvice,
          "dry-run": trialAdvice,
        },
      },
      jsonSummaryFlag,
      { name: "parallel", placeholder: "N", meaning: `items to send at the same time (${parallelDefault})` },
      ...connectionFlags,
    ],
    notes:
      "If FILE is -, the items are read from standard input. The list keeps the order of the file. An item that is already stored with the same content is not stored again. If the import is interrupted, run the same command again to continue.\nIn a CSV file, the first line names the fields. Its separator may be a comma, a semicolon or a tab.",
  },
  async (args, environment) => {
    // Standard input is read only if the user asks for it. A script that forgets FILE may have an input that never ends,
    // or one that is meant for another program.
    if (args.positionals.length === 0)
      throw new UsageError(
        `Missing argument: FILE. To read the items from standard input, use: ${asTypedHere("import -")}`,
      );
    refuseFormatAsFile(args.text("format"), args.positionals[0]);
    const [file = ""] = positionalsOf(args, 1, 1, "FILE", "To import several files, run it once for each.");
    if (file !== "-" && !existsSync(file)) throw new UsageError(`There is no file called ${file}.`);
    if (file !== "-" && statSync(file).isDirectory()) throw new UsageError(`${file} is a folder. Name a file in it.`);
    if (file !== "-") await checkStart(file);
    const format = formatOf(args.text("format"), file);
    const parallel = parseParallel(args);
    const client = await connect(args, environment, { limit: 5 });
    const rule = conflictRules.find((one) => one === args.text("on-conflict")) ?? "fail";
    const run = new ImportRun(client, { rule, parallel, path: file === "-" ? undefined : file });
    if (file === "-" && process.stdin.isTTY) remark("Type or paste the items, then press Ctrl-D.");
    const chunks = file === "-" ? Bun.stdin.stream() : Bun.file(file).stream();
    const source = file === "-" ? "standard input" : file;
    const marks = new UnclearMarks();
    const read = marks.counting(readItems(source, run.counting(chunks), format));
    const { items, hash, ...counts } = await run.store(read);
    if (args.has("json")) await printLine(JSON.stringify({ items, ...counts, hash }));
    else if (items === 0) remark(`There are no items in ${source}, so nothing was imported.`);
    else
      remark(
        `Imported ${countOf(items)}: ${describeCounts(counts)}\n${counts.skipped > 0 ? "Hash of the file" : "Hash"} ${hash}`,
      );
    for (const warning of marks.warnings()) remark(warning);
    return 0;
  },
);

/** Looks at how the file begins. Throws if it is a store or a backup, or if it is not text. */
async function checkStart(file: string): Promise<void> {
  const start = await Bun.file(file).slice(0, sqliteMark.length).bytes();
  if (new TextDecoder().decode(start) === sqliteMark)
    throw new UsageError(`${file} is a store or a backup. To bring it back, use ${asTyped(`restore ${asWord(file)}`)}`);
  refuseNonText(file, start);
}

function parseParallel(args: Arguments): number {
  const text = args.text("parallel") ?? String(parallelDefault);
  const parallel = Number(text);
  if (/^[0-9]+$/.test(text) && parallel >= 1 && parallel <= parallelMax) return parallel;
  throw new UsageError(`--parallel ${text}: expected a number from 1 to ${parallelMax}.`);
}
