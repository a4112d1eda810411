// A round trip with openapi-fetch and the types that openapi-typescript has generated. The first argument is the
// address of a service without items.

import createClient from "openapi-fetch";
import type { paths } from "../generated/openapi-fetch.ts";
import { expectEqual } from "./expect.ts";

const client = createClient<paths>({ baseUrl: process.argv[2] ?? "" });

const created = await client.POST("/api/todoitems", { body: { Name: null, Done: false, Tags: ["a", { b: 1 }] } });
if (!created.data) throw new Error(`not created: ${created.error.code}`);
const item = created.data;
const path = { id: item.ID };

const list = await client.GET("/api/todoitems");
expectEqual(list.data, [{ ID: item.ID, Name: null, Done: false, Tags: ["a", { b: 1 }] }], "the list");

const first = created.response.headers.get("ETag") ?? "";
const done = { ...item, Done: true };
const update = () => client.PUT("/api/todoitems/{id}", { params: { path, header: { "If-Match": first } }, body: done });
expectEqual((await update()).response.status, 204, "the update");
const stale = await update();
expectEqual(stale.response.status, 412, "the second update");
if (stale.error?.code === "PreconditionFailed" && "current" in stale.error)
  expectEqual(stale.error.current, done, "the current item");
else throw new Error("the 412 has no current item");

const changes = await client.GET("/changes/delta", { params: { query: { since: first.replaceAll('"', "") } } });
expectEqual(
  changes.data?.changes.map((change) => change.item?.Done),
  [true],
  "the changes",
);

expectEqual((await client.DELETE("/api/todoitems/{id}", { params: { path } })).response.status, 204, "the delete");
const gone = await client.GET("/api/todoitems/{id}", { params: { path } });
expectEqual(gone.error?.code, "RecordNotFound", "the deleted item");
