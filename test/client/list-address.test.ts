// A client gets another list by the address that it is given, and by nothing else.

import { expect, test } from "bun:test";
import { TodoClient, type TodoItem } from "../../src/client/index.ts";
import { OfflineList } from "../../src/client/offline.ts";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { eventually } from "../eventually.ts";
import { Network } from "../page/network.ts";
import { ids, Service } from "../service.ts";

const names = (items: readonly TodoItem[]) => items.map((item) => item["Name"]);

test("TodoClient, LiveList and OfflineList work at the address of a list, in both spellings, and keep lists apart", async () => {
  const service = await Service.on(new MemoryEngine(), { lists: "many", listMemoryMax: 1 });
  const network = new Network(service);
  const at = (path: string) => new TodoClient(`http://localhost/${path}`, { fetch: network.fetch });
  const [work, home, root] = [at("lists/work"), at("lists/home/api/todoitems/"), at("")];
  await work.create({ ID: ids.one, Name: "write" });
  await home.create({ ID: ids.one, Name: "cook" });
  await work.update({ ID: ids.one, Name: "rewrite" });
  expect(names(await work.list())).toEqual(["rewrite"]);
  expect(names(await home.list())).toEqual(["cook"]);
  expect(await root.list()).toEqual([]);

  const live = work.liveList();
  const unsubscribe = live.subscribe(() => {});
  await eventually(() => live.getSnapshot().status.connection.kind === "live");
  await home.create({ Name: "bake" });
  await work.create({ Name: "print" });
  await eventually(() => live.getSnapshot().items.length === 2);
  expect(names(live.getSnapshot().items.map(({ item }) => item))).toEqual(["rewrite", "print"]);
  unsubscribe();

  const kept = new Map<string, string>();
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  };
  const lists = [work, home].map((client) => new OfflineList(client, { storage }));
  for (const list of lists) list.subscribe(() => {});
  for (const [index, list] of lists.entries()) await list.add({ Name: `offline ${index}` });
  await eventually(async () => {
    expect(names(await work.list())).toEqual(["rewrite", "print", "offline 0"]);
    expect(names(await home.list())).toEqual(["cook", "bake", "offline 1"]);
    for (const list of lists) expect(list.getSnapshot()).toMatchObject({ pending: [], items: { length: 3 } });
  });
  for (const list of lists) await list.close();
  // On the next start without a network, each list is what it was.
  network.state = "down";
  const again = [work, home].map((client) => new OfflineList(client, { storage }));
  for (const [index, list] of again.entries()) {
    await list.ready;
    expect(names(list.getSnapshot().items.map(({ item }) => item))).toContain(`offline ${index}`);
    expect(list.getSnapshot().items).toHaveLength(3);
    await list.close();
  }
  await service.store.close();
});
