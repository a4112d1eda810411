// Checks a SQLite store: the file, and every row. It only reads, so it can run beside a service.

import type { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import type { Change, Version } from "../../collection/engine.ts";
import { rowFault } from "../../engines/row-rules.ts";
import { realPathOf } from "../../engines/sqlite/open-store.ts";
import { connectForReading, refuseUnreadable } from "../../engines/sqlite/read-only-connection.ts";
import { rowChecksum } from "../../engines/sqlite/row-checksum.ts";
import { checkOwner } from "../../engines/sqlite/schema.ts";
import { explainSqliteError, SqliteStoreError } from "../../engines/sqlite/sqlite-errors.ts";
import { judgeFiles } from "../../engines/sqlite/store-record.ts";
import { StoredRows } from "../../engines/sqlite/stored-rows.ts";
import { asWord } from "../../terminal/program-name.ts";
import { CheckReport, formatBytes } from "./check-report.ts";

/**
 * SQLite puts this heading before its findings about a database. Only one database is open, so the heading is removed.
 */
const databaseHeading = "*** in database main ***\n";

/** If less space than this is unused, the report gives no advice about it. */
const freeBytesMin = 1024 ** 2;

interface StoredRow extends Change {
  readonly checksum: number;
}

/** The number of rows, and the sum of their checksums in 32 bits. The store has noted both with its last commit. */
interface RowSums {
  readonly rowCount: number;
  readonly checksumSum: number;
}

export function checkSqlite(path: string): CheckReport {
  const report = new CheckReport();
  const file = realPathOf(path);
  judgeFiles(file);
  report.fact("File", formatBytes(statSync(file).size));
  const logBytes = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size;
  report.fact("Log", logBytes ? formatBytes(logBytes) : "empty");
  let database: Database | undefined;
  try {
    database = connectForReading(path);
    // The transaction makes all queries see the same state, whatever a service commits in the meantime.
    database.run("BEGIN");
    checkOwner(database, path);
    checkFile(database, report);
    checkStoreRow(database, path, checkRows(database, path, report), report);
    if (report.isSound) checkLists(database, report);
    reportFreeSpace(database, path, report);
  } catch (error) {
    report.finding(`SQLite cannot read further: ${damageOf(error, path)}`);
  } finally {
    database?.close();
  }
  if (!report.isSound) refuseUnreadable(path);
  return report;
}

/** What is damaged, according to this error. Throws the error if it does not mean damage. */
function damageOf(error: unknown, path: string): string {
  const explained = explainSqliteError(error, path);
  if (!(explained instanceof SqliteStoreError) || explained.trouble !== "damaged") throw explained;
  return error instanceof Error ? error.message : explained.message;
}

function checkFile(database: Database, report: CheckReport): void {
  for (const { integrity_check: finding } of database
    .query<{ integrity_check: string }, []>("PRAGMA integrity_check(20)")
    .iterate())
    if (finding !== "ok") report.finding(`SQLite: ${finding.replace(databaseHeading, "").replaceAll("\n", "; ")}`);
}

function checkRows(database: Database, path: string, report: CheckReport): RowSums {
  let last: Version = 0;
  let [rowCount, itemCount, checksumSum] = [0, 0, 0];
  try {
    for (const row of database.query<StoredRow, []>("SELECT * FROM change ORDER BY version").iterate()) {
      last = row.version;
      rowCount++;
      checksumSum = (checksumSum + row.checksum) | 0;
      if (row.json !== null) itemCount++;
      const fault = faultOf(row);
      if (fault !== undefined) report.finding(`version ${row.version}, item ${row.id}: ${fault}`);
    }
  } catch (error) {
    report.finding(`the rows after version ${last} cannot be read: ${damageOf(error, path)}`);
  }
  const deletedCount = rowCount - itemCount;
  report.fact("Items", itemCount.toLocaleString("en"));
  report.fact("Rows", `${rowCount.toLocaleString("en")}, with ${deletedCount.toLocaleString("en")} of deleted items`);
  return { rowCount, checksumSum };
}

function faultOf(row: StoredRow): string | undefined {
  const { id, json, position }: { readonly [column in keyof Change]: unknown } = row;
  // Damage can leave values of any type in a row. SQLite checks the types only when it writes.
  const hasRightTypes =
    typeof position === "number" && typeof id === "string" && (json === null || typeof json === "string");
  if (!hasRightTypes) return "its values have the wrong types";
  return row.checksum === rowChecksum(row) ? rowFault(row) : "its checksum is wrong";
}

/** Rules about several rows. Each query finds items that break a rule, and the text says what is wrong with them. */
const lists: readonly (readonly [sql: string, fault: string])[] = [
  ["SELECT id FROM change GROUP BY position HAVING count(*) > 1", "its position is taken twice"],
  ["SELECT id FROM item GROUP BY id HAVING count(*) > 1", "it is in the list twice"],
];

function checkLists(database: Database, report: CheckReport): void {
  for (const [sql, fault] of lists)
    for (const { id } of database.query<{ id: string }, []>(sql).iterate()) report.finding(`item ${id}: ${fault}`);
}

/** Finds rows that are missing although SQLite's pages fit together, because the disk has lost a page or has an old one. */
function checkStoreRow(database: Database, path: string, found: RowSums, report: CheckReport): void {
  try {
    const { epoch, rowCount, checksumSum } = new StoredRows(database, path).readStore();
    if (epoch === "") report.finding("the store has lost its epoch");
    if (rowCount !== found.rowCount)
      report.finding(
        `the store has noted ${rowCount.toLocaleString("en")} rows, and has ${found.rowCount.toLocaleString("en")}`,
      );
    else if (checksumSum !== found.checksumSum) report.finding("the rows are not those that the store has noted");
  } catch (error) {
    report.finding(damageOf(error, path));
  }
}

function reportFreeSpace(database: Database, path: string, report: CheckReport): void {
  const read = (name: string) => database.query<Record<string, number>, []>(`PRAGMA ${name}`).get()?.[name] ?? 0;
  const bytes = read("freelist_count") * read("page_size");
  report.fact(
    "Free space",
    bytes < freeBytesMin
      ? "little"
      : `${formatBytes(bytes)} in the file are unused. To give them back, stop the service and run: sqlite3 ${asWord(path)} VACUUM`,
  );
}
