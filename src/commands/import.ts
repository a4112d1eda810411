// `todoitems import`: stores the items of a file in the service. If it is run again after an interruption, it continues
// where it stopped and stores no item twice.

import { existsSync } from "node:fs";
import { isTodoError } from "../client/errors.ts";
import { idOf, sameContent } from "../client/item-text.ts";
import type { TodoClient } from "../client/todo-client.ts";
import { scanObject } from "../items/json-text.ts";
import { withId } from "../items/todo-item.ts";
import { type Arguments, defineCommand, positionalsOf, UsageError } from "./command.ts";
import { connect, connectionFlags } from "./connect.ts";
import { CommandError } from "./failure.ts";
import { jsonSummaryFlag, printLine } from "./output.ts";
import { Checkpoint, type ImportCounts } from "./transfer/checkpoint.ts";
import { formatFlag, formatOf, readItems } from "./transfer/item-formats.ts";
import { ItemHash } from "./transfer/item-hash.ts";
import { ProgressBar } from "./transfer/progress-bar.ts";

const conflictRules = ["fail", "skip", "replace"] as const;
type ConflictRule = (typeof conflictRules)[number];

const parallelMax = 256;
const interruptedExitCode = 130;

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
        meaning: "an ID that is taken by another item: fail, skip it, or replace what is there (fail)",
        choices: conflictRules,
      },
      jsonSummaryFlag,
      { name: "parallel", placeholder: "N", meaning: "requests under way at once; above 1 the order may change (1)" },
      ...connectionFlags,
    ],
    notes:
      "A FILE called - is standard input. An item that is there already with the same content counts as present. Interrupted, the same command goes on where it was.",
  },
  async (args, environment) => {
    const [file = ""] = positionalsOf(args, 1, 1, "file");
    if (file !== "-" && !existsSync(file)) throw new UsageError(`${file}: there is no such file.`);
    const format = formatOf(args.text("format"), file);
    const parallel = parseParallel(args);
    const client = await connect(args, environment, { limit: 5 });
    const rule = conflictRules.find((one) => one === args.text("on-conflict")) ?? "fail";
    const run = new Import(client, rule, file === "-" ? undefined : file);
    const chunks = file === "-" ? Bun.stdin.stream() : Bun.file(file).stream();
    const { items, hash, ...counts } = await run.store(
      readItems(file === "-" ? "standard input" : file, run.counting(chunks), format),
      parallel,
    );
    const { created, present, replaced, skipped } = counts;
    if (args.has("json")) await printLine(JSON.stringify({ items, ...counts, hash }));
    else
      console.error(
        `Imported ${items} items: ${created} created, ${present} present, ${replaced} replaced, ${skipped} skipped\nHash ${hash}`,
      );
    return 0;
  },
);

function parseParallel(args: Arguments): number {
  const text = args.text("parallel") ?? "1";
  const parallel = Number(text);
  if (/^[0-9]+$/.test(text) && parallel >= 1 && parallel <= parallelMax) return parallel;
  throw new UsageError(`--parallel ${text}: expected a number from 1 to ${parallelMax}.`);
}

interface ImportSummary extends ImportCounts {
  readonly items: number;
  readonly hash: string;
}

class Import {
  readonly #client: TodoClient<string>;
  readonly #rule: ConflictRule;
  readonly #bar = new ProgressBar(process.stderr);
  readonly #hash = new ItemHash();
  readonly #checkpoint: Checkpoint | undefined;
  readonly #counts: ImportCounts;
  readonly #resumed: number;
  readonly #bytesTotal: number | undefined;
  #bytes = 0;
  #done = 0;

  constructor(client: TodoClient<string>, rule: ConflictRule, path: string | undefined) {
    this.#client = client;
    this.#rule = rule;
    this.#checkpoint = path === undefined ? undefined : new Checkpoint(path, client.url);
    this.#bytesTotal = path === undefined ? undefined : Bun.file(path).size;
    this.#resumed = this.#checkpoint?.done ?? 0;
    this.#counts = this.#checkpoint?.counts ?? { created: 0, present: 0, replaced: 0, skipped: 0 };
  }

  async *counting(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      this.#bytes += chunk.byteLength;
      yield chunk;
    }
  }

  async store(items: AsyncIterable<string>, parallel: number): Promise<ImportSummary> {
    process.on("SIGINT", () => this.#interrupted());
    if (this.#resumed > 0) console.error(`Going on after item ${this.#resumed}, where the last run ended.`);
    /**
     * Unfinished requests, in the order of the file. The oldest request is always awaited first. So when `#done` is n,
     * the first n items of the file are finished.
     */
    const underWay: Promise<void>[] = [];
    try {
      for await (const given of items) {
        const number = this.#hash.count + 1;
        const json = idOf(given) === undefined ? withId(scanObject(given), idFor(given, number)) : given;
        this.#hash.add(json);
        if (number <= this.#resumed) this.#done = number;
        else {
          underWay.push(this.#storeItem(json, number));
          // If this request fails, `#settle` throws its error later. The empty handler keeps the error from being
          // reported as an unhandled rejection before that.
          underWay.at(-1)?.catch(() => {});
        }
        if (underWay.length >= parallel) await this.#settle(underWay.shift());
      }
      while (underWay.length > 0) await this.#settle(underWay.shift());
    } catch (error) {
      this.#bar.clear();
      if (this.#done > 0) {
        this.#checkpoint?.save();
        console.error(`Stopped after ${this.#done} items; the same command goes on from there.`);
      }
      throw error;
    }
    this.#bar.clear();
    this.#checkpoint?.remove();
    return { items: this.#hash.count, ...this.#counts, hash: String(this.#hash) };
  }

  async #settle(oldest: Promise<void> | undefined): Promise<void> {
    await oldest;
    this.#done++;
    this.#bar.update(this.#done, this.#bytesTotal && this.#bytes / this.#bytesTotal);
    if (!this.#checkpoint) return;
    this.#checkpoint.done = this.#done;
    this.#checkpoint.counts = this.#counts;
    this.#checkpoint.saveSometimes();
  }

  async #storeItem(json: string, number: number): Promise<void> {
    try {
      await this.#client.create(json);
      this.#counts.created++;
    } catch (error) {
      if (isTodoError(error, "ConflictError")) return this.#meet(json, number);
      if (!isTodoError(error, "HttpError")) throw error;
      throw new CommandError(`Item ${number} was refused: ${error.message}`, { cause: error });
    }
  }

  /** Handles an ID that is already taken. Either an earlier run stored this item, or another item has the ID. */
  async #meet(json: string, number: number): Promise<void> {
    const id = idOf(json) ?? "";
    const { item } = await this.#client.get(id);
    if (sameContent(item, json)) this.#counts.present++;
    else if (this.#rule === "skip") this.#counts.skipped++;
    else if (this.#rule === "replace") {
      await this.#client.update(json);
      this.#counts.replaced++;
    } else
      throw new CommandError(
        `Item ${number}: the ID ${id} is taken by another item. Choose --on-conflict skip or --on-conflict replace.`,
      );
  }

  #interrupted(): void {
    this.#bar.clear();
    this.#checkpoint?.save();
    console.error(`Interrupted after ${this.#done} items; the same command goes on from there.`);
    process.exit(interruptedExitCode);
  }
}

/** An ID derived from the item and its place in the file, so that every run gives the item the same ID. */
function idFor(json: string, number: number): string {
  const digits = Bun.SHA256.hash(`${number} ${json}`, "hex");
  // UUID version 8 is for custom formats.
  return digits.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-8$3-8$4-$5");
}
