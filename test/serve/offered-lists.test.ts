// Tests that a service refuses a store with items that it would not show.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { TodoStore } from "../../src/collection/todo-store.ts";
import { refusalOf } from "../../src/serve/offered-lists.ts";
import { engineKinds, type TestStore, temporaryFolder } from "../engines/engine-kinds.ts";
import { Program, runProgram } from "../program.ts";
import { ids, item } from "../service.ts";

for (const kind of engineKinds) {
  describe(`a store [${kind.name}]`, () => {
    let place: TestStore;

    beforeEach(async () => {
      place = await kind.createStore();
    });

    afterEach(() => place.dispose());

    /** What services with `one`, `many` and `user` lists say about a store with an item in each of these lists. */
    async function refusals(lists: readonly string[], emptied: readonly string[] = []): Promise<unknown[]> {
      const engine = await place.open();
      const store = await TodoStore.open(engine);
      const created = { kind: "create", item: { id: ids.one, json: item(ids.one) } } as const;
      for (const list of [...lists, ...emptied]) await store.list(list).write(created);
      for (const list of emptied) await store.list(list).write({ kind: "delete", id: ids.one, condition: undefined });
      const found = [await refusalOf(engine, "one"), await refusalOf(engine, "many"), await refusalOf(engine, "user")];
      await store.close();
      return found;
    }

    test("without items is for everybody", async () => {
      expect(await refusals([], ["", "work", "work\nann"])).toEqual([undefined, undefined, undefined]);
    });

    test("with items in the root list is not for users, whatever was in another list", async () => {
      const users = expect.stringMatching(/in the root list, .* --lists one; .* import them as this user/);
      expect(await refusals([""], ["work"])).toEqual([undefined, undefined, users]);
    });

    test("with items in a named list is for a service with many lists", async () => {
      const [one, many, user] = await refusals(["", "work"]);
      expect(one).toMatch(/in the list "work", .* --lists many$/);
      expect([many, user]).toEqual([undefined, expect.stringContaining("--lists user")]);
    });

    test("with items of a user is for users", async () => {
      const nobodys = expect.stringMatching(/in lists of users, .* --lists user; .* export them as that user/);
      expect(await refusals(["\nann"], ["work"])).toEqual([nobodys, nobodys, undefined]);
    });
  });
}

test("the program says why it refuses the store, and closes it", async () => {
  const folder = temporaryFolder();
  const path = join(folder.path, "store.db");
  const args = ["--port", "0", "--store", `sqlite:${path}`];
  const program = await Program.start({ args: [...args, "--lists", "many"] });
  const created = await program.send("POST", "/lists/work/api/todoitems/", item(ids.one));
  expect(created.status).toBe(201);
  await program.stop();
  const { exitCode, stderr } = await runProgram("serve", { args });
  expect(exitCode).toBe(1);
  expect(stderr).toContain('the store cannot be used: it has items in the list "work"');
  expect(existsSync(`${path}-wal`)).toBe(false);
  folder.dispose();
});
