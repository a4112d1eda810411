// The recipes of docs/works-with.md: each file of examples/works-with/ is compiled in a strict project, and run against a
// real service.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Collection } from "@tanstack/db";
import type { DataProvider } from "ra-core";
import { createRxDatabase, defaultConflictHandler, type RxCollection } from "rxdb";
import { getRxStorageMemory } from "rxdb/plugins/storage-memory";
import { TodoClient, type TodoItem } from "../../src/client/index.ts";
import { eventually } from "../eventually.ts";
import { Program, projectFolder } from "../program.ts";
import { generatedFolder, run, tool } from "./tool.ts";

const recipes = join(projectFolder, "examples/works-with");
const folder = join(generatedFolder, "works-with");
const client = join(projectFolder, "src/client");
/** The service as react-admin and refine want it, with `id`, and as it is by default. */
let camel: Program;
let program: Program;
let todo: TodoClient;

interface Document {
  id: string;
  etag: string;
  item: Record<string, unknown>;
}

const project = {
  compilerOptions: {
    ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
    ...{ skipLibCheck: true, noEmit: true, types: [] },
    ...{ target: "ES2023", lib: ["ES2023", "DOM", "DOM.Iterable"], module: "ESNext", moduleResolution: "Bundler" },
    allowImportingTsExtensions: true,
  },
};

beforeAll(async () => {
  camel = await Program.start({ args: ["--port", "0", "--store", "memory:", "--field-names", "camel"] });
  program = await Program.start({ args: ["--port", "0", "--store", "memory:"] });
  todo = new TodoClient(program.origin);
  mkdirSync(folder, { recursive: true });
  await Bun.write(join(folder, "tsconfig.json"), JSON.stringify(project));
  // test/tools/client-recipes.long.test.ts compiles and runs those for React.
  for (const name of readdirSync(recipes).filter((file) => file.endsWith(".ts")))
    await Bun.write(join(folder, name), asInstalled(name));
});
afterAll(() => Promise.all([camel.stop(), program.stop()]));

/** A recipe with the address of this test's service, and with the client of this project. */
function asInstalled(name: string): string {
  const recipe = readFileSync(join(recipes, name), "utf8");
  return recipe
    .replaceAll("http://localhost:5000", (recipe.includes("--field-names camel") ? camel : program).origin)
    .replaceAll('"todoitems-client"', JSON.stringify(join(client, "index.ts")))
    .replaceAll('"todoitems-client/offline"', JSON.stringify(join(client, "offline.ts")));
}

test("the recipes compile in a strict project", async () => {
  await run(tool("typescript/bin/tsc", "-p", folder));
});

test("docs/works-with.md shows the recipes for refine and react-admin as they are run", () => {
  const shown = readFileSync(join(projectFolder, "docs/works-with.md"), "utf8").replace('"react-admin"', '"ra-core"');
  const blocks = [...shown.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => withoutComments(code ?? ""));
  const files = ["refine.ts", "react-admin.ts"].map((name) => readFileSync(join(recipes, name), "utf8"));
  expect(blocks).toEqual(files.map(withoutComments));
});

function withoutComments(code: string): string {
  return code.replaceAll(/^\/[/*].*\n| \/\/.*$/gm, "").trim();
}

test("react-admin lists, creates, reads, updates and deletes", async () => {
  const { dataProvider }: { dataProvider: DataProvider } = await import(join(folder, "react-admin.ts"));
  const query = { pagination: { page: 1, perPage: 10 }, sort: { field: "id", order: "ASC" as const }, filter: {} };
  const { data: created } = await dataProvider.create("todoitems", { data: { name: "One", price: 1.5 } });
  expect(await dataProvider.getList("todoitems", query)).toMatchObject({ data: [created], total: 1 });
  const { id } = created;
  const changed = { ...created, name: "Two" };
  const { data: updated } = await dataProvider.update("todoitems", { id, data: changed, previousData: created });
  expect(updated).toEqual(changed);
  expect((await dataProvider.getOne("todoitems", { id })).data).toEqual(changed);
  expect(await dataProvider.delete("todoitems", { id, previousData: changed })).toHaveProperty("data");
  expect((await dataProvider.getList("todoitems", query)).data).toEqual([]);
});

test("refine lists, creates, reads, updates with PUT, and deletes", async () => {
  const { dataProvider } = await import(join(folder, "refine.ts"));
  const resource = "todoitems";
  const { data: created } = await dataProvider.create({ resource, variables: { name: "One", price: 1.5 } });
  expect(await dataProvider.getList({ resource })).toEqual({ data: [created], total: 1 });
  const { id } = created;
  await dataProvider.update({ resource, id, variables: { ...created, name: "Two" }, meta: { method: "put" } });
  expect((await dataProvider.getOne({ resource, id })).data).toEqual({ ...created, name: "Two" });
  await dataProvider.deleteOne({ resource, id });
  expect((await dataProvider.getList({ resource })).data).toEqual([]);
});

test("TanStack DB shows the list, follows it, and sends inserts, updates and deletions without a flicker", async () => {
  const { todos }: { todos: Collection<TodoItem, string> } = await import(join(folder, "tanstack-db.ts"));
  const { id } = await todo.create({ Name: "One", Price: 1.5 });
  await todos.preload();
  const names = () => todos.toArray.map(({ Name }) => Name).sort();
  const seen: string[] = [];
  const subscription = todos.subscribeChanges(() => seen.push(names().join()));
  expect(names()).toEqual(["One"]);
  const ID = crypto.randomUUID();
  await todos.insert({ ID, Name: "Two" }).isPersisted.promise;
  await eventually(async () => expect((await todo.get(ID)).item.Name).toBe("Two"));
  await todos.update(id, (draft) => {
    draft.Name = "Three";
  }).isPersisted.promise;
  await eventually(async () => expect((await todo.get(id)).item).toEqual({ ID: id, Name: "Three", Price: 1.5 }));
  await todo.change(id, (item) => ({ ...item, Name: "Four" }));
  await eventually(() => expect(names()).toEqual(["Four", "Two"]));
  await todos.delete(ID).isPersisted.promise;
  await eventually(async () => expect(await todo.list()).toHaveLength(1));
  await todo.remove(id);
  await eventually(() => expect(names()).toEqual([]));
  subscription.unsubscribe();
  expect(seen.filter((state, index) => state !== seen[index - 1])).toEqual([
    "One,Two",
    "Three,Two",
    "Four,Two",
    "Four",
    "",
  ]);
});

test("RxDB pulls and pushes, and the item of a 412 is its conflict document", async () => {
  const recipe = await import(join(folder, "rxdb.ts"));
  const database = await createRxDatabase({ name: "works-with", storage: getRxStorageMemory(), multiInstance: false });
  const conflicts: Document[] = [];
  const { todos } = await database.addCollections<{ todos: RxCollection<Document> }>({
    todos: {
      schema: recipe.todoSchema,
      conflictHandler: {
        ...defaultConflictHandler,
        resolve: (conflict, context) => {
          conflicts.push(conflict.realMasterState);
          return defaultConflictHandler.resolve(conflict, context);
        },
      },
    },
  });
  const { id } = await todo.create({ Name: "One", Price: 1.5 });
  const replication = recipe.replicateTodos(todos);
  await replication.awaitInitialReplication();
  const kept = await todos.findOne(id).exec(true);
  const setName = (Name: string) => kept.incrementalModify((data) => ({ ...data, item: { ...data.item, Name } }));
  const storedName = async () => (await todo.get(id)).item.Name;

  // Two edits follow each other without a pull in between: the second is based on what the first has stored.
  for (const name of ["Two", "Three"]) {
    await setName(name);
    await replication.awaitInSync();
    expect(await storedName()).toBe(name);
  }
  expect((await todo.get(id)).item["Price"]).toBe(1.5);
  expect(conflicts).toEqual([]);

  await todo.change(id, (item) => ({ ...item, Name: "Theirs" }));
  await setName("Mine");
  await eventually(() => expect(kept.getLatest().item["Name"]).toBe("Theirs"));
  expect(conflicts.map(({ item }) => item["Name"])).toEqual(["Theirs"]);
  expect(await storedName()).toBe("Theirs");

  const added = crypto.randomUUID();
  await todos.insert({ id: added, etag: "", item: { Name: "Added" } });
  await replication.awaitInSync();
  expect((await todo.get(added)).item.Name).toBe("Added");
  await (await todos.findOne(added).exec(true)).remove();
  await replication.awaitInSync();
  await todo.remove(id);
  replication.reSync();
  await eventually(async () => expect(await todos.find().exec()).toEqual([]));
  expect(await todo.list()).toEqual([]);
  await replication.cancel();
  await database.close();
});
