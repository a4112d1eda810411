// Checks a SQLite store: the file, its log, and every row. It only reads, so it can run beside a service.

import { type Database, SQLiteError } from "bun:sqlite";
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { type Change, StoreError, type Version } from "../../collection/engine.ts";
import { rowFault } from "../../engines/row-rules.ts";
import { connectForReading } from "../../engines/sqlite/read-only-connection.ts";
import { rowChecksum } from "../../engines/sqlite/row-checksum.ts";
import { checkOwner, currentSchema, schemaOf } from "../../engines/sqlite/schema.ts";
import { describeSetAside } from "../../engines/sqlite/set-aside-log.ts";
import { explainSqliteError } from "../../engines/sqlite/sqlite-errors.ts";
import { StoreRow } from "../../engines/sqlite/store-row.ts";
import { Survey } from "../../engines/sqlite/sweep.ts";
import { scanLog } from "../../engines/sqlite/write-ahead-log.ts";
import { hasExportName } from "../../files/export-name.ts";
import { isCompressed } from "../../files/not-text.ts";
import { asTyped, asWord } from "../../program-name.ts";
import { CheckReport } from "./check-report.ts";
import { formatBytes, formatCount } from "./store-summary.ts";

/**
 * SQLite puts this heading before its findings about a database. Only one database is open, so the heading is removed.
 */
const databaseHeading = "*** in database main ***\n";

/** If less space than this is unused, the report gives no advice about it. */
const freeBytesMin = 1024 ** 2;

interface StoredRow extends Change {
  readonly checksum?: number;
}

export function checkSqlite(path: string): CheckReport {
  const report = new CheckReport();
  refuseForeign(path);
  checkLog(path, report);
  const setAside = describeSetAside(path);
  if (setAside) report.fact("Set aside", `${setAside.text}. ${setAside.hint}`);
  let database: Database | undefined;
  try {
    database = connectForReading(path);
    // The transaction makes all queries see the same state, whatever a service commits in the meantime.
    database.run("BEGIN");
    checkOwner(database, path);
    checkFile(database, path, report);
    if (schemaOf(database) === 0) report.finding("the file has no tables");
    else checkTables(database, path, report);
    reportFreeSpace(database, path, report);
  } catch (error) {
    if (!isDamage(error)) throw explainSqliteError(error, path);
    report.finding(`SQLite cannot read further: ${error.message}`);
  } finally {
    database?.close();
  }
  return report;
}

/**
 * Throws if the file has neither of the two marks of a store: the name of SQLite's file format, and "todo" at byte 68.
 * One mark is enough, because damage may have destroyed the other. So this accepts any SQLite file, and `checkOwner`
 * refuses those of other programs.
 */
function refuseForeign(path: string): void {
  const start = Buffer.alloc(100);
  const file = openSync(path, "r");
  try {
    readSync(file, start, 0, start.length, 0);
  } finally {
    closeSync(file);
  }
  if (isCompressed(start))
    throw new StoreError(
      `${path}: this file is compressed. Unpack it first, for example with gunzip, and name the result.`,
    );
  const hasMark = start.toString("latin1", 0, 15) === "SQLite format 3" || start.toString("latin1", 68, 72) === "todo";
  if (hasMark) return;
  const advice = hasExportName(path) ? ` To add the items of an export, use: ${asTyped(`import ${asWord(path)}`)}` : "";
  throw new StoreError(`${path}: this is not a todoitems store. Name a store or a backup.${advice}`);
}

function checkLog(path: string, report: CheckReport): void {
  const { bytes, transactions, bad, isDamaged } = scanLog(path);
  const place = bad && (bad.frame === 0 ? "its header" : `frame ${bad.frame}, byte ${bad.offset}`);
  if (isDamaged) report.finding(`the log is damaged at ${place}; complete commits follow that place`);
  report.fact(
    "Log",
    bytes === 0
      ? "empty"
      : `${formatBytes(bytes)}, ${formatCount(transactions, "commit")}${bad && !isDamaged ? ", and the start of one that was never completed, which is normal after a crash" : ""}`,
  );
}

function checkFile(database: Database, path: string, report: CheckReport): void {
  const schema = schemaOf(database);
  report.fact("File", `${formatBytes(statSync(path).size)}, schema ${schema}`);
  if (schema > 0 && schema < currentSchema)
    report.fact("Note", "this schema has no checksums; start the service once to bring the store up to date");
  for (const { integrity_check: finding } of database
    .query<{ integrity_check: string }, []>("PRAGMA integrity_check(20)")
    .iterate())
    if (finding !== "ok") report.finding(`SQLite: ${finding.replace(databaseHeading, "").replaceAll("\n", "; ")}`);
}

function checkTables(database: Database, path: string, report: CheckReport): void {
  checkRows(database, report);
  if (report.isSound) checkHistories(database, report);
  checkStoreRow(database, path, report);
}

function checkRows(database: Database, report: CheckReport): void {
  const survey = new Survey();
  let last: Version = 0;
  try {
    for (const row of database.query<StoredRow, []>("SELECT * FROM change ORDER BY version").iterate()) {
      last = row.version;
      survey.note(row);
      const isWrong = row.checksum !== undefined && row.checksum !== rowChecksum(row);
      const fault = isWrong ? "its checksum is wrong" : rowFault(row);
      if (fault !== undefined) report.finding(`version ${row.version}, item ${row.id}: ${fault}`);
    }
  } catch (error) {
    if (!isDamage(error)) throw error;
    report.finding(`the rows after version ${last} cannot be read: ${error.message}`);
  }
  const { rowCount, obsolete, tombstones } = survey;
  report.fact("Items", (rowCount - obsolete.length - tombstones.length).toLocaleString("en"));
  report.fact(
    "Rows",
    `${rowCount.toLocaleString("en")}, with ${obsolete.length.toLocaleString("en")} that were replaced and ${tombstones.length.toLocaleString("en")} of deleted items`,
  );
}

/** Rules about several rows. Each query finds items that break a rule, and the text says what is wrong with them. */
const histories: readonly (readonly [sql: string, fault: string])[] = [
  ["SELECT id FROM change GROUP BY position HAVING count(DISTINCT id) > 1", "its rows have different IDs"],
  [
    "SELECT id FROM change GROUP BY position HAVING max(iif(json IS NULL, version, 0)) NOT IN (0, max(version))",
    "it was changed after it was deleted",
  ],
  ["SELECT id FROM item GROUP BY id HAVING count(*) > 1", "it is in the list twice"],
];

function checkHistories(database: Database, report: CheckReport): void {
  for (const [sql, fault] of histories)
    for (const { id } of database.query<{ id: string }, []>(sql).iterate()) report.finding(`item ${id}: ${fault}`);
}

function checkStoreRow(database: Database, path: string, report: CheckReport): void {
  if (schemaOf(database) < currentSchema) return;
  const counts = database
    .query<{ rows: number; version: Version }, []>(
      "SELECT (SELECT count(*) FROM store) AS rows, (SELECT coalesce(max(version), 0) FROM change) AS version",
    )
    .get();
  if (counts?.rows !== 1) {
    report.finding(`table store has ${counts?.rows} rows, and must have one`);
    return;
  }
  try {
    const { epoch, prunedThrough } = new StoreRow(database, path).read();
    if (epoch === "") report.finding("the store has lost its epoch");
    if (prunedThrough < 0 || prunedThrough > counts.version)
      report.finding(
        `deletions were dropped up to version ${prunedThrough}, but the last version is ${counts.version}`,
      );
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    report.finding("the checksum of the row in table store is wrong");
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

function isDamage(error: unknown): error is SQLiteError {
  return (
    error instanceof SQLiteError && ["SQLITE_NOTADB", "SQLITE_CORRUPT"].some((code) => error.code?.startsWith(code))
  );
}
