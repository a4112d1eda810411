// `todoitems check`: reads a whole store and says whether it is sound.

import { asTyped } from "../terminal/program-name.ts";
import { widthOf } from "../terminal/wrapped-text.ts";
import { defineCommand, positionalsOf, UsageError } from "./command.ts";
import { mayBeId } from "./find-item.ts";
import { jsonFlag, printLine, printText } from "./output.ts";
import { checkPostgres } from "./stores/check-postgres.ts";
import type { CheckReport } from "./stores/check-report.ts";
import { checkSqlite } from "./stores/check-sqlite.ts";
import {
  describeStore,
  type KeptStore,
  parseStoreOrPath,
  requireFile,
  storeFlag,
  storeOf,
  withStoreAdvice,
} from "./stores/store-setting.ts";

export const check = defineCommand(
  {
    name: "check",
    parameters: "[STORE]",
    summary: "check that a store is sound",
    flags: [storeFlag, { ...jsonFlag, meaning: "print the report as JSON" }],
    notes:
      "STORE is a file, such as a backup, or what --store takes. A service may be running on it. Exit codes: 0 the store is sound, 1 it is damaged, 3 it cannot be opened.",
  },
  async (args, environment) => {
    const [named] = positionalsOf(args, 0, 1, "STORE");
    if (named !== undefined && args.has("store"))
      throw new UsageError(`There are two stores, ${named} and the one of --store. Name one.`);
    const store = named === undefined ? storeOf(args, environment) : parseStoreOrPath(named);
    const report = await checkStore(store, named !== undefined && mayBeId(named) ? markAdvice(named) : "");
    const { facts, findings, isSound } = report;
    if (args.has("json")) await printLine(JSON.stringify({ sound: isSound, ...Object.fromEntries(facts), findings }));
    else {
      const lines = report.lines(widthOf(process.stdout));
      await printText([`Checked ${describeStore(store)}`, ...lines, describeVerdict(store, isSound)].join("\n"));
    }
    return isSound ? 0 : 1;
  },
);

/** People also try `check` to mark an item as done. So the message names the command that does this. */
function markAdvice(id: string): string {
  return `. To mark an item as done, use: ${asTyped(`done ${id}`)}`;
}

/** If a SQLite store has no file, `advice` is added to the error message. */
export async function checkStore(store: KeptStore, advice = ""): Promise<CheckReport> {
  if (store.engine === "postgres") return checkPostgres(store);
  requireFile(store.path, `Name a store or a backup, as in: ${asTyped("check FILE")}${advice}`);
  return withStoreAdvice(store.path, async () => checkSqlite(store.path));
}

export function describeVerdict(store: KeptStore, isSound: boolean): string {
  if (isSound) return "The store is sound.";
  const stop = store.engine === "sqlite" ? "Stop the service, then restore" : "Restore";
  return `The store is damaged. ${stop} a backup: ${asTyped("restore FILE --force")}`;
}
