// Checks the store: can it be opened, and is its content sound? `todoitems check` checks the content in the same way.
// The file of a SQLite store and its folder must also be writable, unless the service is read-only, and have room.

import { accessSync, existsSync, constants as modes, statfsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { readCondition } from "../../engines/postgres/postgres-condition.ts";
import { systemReason } from "../../files/system-reason.ts";
import { followLink } from "../files/file-argument.ts";
import { formatBytes } from "../stores/check-report.ts";
import { checkStore, describeVerdict } from "../stores/check-store.ts";
import { describeStore, type KeptStore } from "../stores/store-setting.ts";
import { type Finding, fail, pass, type Subject, warn } from "./finding.ts";

/** SQLite's log alone may need this much. */
const leastBytes = 128 * 1024 ** 2;

export async function checkTheStore({ settings: { store, demo, readOnly } }: Subject): Promise<Finding[]> {
  if (demo) return [pass("none: --demo keeps its items in memory")];
  if (store.engine === "memory")
    return [warn("memory: the items end with the service", "keep them with --store sqlite:PATH")];
  if (store.engine === "postgres") {
    const { epoch } = await readCondition(store);
    return [epoch === undefined ? missingTables(readOnly) : await soundness(store)];
  }
  const path = followLink(store.path);
  const folder = dirname(resolve(path));
  if (!existsSync(folder)) return [fail(`${folder}: there is no such folder`, "make it for the user of the service")];
  // SQLite makes its log beside the file, so the folder must be writable too.
  const paths = [folder, ...(existsSync(path) ? [path] : [])];
  const refused = readOnly ? [] : paths.flatMap(notWritable);
  if (refused.length > 0) return refused;
  if (existsSync(path)) return [await soundness({ engine: "sqlite", path }), room(path, folder)];
  if (readOnly) return [warn(`${path}: there is no such file, so a read-only service has no items`, "check the path")];
  return [pass(`${path}: it is made at the first start`), room(path, folder)];
}

function missingTables(readOnly: boolean): Finding {
  if (!readOnly) return pass("the tables are made at the first start");
  return fail("the database has no tables, and with --read-only none are made", "check the address");
}

async function soundness(store: KeptStore): Promise<Finding> {
  const { facts, findings, isSound } = await checkStore(store);
  if (!isSound) return fail(`damaged: ${findings.join("; ")}`, describeVerdict(store, false));
  const [, items = "?"] = facts.find(([label]) => label === "Items") ?? [];
  return pass(`${describeStore(store)}: sound, ${items} item${items === "1" ? "" : "s"}`);
}

/** The store grows, and a backup or a restore needs a copy of it. */
function room(path: string, folder: string): Finding {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const text = `${formatBytes(free)} are free in ${folder}`;
  const hint = "free some space: when the disk is full, writes return 503";
  if (free < leastBytes) return fail(text, hint);
  return free < 2 * size ? warn(`${text}, and the store has ${formatBytes(size)}`, hint) : pass(text);
}

function notWritable(path: string): Finding[] {
  try {
    accessSync(path, modes.W_OK);
    return [];
  } catch (error) {
    return [
      fail(
        `${path} cannot be written: ${systemReason(error)}`,
        `it belongs to user ${statSync(path).uid}: give it to the user of the service, or run doctor as that user`,
      ),
    ];
  }
}
