// Checks a store, for `check` and `doctor`: every row and, if it is a SQLite file, the file. PostgreSQL itself looks after
// its files. A check only reads, so it can run beside a service.

import type { Database } from "bun:sqlite";
import { describedList, rootList } from "../../collection/list-key.ts";
import type { PostgresAddress } from "../../engines/postgres/postgres-address.ts";
import { openPostgresSnapshot } from "../../engines/postgres/postgres-snapshot.ts";
import { rowFault } from "../../engines/row-rules.ts";
import type { ListedChange } from "../../engines/snapshot.ts";
import { openForReading, refuseUnreadable } from "../../engines/sqlite/read-only-connection.ts";
import { rowChecksum } from "../../engines/sqlite/row-checksum.ts";
import { explainSqliteError, SqliteStoreError } from "../../engines/sqlite/sqlite-errors.ts";
import { StoredRows } from "../../engines/sqlite/stored-rows.ts";
import { asTyped } from "../../terminal/program-name.ts";
import { type KeptStore, requireFile } from "./store-setting.ts";

/** More findings than this are only counted. */
const findingsShown = 20;

interface CheckReport {
  readonly items: number;
  /** What is damaged. Empty if the store is sound. */
  readonly findings: readonly string[];
}

export async function checkStore(store: KeptStore): Promise<CheckReport> {
  if (store.engine === "postgres") return checkPostgres(store);
  requireFile(store.path);
  return checkSqlite(store.path);
}

export function damagedAdvice(): string {
  return `The store is damaged. Restore a backup: ${asTyped("restore FILE --force")}`;
}

async function checkPostgres(address: PostgresAddress): Promise<CheckReport> {
  const rows = new RowCheck();
  const snapshot = await openPostgresSnapshot(address);
  let count = 0;
  try {
    for await (const item of snapshot.items()) {
      rows.check(item);
      count++;
    }
    if (count !== snapshot.itemCount)
      rows.findings.push(
        `the store has ${count} items, which are not the ${snapshot.itemCount} that its last commit noted`,
      );
    return rows.report();
  } finally {
    await snapshot.close();
  }
}

export function checkSqlite(path: string): CheckReport {
  const rows = new RowCheck();
  let database: Database | undefined;
  try {
    database = openForReading(path, { checksPages: false });
    // The transaction makes all queries see the same state, whatever a service commits in the meantime.
    database.run("BEGIN");
    const integrity = database.query<{ integrity_check: string }, []>("PRAGMA integrity_check(20)");
    for (const { integrity_check: finding } of integrity.iterate())
      if (finding !== "ok") rows.findings.push(`SQLite: ${finding.replaceAll("\n", "; ")}`);
    const stored = new StoredRows(database, path);
    const lists = new Map(stored.lists().map((row) => [row.key, row]));
    for (const row of stored.everyRow()) {
      // Damage can leave values of any type in a row. SQLite checks the types only when it writes.
      const isAsWritten = typeof row.id === "string" && row.checksum === rowChecksum(row) && lists.has(row.key);
      rows.check({ ...row, list: lists.get(row.key)?.list ?? "" }, isAsWritten ? undefined : "its checksum is wrong");
    }
    // Rows may be missing although SQLite's pages fit together, because the disk has lost a page or has an old one.
    const missing = stored.missingRows();
    if (missing !== undefined) rows.findings.push(`the store ${missing}`);
  } catch (error) {
    const explained = explainSqliteError(error, path);
    if (!(explained instanceof SqliteStoreError) || explained.trouble !== "damaged") throw explained;
    rows.findings.push(explained.message);
  } finally {
    database?.close();
  }
  if (rows.findings.length > 0) refuseUnreadable(path);
  return rows.report();
}

/** Collects what is wrong with the rows of a store. */
class RowCheck {
  readonly findings: string[] = [];
  readonly #ids = new Set<string>();

  /** `damage` is what is known to be wrong with the row. */
  check(row: ListedChange, damage?: string): void {
    // IDs are unique within a list.
    const id = `${row.list}\n${row.id}`;
    const isTwice = row.json !== null && this.#ids.has(id);
    const fault = damage ?? (isTwice ? "it is in the list twice" : rowFault(row));
    const where = row.list === rootList ? "" : `list ${describedList(row.list)}, `;
    if (fault !== undefined) this.findings.push(`${where}version ${row.version}, item ${row.id}: ${fault}`);
    if (row.json !== null) this.#ids.add(id);
  }

  report(): CheckReport {
    const more = this.findings.length - findingsShown;
    const findings = this.findings.slice(0, findingsShown);
    if (more > 0) findings.push(`and ${more.toLocaleString("en")} more`);
    return { items: this.#ids.size, findings };
  }
}
