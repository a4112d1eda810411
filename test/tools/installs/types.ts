// A program that uses what the client declares. It is compiled as an ES module and as CommonJS.

import { isTodoError, type LiveList, type LiveListSnapshot, TodoClient, type WatchedItem } from "todoitems-client";
import { indexedDbStorage, OfflineList, type OfflineSnapshot } from "todoitems-client/offline";

interface Item {
  readonly ID: string;
  readonly Price: number;
}

/** The `fetch` of Expo's SDK 52. Its requests have neither a body nor a signal that is null. */
declare function expoFetch(
  url: string,
  init?: { body?: BodyInit; headers?: HeadersInit; method?: string; signal?: AbortSignal },
): Promise<Omit<Response, "bytes">>;

export async function use(): Promise<void> {
  const todo = new TodoClient<Item>("/", { fetch: expoFetch });
  const { item, etag } = await todo.change("", async ({ Price, ...rest }) => ({ ...rest, Price: Price + 1 }));
  const [price, tag]: [number, string | undefined] = [item.Price, etag];
  // @ts-expect-error the function must return the item
  await todo.change("", ({ Price }) => {
    Price.toFixed();
  });
  // @ts-expect-error a price is a number
  await todo.change("", (item) => ({ ...item, Price: "1" }));
  const list: LiveList<Item> = todo.liveList({ pollMs: 1_000 });
  const {
    items,
    status: { connection },
  }: LiveListSnapshot<Item> = list.getSnapshot();
  const entries: readonly WatchedItem<Item>[] = items;
  if (connection.kind === "lost") console.log(price, tag, entries, connection.error.url, connection.retryInMs);
  else if (connection.kind === "live") console.log(connection.epoch);
  // @ts-expect-error a snapshot cannot be modified
  list.getSnapshot().items.push(items[0]);
  const unsubscribe: () => void = list.subscribe(() => {});
  unsubscribe();
  const offline = new OfflineList(todo, { storage: () => localStorage, onConflict: ({ theirs }) => theirs });
  const added: string = await offline.add({ Price: 1 });
  await offline.resolve(added, "mine");
  const { pending, status }: OfflineSnapshot<Item> = offline.getSnapshot();
  console.log(pending[0]?.conflict?.theirs?.Price, status.kept, indexedDbStorage());
  // @ts-expect-error a price is a number
  await offline.change(added, (item) => ({ ...item, Price: "1" }));
  try {
    for await (const { token } of todo.watch({ since: "" })) console.log(token?.length);
  } catch (error) {
    if (isTodoError(error, "PreconditionFailedError")) console.log(error.current, error.status);
  }
}
