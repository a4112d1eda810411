// Stores the items of a file, several at the same time, and still keeps their order.
//
// The items of a batch are sent together, so the service may store them in another order. The ETag in each answer
// contains the item's version, so a wrong order is noticed. The items from the first wrong one on are then deleted and
// created again, one after the other. The next batch is only a quarter as large. A service whose ETags have no version
// gets one item at a time.

import { hasStatus, isPassing, isTodoError } from "../../client/errors.ts";
import { hasId, idOf, sameContent } from "../../client/item-text.ts";
import type { TodoClient } from "../../client/todo-client.ts";
import { invalidIdAdvice } from "../../items/item-error.ts";
import { scanObject } from "../../items/json-text.ts";
import { withId } from "../../items/todo-item.ts";
import { parseToken } from "../../items/token.ts";
import { printable } from "../../terminal/text.ts";
import { CommandError, describeFailure, isRefusedItem, NotKeptError } from "../failure.ts";
import { countOf, remark } from "../output.ts";
import { Checkpoint, type ImportCounts, type ImportedItem, noCounts } from "./checkpoint.ts";
import type { FileItem } from "./item-formats.ts";
import { ItemHash } from "./item-hash.ts";
import { ProgressBar } from "./progress-bar.ts";

export const conflictRules = ["fail", "skip", "replace"] as const;

interface ImportOptions {
  /** What to do if a stored item with other content has the same ID. */
  readonly rule: (typeof conflictRules)[number];
  readonly parallel: number;
  /** Undefined for standard input. */
  readonly path: string | undefined;
}

interface ImportSummary extends ImportCounts {
  readonly items: number;
  readonly hash: string;
}

interface Outcome {
  readonly kind: keyof ImportCounts;
  readonly etag: string | undefined;
}

const fixedAdvice =
  "Once that is fixed, import again: no item is stored twice, as long as the items before it stay as they are.";
const continueAdvice = "Run the same command again to continue: no item is stored twice.";
const interruptedExitCode = 130;
const pieceBytes = 8 * 1024;

export class ImportRun {
  readonly #client: TodoClient<string>;
  readonly #options: ImportOptions;
  readonly #bar = new ProgressBar(process.stderr);
  readonly #hash = new ItemHash();
  readonly #checkpoint: Checkpoint | undefined;
  #counts = noCounts();
  readonly #bytesTotal: number | undefined;
  #bytes = 0;
  #done = 0;
  #batchSize = 1;
  #interrupted = false;

  constructor(client: TodoClient<string>, options: ImportOptions) {
    const { path } = options;
    this.#client = client;
    this.#options = options;
    this.#checkpoint = path === undefined ? undefined : new Checkpoint(path, client.url);
    this.#bytesTotal = path === undefined ? undefined : Bun.file(path).size;
  }

  /** Counts the bytes as they are read. It yields them in small pieces, so that the progress bar moves steadily. */
  async *counting(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks)
      for (let start = 0; start < chunk.byteLength; start += pieceBytes) {
        const piece = chunk.subarray(start, start + pieceBytes);
        this.#bytes += piece.byteLength;
        yield piece;
      }
  }

  async store(items: AsyncIterable<FileItem>): Promise<ImportSummary> {
    process.on("SIGINT", () => this.#interrupt());
    const resumed = await this.#resume();
    try {
      let batch = new Map<string, FileItem>();
      for await (const { json: given, place } of items) {
        const number = this.#hash.count + 1;
        const object = scanObject(given);
        const json = hasId(object) ? given : withId(object, idFor(given, number));
        this.#hash.add(json);
        if (number <= resumed) {
          this.#done = number;
          continue;
        }
        const key = idOf(json)?.toLowerCase() ?? "";
        // Items with the same ID must not be sent together, because the service has to get them in the order of the
        // file.
        if (batch.size >= this.#batchSize || batch.has(key)) {
          await this.#storeBatch([...batch.values()]);
          batch = new Map();
        }
        batch.set(key, { json, place });
      }
      await this.#storeBatch([...batch.values()]);
    } catch (error) {
      this.#bar.clear();
      if (this.#done === 0) throw withNothingStored(error);
      this.#checkpoint?.save();
      const advice = isPassing(error) ? continueAdvice : fixedAdvice;
      throw withRemark(error, this.#describeStop("Stopped", isPassing(error), advice));
    }
    this.#bar.clear();
    this.#checkpoint?.remove();
    return { items: this.#hash.count, ...this.#counts, hash: String(this.#hash) };
  }

  /** Returns how many items, from the beginning of the file, an earlier run has dealt with. */
  async #resume(): Promise<number> {
    if (!this.#checkpoint || this.#checkpoint.done === 0) return 0;
    const { done, last } = this.#checkpoint;
    if (last && (await this.#isStored(last))) {
      remark(`Continuing after item ${done}, where the last run stopped.`);
    } else {
      this.#checkpoint.startOver();
      remark(
        `The service now has another store than in the last run, or item ${done} was deleted. So the import begins with the first item again, and stores no item twice.`,
      );
    }
    this.#counts = this.#checkpoint.counts;
    return this.#checkpoint.done;
  }

  /** False if the service has lost the item, or has another store by now. */
  async #isStored({ id, epoch }: ImportedItem): Promise<boolean> {
    try {
      const { etag } = await this.#client.get(id);
      return epochOf(etag) === epoch;
    } catch (error) {
      if (hasStatus(error, 404)) return false;
      throw error;
    }
  }

  /**
   * Sends these items all at once, and makes sure that they are stored in order. It looks for the first item that
   * failed or is out of order (see `firstMisplaced`). From there on, it deletes the created items and sends them again
   * one by one. It stops at an item that failed, so nothing is created after that item. Items that existed before this
   * batch keep their place, and are not deleted.
   */
  async #storeBatch(batch: readonly FileItem[]): Promise<void> {
    const results = await Promise.allSettled(batch.map((one) => this.#storeItem(one)));
    // If the server cannot be reached, nothing can be undone now. The next run finds out which of these items were
    // stored.
    for (const result of results) if (result.status === "rejected" && isAway(result.reason)) throw result.reason;
    const outcomes = results.map((result) => (result.status === "fulfilled" ? result.value : undefined));
    const undone = await this.#undo(batch, outcomes, firstMisplaced(outcomes));
    for (const [index, item] of batch.entries()) {
      const result = results[index];
      if (result?.status === "rejected") throw result.reason;
      const outcome = undone.has(index) ? await this.#storeItem(item) : outcomes[index];
      if (outcome) this.#settle(item, outcome);
    }
    const knowsVersions = outcomes.some((outcome) => versionOf(outcome) !== undefined);
    if (undone.size > 0) this.#batchSize = Math.ceil(this.#batchSize / 4);
    else if (this.#batchSize === 1 && knowsVersions) this.#batchSize = this.#options.parallel;
    if (this.#interrupted) this.#exit(false);
  }

  /** Deletes those items that this batch created and whose index is `from` or more. Returns their indexes. */
  async #undo(batch: readonly FileItem[], outcomes: readonly (Outcome | undefined)[], from: number) {
    const undone = new Set<number>();
    const undoOne = async ({ json }: FileItem, index: number) => {
      const outcome = outcomes[index];
      if (index < from || outcome?.kind !== "created") return;
      try {
        await this.#client.remove(idOf(json) ?? "", { ifMatch: outcome.etag });
        undone.add(index);
      } catch (error) {
        // Somebody else has already changed or deleted the item, so it is left as it is.
        if (!hasStatus(error, 404, 412)) throw error;
      }
    };
    await Promise.all(batch.map(undoOne));
    return undone;
  }

  #settle({ json }: FileItem, { kind, etag }: Outcome): void {
    this.#counts[kind]++;
    this.#done++;
    this.#bar.update(this.#done, this.#bytesTotal && this.#bytes / this.#bytesTotal);
    if (!this.#checkpoint) return;
    this.#checkpoint.done = this.#done;
    this.#checkpoint.counts = this.#counts;
    this.#checkpoint.last = { id: idOf(json) ?? "", epoch: epochOf(etag) };
    this.#checkpoint.saveSometimes();
  }

  async #storeItem({ json, place }: FileItem): Promise<Outcome> {
    try {
      const { etag } = await this.#client.create(json);
      return { kind: "created", etag };
    } catch (error) {
      if (hasStatus(error, 409)) return this.#meet(json, place);
      if (!isRefusedItem(error)) throw error;
      const advice = error.code === "TodoItemIDInvalid" ? ` ${invalidIdAdvice}` : "";
      throw new CommandError(`The service refused ${place}: ${printable(error.detail)}${advice}`, { cause: error });
    }
  }

  /** Handles an ID that is already taken. Either an earlier run stored this item, or another item has the ID. */
  async #meet(json: string, place: string): Promise<Outcome> {
    const id = idOf(json) ?? "";
    const { item, etag } = await this.#client.get(id);
    if (sameContent(item, json)) return { kind: "present", etag };
    if (this.#options.rule === "skip") return { kind: "skipped", etag };
    if (this.#options.rule === "replace") return { kind: "replaced", ...(await this.#client.update(json)) };
    throw new CommandError(
      `The item with the ID of ${place}, ${id}, is stored already, with other content. To leave the stored item as it is, add --on-conflict skip. To replace it, add --on-conflict replace.`,
    );
  }

  /** Stops after the batch that is under way, so that the order is kept. A second Ctrl-C stops at once. */
  #interrupt(): void {
    if (this.#interrupted) this.#exit(true);
    this.#interrupted = true;
  }

  #exit(isSending: boolean): never {
    this.#bar.clear();
    this.#checkpoint?.save();
    remark(this.#describeStop("Interrupted", isSending, continueAdvice));
    process.exit(interruptedExitCode);
  }

  /** Says what is stored so far. If `isUnsure` is true, more items were sent, and some of them may be stored too. */
  #describeStop(what: string, isUnsure: boolean, advice: string): string {
    const others = isUnsure ? "Of the next items, some may be stored." : "No other item was created.";
    return `${what} after ${countOf(this.#done)}: ${describeCounts(this.#counts)}. ${others} ${advice}`;
  }
}

/**
 * The index of the first item that failed or is out of order. An item is out of order if the service created it earlier
 * than an item above it in the file. If there is no such item, returns the number of items.
 */
function firstMisplaced(outcomes: readonly (Outcome | undefined)[]): number {
  let newest = 0;
  const index = outcomes.findIndex((outcome) => {
    if (outcome?.kind !== "created") return outcome === undefined;
    const version = versionOf(outcome) ?? newest;
    const isEarly = version < newest;
    newest = version;
    return isEarly;
  });
  return index === -1 ? outcomes.length : index;
}

/**
 * Adds a sentence to the message of an expected error: no item was stored, or none is known to be stored. Returns other
 * errors unchanged. Also returns a `NotKeptError` unchanged, because it already says that nothing was stored.
 */
function withNothingStored(error: unknown): unknown {
  if (error instanceof NotKeptError || !(error instanceof CommandError || isTodoError(error))) return error;
  return withRemark(
    error,
    isPassing(error) ? `No item is known to be stored. ${continueAdvice}` : "No item was stored.",
  );
}

/** The same failure, with the same exit code, whose message ends with this remark. */
function withRemark(error: unknown, remark: string): CommandError {
  return new CommandError(`${describeFailure(error).message}\n${remark}`, { cause: error });
}

export function describeCounts({ created, present, replaced, skipped }: ImportCounts): string {
  const [one, two, three, four] = [created, present, replaced, skipped].map((count) => count.toLocaleString("en"));
  return `${one} created, ${two} already present, ${three} replaced, ${four} skipped`;
}

function isAway(error: unknown): boolean {
  return isTodoError(error, "NetworkError") || isTodoError(error, "TimeoutError");
}

function epochOf(etag: string | undefined): string | undefined {
  return parseToken(etag ?? "")?.epoch;
}

function versionOf(outcome: Outcome | undefined): number | undefined {
  return parseToken(outcome?.etag ?? "")?.version;
}

/** An ID derived from the item and its place in the file, so that every run gives the item the same ID. */
function idFor(json: string, number: number): string {
  const digits = Bun.SHA256.hash(`${number} ${json}`, "hex");
  // UUID version 8 is for custom formats.
  return digits.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-8$3-8$4-$5");
}
