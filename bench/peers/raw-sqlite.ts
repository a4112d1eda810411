// The upper limit for durable writes: SQLite alone, batches of 64 inserts, synchronous=FULL. Prints rows per second.
// Usage: bun raw-sqlite.ts DATABASE MILLISECONDS

import { Database } from "bun:sqlite";

const [path = "", milliseconds] = process.argv.slice(2);
const database = new Database(path, { create: true });
database.run("PRAGMA journal_mode = WAL");
database.run("PRAGMA synchronous = FULL");
database.run("CREATE TABLE item (id TEXT PRIMARY KEY, json TEXT NOT NULL)");
const insert = database.query("INSERT INTO item VALUES (?1, ?2)");
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
    insert.run(id, json);
  }
  commit.run();
}
console.log((rows / (performance.now() - start)) * 1000);
