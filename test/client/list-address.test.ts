// A client gets another list by the address that it is given, and by nothing else.

import { afterEach, expect, test } from "bun:test";
import { TodoClient, type TodoItem } from "../../src/client/index.ts";
import { OfflineList } from "../../src/client/offline.ts";
import { eventually } from "../eventually.ts";
import { ids } from "../service.ts";
import { MapStorage } from "./map-storage.ts";
import { closeAll, follow, names, openService } from "./opened-service.ts";

afterEach(closeAll);

const namesOf = (items: readonly TodoItem[]) => items.map(({ Name }) => Name);

test("TodoClient, LiveList and OfflineList work at the address of a list, in both spellings, and keep lists apart", async () => {
  const { network } = await openService({ lists: "many", listMemoryMax: 1 });
  const at = (path: string) => new TodoClient(`http://localhost/${path}`, { fetch: network.fetch });
  const [work, home, root] = [at("lists/work"), at("lists/home/api/todoitems/"), at("")];
  await work.create({ ID: ids.one, Name: "write" });
  await home.create({ ID: ids.one, Name: "cook" });
  await work.update({ ID: ids.one, Name: "rewrite" });
  expect(namesOf(await work.list())).toEqual(["rewrite"]);
  expect(namesOf(await home.list())).toEqual(["cook"]);
  expect(await root.list()).toEqual([]);

  const live = work.liveList();
  const unsubscribe = await follow(live);
  await home.create({ Name: "bake" });
  await work.create({ Name: "print" });
  await eventually(() => live.getSnapshot().items.length === 2);
  expect(names(live)).toEqual(["rewrite", "print"]);
  unsubscribe();

  const storage = new MapStorage();
  const lists = [work, home].map((client) => new OfflineList(client, { storage }));
  for (const list of lists) list.subscribe(() => {});
  for (const [index, list] of lists.entries()) await list.add({ Name: `offline ${index}` });
  await eventually(async () => {
    expect(namesOf(await work.list())).toEqual(["rewrite", "print", "offline 0"]);
    expect(namesOf(await home.list())).toEqual(["cook", "bake", "offline 1"]);
    for (const list of lists) expect(list.getSnapshot()).toMatchObject({ pending: [], items: { length: 3 } });
  });
  for (const list of lists) await list.close();
  // On the next start without a network, each list is what it was.
  network.state = "down";
  const again = [work, home].map((client) => new OfflineList(client, { storage }));
  for (const [index, list] of again.entries()) {
    await list.ready;
    expect(names(list)).toContain(`offline ${index}`);
    expect(names(list)).toHaveLength(3);
    await list.close();
  }
});
