// A service on PostgreSQL as it is usually written: each request is one INSERT and one commit, over the client
// library's connection pool. It does less work than ours: no checks of items, no order, no conditions, no versions.

import postgres from "postgres";

const [url = ""] = process.argv.slice(2);
const sql = postgres(url, { onnotice() {} });
await sql`create schema if not exists plain`;
await sql`create table if not exists plain.item (id uuid primary key, json text not null)`;

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  development: false,
  async fetch(request) {
    if (request.method !== "POST") return new Response();
    const json = await request.text();
    const { ID } = JSON.parse(json) as { ID: string };
    await sql`insert into plain.item (id, json) values (${ID}, ${json})`;
    return new Response(json, { status: 201, headers: { "Content-Type": "application/json; charset=utf-8" } });
  },
});

console.log(server.port);
