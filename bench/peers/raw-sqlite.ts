// The upper limit for durable writes: SQLite alone, batches of 64 inserts, synchronous=FULL. Prints rows per second.
// Usage: bun raw-sqlite.ts items|log DATABASE MILLISECONDS

import { Database } from "bun:sqlite";

const [table, path = "", milliseconds] = process.argv.slice(2);
const database = new Database(path, { create: true });
database.run("PRAGMA journal_mode = WAL");
database.run("PRAGMA synchronous = FULL");
// "items" is the table that most services would have. "log" is like our own table, to which rows are only appended.
database.run(
  table === "items"
    ? "CREATE TABLE item (id TEXT PRIMARY KEY, json TEXT NOT NULL)"
    : "CREATE TABLE change (version INTEGER PRIMARY KEY, position INTEGER, id TEXT, json TEXT)",
);
const insert = database.query(
  table === "items" ? "INSERT INTO item VALUES (?3, ?4)" : "INSERT INTO change VALUES (?1, ?2, ?3, ?4)",
);
const begin = database.query("BEGIN IMMEDIATE");
const commit = database.query("COMMIT");

let rows = 0;
const start = performance.now();
while (performance.now() - start < Number(milliseconds)) {
  begin.run();
  for (let index = 0; index < 64; index++) {
    rows++;
    const id = crypto.randomUUID();
    const json = `{"ID":"${id}","Name":"Buy ${String(rows).padStart(7, "0")} bottles","Notes":"and bring the empty ones back, twelve","Done":false}`;
    insert.run(rows, rows, id, json);
  }
  commit.run();
}
console.log((rows / (performance.now() - start)) * 1000);
