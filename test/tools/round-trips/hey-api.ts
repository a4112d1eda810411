// A round trip with the client that hey-api has generated. The first argument is the address of a service without
// items.

import { client } from "../generated/hey-api/client.gen.ts";
import {
  createItem,
  deleteItem,
  followChanges,
  listItems,
  readChanges,
  readItem,
  updateItemAt,
} from "../generated/hey-api/sdk.gen.ts";
import { expectEqual } from "./expect.ts";

client.setConfig({ baseUrl: process.argv[2] ?? "" });

const created = await createItem({ body: { Name: null, Done: false, Tags: ["a", { b: 1 }] } });
if (!created.data) throw new Error("not created");
const item = created.data;
const path = { id: item.ID };

const list = await listItems();
expectEqual(list.data, [{ ID: item.ID, Name: null, Done: false, Tags: ["a", { b: 1 }] }], "the list");

const first = created.response?.headers.get("ETag") ?? "";
const done = { ...item, Done: true };
const update = () => updateItemAt({ path, headers: { "If-Match": first }, body: done });
expectEqual((await update()).response?.status, 204, "the update");
const stale = await update();
expectEqual(stale.response?.status, 412, "the second update");
expectEqual(stale.error && "current" in stale.error ? stale.error.current : undefined, done, "the current item");

const since = first.replaceAll('"', "");
const changes = await readChanges({ query: { since } });
expectEqual(
  changes.data?.changes.map((change) => change.item?.Done),
  [true],
  "the changes",
);

const feed = await followChanges({ query: { since } });
const events: string[] = [];
for await (const event of feed.stream) {
  events.push(JSON.stringify(event));
  if (events.length === 2) break;
}
expectEqual(events[1]?.includes(item.ID), true, "the second event of the feed");

expectEqual((await deleteItem({ path })).response?.status, 204, "the delete");
expectEqual((await readItem({ path })).error?.code, "RecordNotFound", "the deleted item");
process.exit(0);
