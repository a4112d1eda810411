// What an app does with the client, in a project that has installed it. The modules are arguments, because each project
// loads them in its own way.

/** An address that nobody listens on. */
const nowhere = "http://127.0.0.1:2";

async function until(condition) {
  for (let count = 0; !condition(); count++) {
    if (count === 2_000) throw new Error(`in vain: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Writes, follows the list, goes offline and online again, and cleans up. Returns what an app would have seen. */
module.exports = async function session({ TodoClient }, { OfflineList }, { isTodoError }, origin) {
  const todo = new TodoClient(origin);
  const { id } = await todo.create({ Name: "One", Count: 0 });
  const live = todo.liveList({ pollMs: 20 });
  const unsubscribe = live.subscribe(() => {});
  // Both find the same state, so one of them is refused and tries again.
  const increment = () => todo.change(id, ({ Count, ...rest }) => ({ ...rest, Count: Count + 1 }));
  await Promise.all([increment(), increment()]);
  await until(() => live.getSnapshot().items[0]?.item.Count === 2);
  unsubscribe();

  let address = nowhere;
  const values = new Map();
  const storage = {
    getItem: async (key) => values.get(key) ?? null,
    setItem: async (key, value) => void values.set(key, value),
    removeItem: async (key) => void values.delete(key),
  };
  const fetchThere = (url, init) => fetch(url.replace(origin, address), init);
  const list = new OfflineList(new TodoClient(origin, { fetch: fetchThere }), { storage, pollMs: 20 });
  const leave = list.subscribe(() => {});
  await until(() => ["lost", "failed"].includes(list.getSnapshot().status.connection.kind));
  const { kind, error } = list.getSnapshot().status.connection;
  address = origin;
  list.retry();
  await until(() => list.getSnapshot().status.loaded);
  await list.add({ Name: "Two" });
  await until(() => list.getSnapshot().pending.length === 0);
  const { kept } = list.getSnapshot().status;
  leave();
  await list.close();

  const items = await todo.list();
  for (const { ID } of items) await todo.remove(ID);
  const names = items.map(({ Name }) => Name).join();
  return { names, kept, offline: kind, isNetworkError: isTodoError(error, "NetworkError"), message: error.message };
};
