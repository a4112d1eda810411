// Checks the store: can it be opened, and is its content sound? `todoitems check` checks the content in the same way.
// The file of a SQLite store must also be writable, unless the service is read-only.

import { accessSync, existsSync, constants as modes, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { readCondition } from "../../engines/postgres/postgres-condition.ts";
import { systemReason } from "../../files/system-reason.ts";
import { asWord } from "../../terminal/program-name.ts";
import { checkStore, describeVerdict } from "../check.ts";
import { describeStore, followLink, type KeptStore } from "../stores/store-setting.ts";
import { type Finding, fail, pass, type Subject, warn } from "./finding.ts";

export async function checkTheStore({ settings }: Subject): Promise<Finding[]> {
  const { store, demo, readOnly } = settings;
  if (demo) return [pass("none: --demo keeps its items in memory")];
  if (store.engine === "memory")
    return [warn("memory: the items end with the service", "keep them with --store sqlite:PATH")];
  if (store.engine === "postgres") {
    const { hasStore } = await readCondition(store);
    return [hasStore ? await soundness(store) : missingTables(readOnly)];
  }
  const folder = dirname(resolve(store.path));
  if (!existsSync(folder))
    return [
      fail(`${folder}: there is no such folder`, `make it for the user of the service: mkdir -p ${asWord(folder)}`),
    ];
  // SQLite makes its log beside the file, so the folder must be writable too.
  const refused = readOnly ? [] : [folder, ...(existsSync(store.path) ? [store.path] : [])].flatMap(notWritable);
  if (refused.length > 0) return refused;
  if (readOnly && settings.seed === undefined && !existsSync(store.path))
    return [
      warn(
        `${store.path}: there is no such file, so a read-only service has no items`,
        "check the path, or fill the store with --seed FILE",
      ),
    ];
  if (!existsSync(store.path)) return [pass(`${store.path}: it is made at the first start`)];
  return [await soundness({ engine: "sqlite", path: followLink(store.path) })];
}

function missingTables(readOnly: boolean): Finding {
  if (!readOnly) return pass("the tables are made at the first start");
  return fail(
    "the database has no tables, and with --read-only none are made",
    "check the address, or start the service once without --read-only",
  );
}

async function soundness(store: KeptStore): Promise<Finding> {
  const { facts, findings, isSound } = await checkStore(store);
  if (!isSound) return fail(`damaged: ${findings.join("; ")}`, describeVerdict(store, false));
  const [, items = "?"] = facts.find(([label]) => label === "Items") ?? [];
  return pass(`${describeStore(store)}: sound, ${items === "1" ? "1 item" : `${items} items`}`);
}

function notWritable(path: string): Finding[] {
  try {
    accessSync(path, modes.W_OK);
    return [];
  } catch (error) {
    const { uid } = statSync(path);
    const hint =
      uid === process.getuid?.()
        ? `it belongs to this user, who may not write to it: chmod u+w ${asWord(path)}`
        : `it belongs to user ${uid}: give it to the user of the service, or run doctor as that user`;
    return [fail(`${path} cannot be written: ${systemReason(error)}`, hint)];
  }
}
