// Tests that a service refuses a store with items that it would not show.

import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { rootList } from "../../src/collection/list-key.ts";
import { TodoStore } from "../../src/collection/todo-store.ts";
import { listMismatch } from "../../src/serve/offered-lists.ts";
import { engineKinds, type TestStore, temporaryFolder } from "../engines/engine-kinds.ts";
import { createPostgresStore } from "../engines/postgres/postgres-store.ts";
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
      for (const list of emptied) {
        await store.list(list).write(created);
        await store.list(list).write({ kind: "delete", id: ids.one, condition: undefined });
      }
      for (const list of lists) await store.list(list).write(created);
      const found = [
        await listMismatch(engine, "one"),
        await listMismatch(engine, "many"),
        await listMismatch(engine, "user"),
      ];
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
      expect([many, user]).toEqual([undefined, expect.stringMatching(/Start the service with --lists many; /)]);
    });

    test("with items of a user is for users", async () => {
      const nobodys = expect.stringMatching(/in lists of users, .* --lists user; .* export them as that user/);
      expect(await refusals(["\nann"], ["work"])).toEqual([nobodys, nobodys, undefined]);
    });
  });
}

test("of two services that started on an empty store, with lists of nobody and of users, only one fills it", async () => {
  const place = await createPostgresStore();
  const [nobodys, users] = [await TodoStore.open(await place.open()), await TodoStore.open(await place.open())];
  const created = { kind: "create", item: { id: ids.one, json: item(ids.one) } } as const;
  const ways = [
    { first: () => nobodys.list("work"), second: () => users.list("\nann") },
    { first: () => users.list("\nann"), second: () => nobodys.list(rootList) },
  ];
  for (const { first, second } of ways) {
    expect(await first().write(created)).toMatchObject({ kind: "done" });
    await expect(second().write(created)).rejects.toThrow(/has put items into lists of the other kind/);
    expect(await users.names("ann")).toEqual(first().key === "work" ? [] : [""]);
    expect(await nobodys.names("")).toEqual(first().key === "work" ? ["work"] : []);
    await first().write({ kind: "delete", id: ids.one, condition: undefined });
  }
  await Promise.all([nobodys.close(), users.close()]);
  await place.dispose();
});

describe("the program says why it refuses a SQLite store, and writes nothing", () => {
  const folder = temporaryFolder();
  afterAll(() => folder.dispose());

  /** A store with an item in a list, and the program that has it open. */
  async function startStore(name: string): Promise<{ args: string[]; program: Program; path: string }> {
    mkdirSync(join(folder.path, name));
    const path = join(folder.path, name, "store.db");
    const args = ["--port", "0", "--store", `sqlite:${path}`];
    const program = await Program.start({ args: [...args, "--lists", "many"] });
    const created = await program.send("POST", "/lists/work/api/todoitems/", item(ids.one));
    expect(created.status).toBe(201);
    return { args, program, path };
  }

  /** The files in the folder of a store, each with a hash of its content. */
  function filesBeside(path: string): [string, bigint | number][] {
    const place = dirname(path);
    return readdirSync(place)
      .sort()
      .map((name) => [name, Bun.hash(readFileSync(join(place, name)))]);
  }

  async function expectRefusal(args: string[]): Promise<void> {
    const { exitCode, stderr } = await runProgram("serve", { args });
    expect(exitCode).toBe(1);
    expect(stderr).toContain('the store cannot be used: it has items in the list "work"');
  }

  test("that was closed: no file is made beside it", async () => {
    const { args, program, path } = await startStore("closed");
    await program.stop();
    for (const name of readdirSync(dirname(path))) if (name !== "store.db") rmSync(join(dirname(path), name));
    const before = filesBeside(path);
    await expectRefusal(args);
    expect(filesBeside(path)).toEqual(before);
    expect(before.map(([name]) => name)).toEqual(["store.db"]);
  });

  test("whose service was killed: the store, its log and its record are as they were", async () => {
    const { args, program, path } = await startStore("killed");
    await program.stop("SIGKILL");
    const written = () => filesBeside(path).filter(([name]) => !/-(lock|shm)$/.test(name));
    const before = written();
    expect(before.map(([name]) => name)).toEqual(["store.db", "store.db-record", "store.db-wal"]);
    await expectRefusal(args);
    expect(written()).toEqual(before);
    // The other kind of service goes on where the killed one was.
    const next = await Program.start({ args: [...args, "--lists", "many"] });
    const list = await next.fetch("/lists/work/api/todoitems/");
    expect(await list.text()).toBe(`[${item(ids.one)}]`);
    await next.stop();
  });
});
