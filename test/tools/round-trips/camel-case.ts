// A round trip with an instance that spells field names in camelCase, and the types that openapi-typescript has
// generated from its description. The first argument is the address of that instance, which has no items.

import createClient from "openapi-fetch";
import type { paths } from "../generated/camel-case.ts";
import { expectEqual } from "./expect.ts";

const client = createClient<paths>({ baseUrl: process.argv[2] ?? "" });

const created = await client.POST("/api/todoitems", { body: { name: "Buy milk", done: false } });
if (!created.data) throw new Error(`not created: ${created.error.code}`);
const { id, name, done } = created.data;
expectEqual([typeof id, name, done], ["string", "Buy milk", false], "the created item");

const update = await client.PUT("/api/todoitems", { body: { id, name, done: true } });
expectEqual(update.response.status, 204, "the update");
expectEqual((await client.GET("/api/todoitems")).data, [{ id, name, done: true }], "the list");
