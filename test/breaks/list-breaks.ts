// Mistakes with many lists in one store. The model of many lists notices them.

import type { Break, NoticingTest } from "./table.ts";

/** The engine on which the mistake shows. */
const model = (engine: "memory" | "sqlite" | "postgres"): NoticingTest => ({
  file: "test/specification/lists-model.test.ts",
  title: `\\[${engine}\\]`,
});

const users: NoticingTest = { file: "test/specification/lists-model.test.ts", title: "of user .*\\[memory\\]" };

export const listBreaks: readonly Break[] = [
  {
    name: "a list is dropped while a write of it waits",
    file: "src/collection/lists-in-memory.ts",
    text: "list.isIdle && !withWrites.has(list.key)",
    replacement: "list.isIdle",
    tests: [model("sqlite")],
  },
  {
    name: "a list is dropped in the turn in which it was loaded",
    file: "src/collection/lists-in-memory.ts",
    text: `    setImmediate(() => {
      this.#tidies`,
    replacement: `    queueMicrotask(() => {
      this.#tidies`,
    tests: [model("memory")],
  },
  {
    name: "a list is forgotten although somebody needs it again",
    file: "src/collection/lists-in-memory.ts",
    text: "if (isUseless(entry.list)) this.#drop(entry);",
    replacement: "this.#drop(entry);",
    tests: [{ file: "test/collection/todo-store.test.ts" }],
    isQuick: true,
  },
  {
    name: "a service that gives up takes all that it can read for what was written",
    file: "src/collection/todo-store.ts",
    text: "if (!isIntact || !isWhole) onDoubtful(list);",
    replacement: "if (!isWhole) onDoubtful(list);",
    tests: [{ file: "test/collection/todo-store.test.ts", title: "every item of every list" }],
    isQuick: true,
  },
  {
    name: "a store takes over the row of a list from a commit that has failed",
    file: "src/engines/sqlite/stored-rows.ts",
    text: "before !== this.#stored || ",
    replacement: "",
    tests: [{ file: "test/engines/sqlite/failed-sync.test.ts", title: "first commit has failed" }],
    isQuick: true,
  },
  {
    name: "a list does not know of tombstones that are dropped while it is read",
    file: "src/collection/replica.ts",
    text: "last = page;",
    replacement: "last ??= page;",
    tests: [{ file: "test/collection/replica.test.ts", title: "newest tombstone that was dropped" }],
    isQuick: true,
  },
  {
    name: "pages of a list are put together although a tombstone between them was dropped",
    file: "src/engines/postgres/postgres-engine.ts",
    text: "const fits = isComplete && (",
    replacement: "const fits = (",
    tests: [{ file: "test/engines/postgres/postgres-engine.test.ts", title: "do not fit together" }],
  },
  {
    name: "the names of lists are kept when the store is replaced",
    file: "src/collection/todo-store.ts",
    text: "this.#names.forget();",
    replacement: "",
    tests: [{ file: "test/collection/todo-store.test.ts", title: "has other names of lists" }],
    isQuick: true,
  },
  {
    name: "a batch is stored on whatever state the store has",
    file: "src/engines/postgres/postgres-tables.ts",
    text: "WHERE epoch = since_epoch AND version = since_version AND batch = since_batch FOR UPDATE",
    replacement: "WHERE epoch = since_epoch FOR UPDATE",
    tests: [model("postgres")],
  },
  {
    name: "a feed follows another list",
    file: "src/http/change-feed.ts",
    text: "new ListFeed(this.#store.list(list), ",
    replacement: 'new ListFeed(this.#store.list("work"), ',
    tests: [model("memory")],
  },
  {
    name: "all lists have the epoch of the store",
    file: "src/collection/list-key.ts",
    text: "if (list === rootList) return storeEpoch;",
    replacement: "return storeEpoch;",
    tests: [model("memory")],
  },
  {
    name: "the owner is left out of the key of a list",
    file: "src/collection/list-key.ts",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is a line of the program.
    text: 'return owner === "" ? name : `${name}\\n${owner}`;',
    replacement: "return name;",
    tests: [users],
    isQuick: true,
  },
  {
    name: "prepared answers are kept by the path only",
    file: "src/http/item-operations.ts",
    text: `    const { contents, epoch, version } = list;
    const sent = this.#sent.get(contents);
    if (sent?.version === version && sent.epoch === epoch) return sent;`,
    replacement: `    const { epoch, version } = list;
    const path = \`list \${list.key.split("\\n")[0]}\`;
    const contents = (this.#options[path] ??= {});
    const sent = this.#sent.get(contents);
    if (sent?.version === version) return sent;`,
    tests: [users],
    isQuick: true,
  },
  {
    name: "the remembered header fields of another user on the same connection",
    file: "src/wire/known-heads.ts",
    text: "return this.#values.get(key);",
    replacement: "return [...this.#values.values()].at(-1);",
    tests: [{ file: "test/http/users.test.ts" }],
    isQuick: true,
  },
  {
    name: "a head is recognised by its checksum alone",
    file: "src/wire/known-heads.ts",
    text: "return known && bytes.equals(known.bytes) ? known : undefined;",
    replacement: "return known;",
    tests: [{ file: "test/wire/known-heads.test.ts" }],
    isQuick: true,
  },
  {
    name: "expiry is not checked on a remembered head",
    file: "src/http/app.ts",
    text: "!(remembered instanceof Admitted) || remembered.hasEnded",
    replacement: "!(remembered instanceof Admitted)",
    tests: [{ file: "test/http/bearer-auth.test.ts", title: "repeats its head" }],
  },
];
