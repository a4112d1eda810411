// A collection of TanStack DB on top of an offline list: live queries and optimistic updates from TanStack DB, the feed,
// the outbox and the merging of edits from the list. Insert items with an ID: `todos.insert({ ID: crypto.randomUUID(), … })`.

import { createCollection } from "@tanstack/db";
import { TodoClient, type TodoItem } from "todoitems-client";
import { OfflineList } from "todoitems-client/offline";

const list = new OfflineList(new TodoClient("http://localhost:5000/"));

export const todos = createCollection<TodoItem, string>({
  id: "todoitems",
  getKey: ({ ID }) => ID.toLowerCase(),
  sync: {
    rowUpdateMode: "full",
    sync({ begin, write, commit, markReady }) {
      let shown = new Map<string, TodoItem>();
      /** An item is the same object until its content changes, so comparing objects finds what has changed. */
      function publish() {
        const { items, status } = list.getSnapshot();
        const next = new Map(items.map(({ id, item }) => [id, item]));
        begin();
        for (const [id, item] of next)
          if (shown.get(id) !== item) write({ type: shown.has(id) ? "update" : "insert", value: item });
        for (const id of shown.keys()) if (!next.has(id)) write({ type: "delete", key: id });
        commit();
        shown = next;
        if (status.loaded) markReady();
      }
      return list.subscribe(publish);
    },
  },
  // Each of these resolves when the edit is safe on the device. From then on, the list shows it.
  onInsert: async ({ transaction }) => {
    for (const { modified } of transaction.mutations) await list.add(modified);
  },
  onUpdate: async ({ transaction }) => {
    for (const { key, changes } of transaction.mutations) await list.change(key, (item) => ({ ...item, ...changes }));
  },
  onDelete: async ({ transaction }) => {
    for (const { key } of transaction.mutations) await list.remove(key);
  },
});
