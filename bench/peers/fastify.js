// A typical service to compare ours with: Fastify and better-sqlite3, with one statement and one commit for each
// request. Its writes are as durable as ours.
// Usage: node fastify.js PORT DATABASE [FILE-OF-ITEMS]

import { readFileSync } from "node:fs";
import Database from "better-sqlite3";
import fastify from "fastify";

const [port, path, seed] = process.argv.slice(2);
const database = new Database(path);
database.pragma("journal_mode = WAL");
database.pragma("synchronous = FULL");
database.exec("CREATE TABLE IF NOT EXISTS item (id TEXT PRIMARY KEY, json TEXT NOT NULL)");
const list = database.prepare("SELECT json FROM item ORDER BY rowid");
const insert = database.prepare("INSERT INTO item (id, json) VALUES (?, ?)");
const update = database.prepare("UPDATE item SET json = ? WHERE id = ?");
const remove = database.prepare("DELETE FROM item WHERE id = ?");

if (seed) {
  const items = JSON.parse(readFileSync(seed, "utf8"));
  database.transaction(() => {
    for (const item of items) insert.run(item.ID.toLowerCase(), JSON.stringify(item));
  })();
}

const app = fastify();

app.get("/api/todoitems/", (_request, reply) => {
  reply.type("application/json; charset=utf-8");
  return `[${list
    .all()
    .map(({ json }) => json)
    .join(",")}]`;
});

app.post("/api/todoitems/", (request, reply) => {
  try {
    insert.run(request.body.ID.toLowerCase(), JSON.stringify(request.body));
  } catch (error) {
    if (error.code !== "SQLITE_CONSTRAINT_PRIMARYKEY") throw error;
    return reply.code(409).send({ error: "in use" });
  }
  return reply.code(201).send(request.body);
});

app.put("/api/todoitems/:id", (request, reply) => {
  const { changes } = update.run(JSON.stringify(request.body), request.params.id.toLowerCase());
  return reply.code(changes === 0 ? 404 : 204).send();
});

app.delete("/api/todoitems/:id", (request, reply) => {
  const { changes } = remove.run(request.params.id.toLowerCase());
  return reply.code(changes === 0 ? 404 : 204).send();
});

await app.listen({ port: Number(port), host: "127.0.0.1" });
console.log("ready");
