// `lists --store` and `lists remove`: what a store has of each user, and the end of it.

import { describe, expect, test } from "bun:test";
import { listKey } from "../../src/collection/list-key.ts";
import { TodoStore } from "../../src/collection/todo-store.ts";
import { engineKinds } from "../engines/engine-kinds.ts";
import { ids, item } from "../service.ts";
import { runHere } from "./command-line.ts";

const subject = "https://login.example 7";

async function fill(store: TodoStore): Promise<void> {
  const create = (list: string, owner: string, id: string) =>
    store.list(listKey(list, owner)).write({ kind: "create", item: { id, json: item(id) } });
  await create("", "ann", ids.one);
  await create("work", "ann", ids.one);
  await create("work", "ann", ids.two);
  await create("", "bob", ids.one);
  await create("a", subject, ids.one);
}

for (const kind of engineKinds.filter(({ durable }) => durable))
  describe(`the lists of a ${kind.name} store`, () => {
    test("are shown with their owners, and those of a user can be deleted, one or all", async () => {
      const kept = await kind.createStore();
      const open = async () => TodoStore.open(await kept.open(), { listMemoryMax: 1_000_000 });
      const lists = (...words: string[]) => runHere(["lists", ...words, "--store", kept.address]);
      const shown = async () => (await lists()).stdout.trimEnd().split("\n");
      const bytes = item(ids.one).length;
      let store = await open();
      await fill(store);
      // Instances of a service may use PostgreSQL at the same time. A SQLite store has one owner.
      if (!kind.isShared) await store.close();
      expect(await shown()).toEqual([
        `ann\t(root)\t1\t${bytes}`,
        `ann\twork\t2\t${2 * bytes}`,
        `bob\t(root)\t1\t${bytes}`,
        `${subject}\ta\t1\t${bytes}`,
      ]);
      expect(JSON.parse((await lists("--json")).stdout)[1]).toEqual({
        owner: "ann",
        name: "work",
        items: 2,
        bytes: 2 * bytes,
      });
      expect(await lists("remove", "ann", "work")).toEqual({
        exitCode: 0,
        stdout: "",
        stderr: "Deleted 2 items in 1 list of ann\n",
      });
      expect(await lists("remove", "ANN")).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining("no such list"),
      });
      expect(await lists("remove", "ann", "nosuch")).toMatchObject({ exitCode: 1 });
      expect(await lists("remove", "ann")).toMatchObject({ exitCode: 0 });
      expect(await lists("remove", subject)).toMatchObject({ exitCode: 0 });
      expect(await shown()).toEqual([`bob\t(root)\t1\t${bytes}`]);
      if (!kind.isShared) store = await open();
      // The next user of this name finds an empty list that goes on, so what was read before never fits again.
      const work = store.list(listKey("work", "ann"));
      await work.refresh();
      expect([work.count, work.version]).toEqual([0, 4]);
      await store.close();
      await kept.dispose();
    });
  });

test("lists remove needs a user, nothing else is an action, and neither asks a service", async () => {
  expect(await runHere(["lists", "remove"])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("USER") });
  expect(await runHere(["lists", "ann"])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("lists --store STORE"),
  });
  for (const words of [
    ["remove", "ann"],
    ["--store", "sqlite:a.db"],
  ])
    expect(await runHere(["lists", ...words, "--server", "5000"])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("--server is for a service"),
    });
});
